"""How a published Parquet file is replaced under readers: the new file still holds the old one's data in its place.

DuckDB and polars open a file twice, for the footer and for the data that the footer points to; polars looks for the
footer where the size of the first opening says. A rename in between gives them one file's footer over another's data.
So a replacement is never smaller than what it replaces and keeps the data of the versions before at their offsets; its
own data goes into the room between or behind them, its footer to the very end. Whichever of two versions a reader has
the footer of, it finds that version's rows. What earlier versions leave is used again later, so that a file levels off
at a few times its data.

In front of the footer a note tells the next replacement where data lies; to Parquet it is unused room.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from incremental_crawl.storage.footer_offsets import shifted

_MAGIC = b"PAR1"
_NOTE = b"ICNOTE01"
_LENGTH = struct.Struct("<I")
_VERSIONS_KEPT = 5
_BYTES_KEPT = 1_000_000
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start` to before `end` of a file."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.end - self.start

    def meets(self, other: Span) -> bool:
        """Whether the two share a byte."""
        return self.start < other.end and other.start < self.end and self.size > 0 and other.size > 0


@dataclass(frozen=True, slots=True)
class _Layout:
    """A Parquet file: its footer, and where its data and the data of versions before lie (newest first)."""

    size: int
    footer: bytes
    data: Span
    before: tuple[Span, ...]


def overlay(old: Path, new: Path, hollow: bool = False) -> None:
    """Rewrite the Parquet file `new` so that readers of `old` are served when it takes the place of `old`.

    `hollow` (for a `new` without rows) keeps nothing of `old` but its size, as a hole without disk blocks: for a file
    whose own rows are gone long enough that nobody reads them any more. An `old` that is no Parquet file has no
    readers and leaves `new` as it is. Raises `ValueError` where `new` is no Parquet file.
    """
    fresh = _layout(new)
    try:
        held = _layout(old)
    except ValueError:
        return
    kept = () if hollow else _kept(held)
    composed = new.with_name(new.name + "2")
    with new.open("rb") as source, composed.open("wb") as target:
        if hollow:
            target.write(_MAGIC)
        else:
            with old.open("rb") as base:
                shutil.copyfileobj(base, target, _CHUNK)
        start = _place(held, fresh, kept)
        source.seek(fresh.data.start)
        target.seek(start)
        _copy(source, target, fresh.data.size)
        tail = _tail(fresh, start, kept)
        target.seek(max(held.size, start + fresh.data.size + len(tail)) - len(tail))
        target.write(tail)
    composed.replace(new)


def held_besides(path: Path) -> int:
    """How many bytes of versions before a Parquet file still holds."""
    return sum(span.size for span in _layout(path).before)


def _kept(held: _Layout) -> tuple[Span, ...]:
    """What must stay: the data that `held` points to, and of the versions before it as much as is cheap."""
    kept, size = [held.data], 0
    for span in held.before[: _VERSIONS_KEPT - 1]:
        size += span.size
        if size <= _BYTES_KEPT:
            kept.append(span)
    return tuple(span for span in kept if span.size)


def _place(held: _Layout, fresh: _Layout, kept: Sequence[Span]) -> int:
    """Where the new data fits without touching what is kept or the new footer, else behind everything."""
    for start in sorted({len(_MAGIC), *(span.end for span in kept)}):
        data = Span(start, start + fresh.data.size)
        tail = Span(held.size - len(_tail(fresh, start, kept)), held.size)
        if data.end <= tail.start and not any(span.meets(data) or span.meets(tail) for span in kept):
            return start
    return held.size


def _tail(fresh: _Layout, start: int, kept: Sequence[Span]) -> bytes:
    footer = shifted(fresh.footer, start - fresh.data.start)
    spans = [(start, start + fresh.data.size), *((span.start, span.end) for span in kept)]
    note = json.dumps(spans).encode()
    return b"".join([note, _LENGTH.pack(len(note)), _NOTE, footer, _LENGTH.pack(len(footer)), _MAGIC])


def _layout(path: Path) -> _Layout:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        end = file.read(8)
        if size < 12 or end[4:] != _MAGIC:
            raise ValueError(f"{path} is not a Parquet file")
        begin = size - 8 - int(_LENGTH.unpack(end[:4])[0])
        if begin < len(_MAGIC):
            raise ValueError(f"{path} is not a Parquet file: its footer is longer than the file")
        file.seek(begin)
        footer = file.read(size - 8 - begin)
        spans = _noted(file, begin) or [Span(len(_MAGIC), begin)]
        return _Layout(size, footer, spans[0], tuple(spans[1:]))


def _noted(file: BinaryIO, begin: int) -> list[Span]:
    if begin < 12 + len(_MAGIC):
        return []
    file.seek(begin - 12)
    end = file.read(12)
    if end[4:] != _NOTE:
        return []
    length = _LENGTH.unpack(end[:4])[0]
    file.seek(begin - 12 - length)
    return [Span(start, stop) for start, stop in json.loads(file.read(length))]


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    target.writelines(_pieces(source, size))


def _pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0:
        piece = source.read(min(size, _CHUNK))
        if not piece:
            raise ValueError("a Parquet file ended in the middle of its data")
        size -= len(piece)
        yield piece
