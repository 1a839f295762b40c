"""Small sites with a known past and future."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from tests.dagster_model.dagster_project import FRIDAY
from tests.origins.histories import Version

WEDNESDAY, THURSDAY, SATURDAY, MONDAY = (FRIDAY + timedelta(days=days) for days in (-2, -1, 1, 3))
PAGES = 24
BEGINNING = FRIDAY - timedelta(days=30)
_TEXT = "About {page}\n============\n\nThe {word} of {page} is kept in a drawer of its own, with a label.\n"


def pages_with(words: Mapping[datetime, str], count: int = PAGES) -> list[Version]:
    """A history in which every page says another word from each of the given moments on; the first is the beginning."""
    starts = sorted(words)
    ends = [*starts[1:], None]
    return [
        Version(f"page-{number:02d}", start, end, _TEXT.format(page=f"page-{number:02d}", word=words[start]))
        for number in range(count)
        for start, end in zip(starts, ends, strict=True)
    ]
