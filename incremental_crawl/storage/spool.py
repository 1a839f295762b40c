"""The spool: bodies of visits that are not published yet, in Arrow streams that need no footer to be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from incremental_crawl.storage.durable import DurableStep, reached, sync_directory

_FIELDS: list[pa.Field[Any]] = [pa.field("url", pa.string()), pa.field("body", pa.large_binary())]
_SCHEMA = pa.schema(_FIELDS)
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True, slots=True)
class SpoolRef:
    """Where a body lies: file name, byte offset of its batch, row in the batch."""

    file: str
    offset: int
    row: int


class SpoolWriter:
    """Appends batches of bodies to one new file; a batch is on disk before its references are handed out."""

    def __init__(self, folder: Path, visit: int) -> None:
        self._folder = folder
        self._visit = visit
        self._name = ""
        self._sink: pa.OSFile | None = None
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None

    def append(self, bodies: Sequence[tuple[str, bytes]]) -> list[SpoolRef]:
        """Write (url, body) pairs as one batch, fsync, and return their references in order."""
        if not bodies:
            return []
        sink, writer = self._opened()
        urls, contents = zip(*bodies, strict=True)
        offset = sink.tell()
        writer.write_batch(pa.record_batch([pa.array(urls), pa.array(contents, pa.large_binary())], schema=_SCHEMA))
        sink.flush()
        self._sync()
        reached(DurableStep.SPOOL_SYNCED)
        return [SpoolRef(self._name, offset, row) for row in range(len(bodies))]

    def close(self) -> None:
        """Close the file; what was appended stays readable."""
        if self._writer is not None and self._sink is not None:
            self._writer.close()
            self._sink.close()
            self._writer = self._sink = None

    def _opened(self) -> tuple[pa.OSFile, pa.ipc.RecordBatchStreamWriter]:
        if self._sink is None or self._writer is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._name = self._free_name()
            self._sink = pa.OSFile(str(self._folder / self._name), "wb")
            self._writer = pa.ipc.new_stream(self._sink, _SCHEMA, options=_OPTIONS)
            sync_directory(self._folder)
        return self._sink, self._writer

    def _free_name(self) -> str:
        """A file is never appended to by a second process: what a crash left half-written stays behind it."""
        taken = {path.name for path in self._folder.glob(f"visit-{self._visit}-*.arrows")}
        number = len(taken) + 1
        while f"visit-{self._visit}-{number}.arrows" in taken:
            number += 1
        return f"visit-{self._visit}-{number}.arrows"

    def _sync(self) -> None:
        descriptor = os.open(self._folder / self._name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def spool_writer(folder: Path, visit: int) -> Iterator[SpoolWriter]:
    """A writer for the visit's bodies, closed at the end of the block."""
    writer = SpoolWriter(folder, visit)
    try:
        yield writer
    finally:
        writer.close()


def read_bodies(folder: Path, refs: Sequence[SpoolRef]) -> Iterator[bytes]:
    """The bodies in the order of `refs`; neighbours from one batch cost one read."""
    loaded: tuple[str, int] | None = None
    batch: pa.RecordBatch | None = None
    for ref in refs:
        if batch is None or loaded != (ref.file, ref.offset):
            batch = _read_batch(folder / ref.file, ref.offset)
            loaded = (ref.file, ref.offset)
        yield batch.column("body")[ref.row].as_py()


def remove_visit(folder: Path, visit: int) -> None:
    """Delete the visit's files; missing ones are no error."""
    for path in folder.glob(f"visit-{visit}-*.arrows"):
        path.unlink(missing_ok=True)


def _read_batch(path: Path, offset: int) -> pa.RecordBatch:
    with pa.OSFile(str(path), "rb") as source:
        source.seek(offset)
        message = pa.ipc.read_message(source)
        if message.type == "schema":  # the writer puts it out with the file's first batch
            message = pa.ipc.read_message(source)
        return pa.ipc.read_record_batch(message, _SCHEMA)
