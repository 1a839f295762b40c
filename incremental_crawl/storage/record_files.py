"""Published record versions, as far as the product reads them itself."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq


def urls(path: Path) -> frozenset[str]:
    """The URLs that have a version in a visit's page_records file; none where there is no file."""
    if not path.exists():
        return frozenset()
    column = pq.read_table(path, columns=["url"], partitioning=None).column("url")
    return frozenset(url for url in column.to_pylist() if url is not None)
