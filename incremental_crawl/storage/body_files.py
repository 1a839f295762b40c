"""Raw bodies in the body_snapshots dataset: streamed from the spool, found by URL, kept for the body window."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from incremental_crawl.storage import spool
from incremental_crawl.storage.parquet import write_empty, writing
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

_FIELDS: list[pa.Field[Any]] = [
    pa.field("url", pa.string()),
    pa.field("fetched_at", pa.timestamp("us", tz="UTC")),
    pa.field("status", pa.int32()),
    pa.field("headers", pa.string()),
    pa.field("content_type", pa.string()),
    pa.field("charset", pa.string()),
    pa.field("body", pa.large_binary()),
    pa.field("body_sha256", pa.string()),
]
SCHEMA = pa.schema(_FIELDS)
_ROWS_PER_GROUP = 500
_BYTES_PER_GROUP = 8_000_000


def ensure_empty_file(path: Path) -> None:
    """Write the zero-row file that carries the schema, unless it is there."""
    if not path.exists():
        write_empty(path, SCHEMA)


def export(state: State, visit: int, path: Path) -> int:
    """Write the bodies that the visit's decisions keep to `path`; returns how many. None writes no file."""
    rows = state.arrow(query("export_bodies"), {"visit": visit})
    if not rows.num_rows:
        return 0
    with writing(path, SCHEMA) as writer:
        for group in _groups(state, rows):
            writer.write_table(group, row_group_size=_ROWS_PER_GROUP)
    return int(rows.num_rows)


@dataclass(frozen=True, slots=True)
class KeptBody:
    """A raw body, the Content-Type it came with, and all headers: a JSON list of [name, value]."""

    body: bytes
    content_type: str | None
    headers: str | None = None


def read_urls(path: Path, urls: Sequence[str]) -> dict[str, KeptBody]:
    """The bodies of `urls` in a snapshot file, by URL; a missing file or URL is simply missing."""
    if not urls or not path.exists():
        return {}
    wanted = pa.array(list(urls), pa.string())
    found: dict[str, KeptBody] = {}
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            hits = pc.is_in(file.read_row_group(group, columns=["url"]).column("url"), value_set=wanted)
            if pc.any(hits).as_py():
                columns = ["url", "body", "content_type", "headers"]
                rows = file.read_row_group(group, columns=columns).filter(hits).to_pylist()
                found |= {row["url"]: KeptBody(row["body"], row["content_type"], row["headers"]) for row in rows}
    return found


def count(path: Path) -> int:
    """How many bodies a snapshot file holds; none where it has been pruned."""
    return int(pq.read_metadata(path).num_rows) if path.exists() else 0


def stream(path: Path) -> Iterator[pa.Table]:
    """The rows of a snapshot file, one row group at a time; nothing where it has been pruned."""
    if not path.exists():
        return
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group)


def _groups(state: State, rows: pa.Table) -> Iterator[pa.Table]:
    refs = [
        spool.SpoolRef(*ref)
        for ref in zip(
            *(rows.column(name).to_pylist() for name in ("spool_file", "spool_offset", "spool_row")), strict=True
        )
    ]
    start, size, bodies = 0, 0, []
    for at, body in enumerate(spool.read_bodies(state.layout.spool, refs)):
        bodies.append(body)
        size += len(body)
        if size >= _BYTES_PER_GROUP or len(bodies) >= _ROWS_PER_GROUP:
            yield _group(rows.slice(start, len(bodies)), bodies)
            start, size, bodies = at + 1, 0, []
    if bodies:
        yield _group(rows.slice(start, len(bodies)), bodies)


def _group(rows: pa.Table, bodies: list[bytes]) -> pa.Table:
    kinds = map(_content_type, rows.column("headers").to_pylist())
    columns: dict[str, pa.ChunkedArray[Any]] = {
        "content_type": pa.chunked_array([pa.array(kinds, pa.string())]),
        "body": pa.chunked_array([pa.array(bodies, pa.large_binary())]),
    }
    return pa.table(
        [columns[f.name] if f.name in columns else rows.column(f.name).cast(f.type) for f in SCHEMA], schema=SCHEMA
    )


def _content_type(headers: str | None) -> str | None:
    return next((value for name, value in json.loads(headers or "[]") if name == "content-type"), None)
