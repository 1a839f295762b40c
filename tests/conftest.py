"""The order of the suite: what takes long begins first, so that no core waits for the other at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

LONGEST = (
    "tests/conformance/test_product.py",
    "tests/crawl/test_document_history.py",
    "tests/crawl/test_blocked_pages.py",
    "tests/crawl/test_trust.py",
    "tests/crawl/test_kills.py",
    "tests/storage/test_reparse.py",
    "tests/dagster_model/test_runs.py",
    "tests/crawl/test_gates.py",
    "tests/storage/test_reading_while_crawling.py",
    "tests/storage/test_hint_order.py",
    "tests/cli/test_crawl.py",
)
"""Files of half a minute and more, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the longest files to the front; the order within a file, and that of the others, stays."""
    root = Path(__file__).parents[1]
    place = {root / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(LONGEST)))
