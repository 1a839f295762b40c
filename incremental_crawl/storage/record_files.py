"""Published record versions, as far as the product reads them itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq


@dataclass(frozen=True, slots=True)
class Rules:
    """Which rules made a record."""

    page_type: str
    extractor_version: str


def rules_by_url(path: Path) -> dict[str, Rules]:
    """The rules of every version in a visit's page_records file, by URL; none where there is no file."""
    if not path.exists():
        return {}
    rows = pq.read_table(path, columns=["url", "page_type", "extractor_version"], partitioning=None).to_pylist()
    return {row["url"]: Rules(row["page_type"], row["extractor_version"]) for row in rows}
