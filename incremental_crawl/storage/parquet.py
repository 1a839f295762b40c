"""Writing Parquet: whole or not at all, compressed, and marked with the schema version of the product that wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from incremental_crawl.storage.durable import replacing
from incremental_crawl.storage.state import SCHEMA_VERSION, State

VERSION_KEY = "schema_version"
_OPTIONS = (
    f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 100000, KV_METADATA {{{VERSION_KEY}: '{SCHEMA_VERSION}'}})"
)


def copy(state: State, select: str, path: Path) -> None:
    """Replace `path` by the rows of `select`."""
    with replacing(path) as temporary:
        target = str(temporary).replace("'", "''")
        state.run(f"COPY ({select}) TO '{target}' {_OPTIONS}")


@contextmanager
def writing(path: Path, schema: pa.Schema, hollow: bool = False) -> Iterator[pq.ParquetWriter]:
    """Replace `path` by the tables written inside the block; `hollow` as in `storage.overlay`."""
    marked = schema.with_metadata({VERSION_KEY: str(SCHEMA_VERSION)})
    with (
        replacing(path, hollow) as temporary,
        pq.ParquetWriter(temporary, marked, compression="zstd", compression_level=3) as writer,
    ):
        yield writer


def write_empty(path: Path, schema: pa.Schema, hollow: bool = False) -> None:
    """Replace `path` by a file without rows that carries the schema; `hollow` as in `storage.overlay`."""
    with writing(path, schema, hollow) as writer:
        writer.write_table(schema.empty_table())
