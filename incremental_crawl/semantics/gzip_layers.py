"""Gzip removed by its magic number, whatever a name or a header says, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

MOST_LAYERS = 2
DECODED_LIMIT_BYTES = 50 * 1024 * 1024

_MAGIC = b"\x1f\x8b"
_PIECE_BYTES = 256 * 1024
_GZIP_WRAPPER = 31


class UnreadableGzip(ValueError):
    """The compressed data ends early, is damaged, too large or wrapped too often; what was yielded before is good."""


def without_gzip(body: bytes) -> Iterator[bytes]:
    """The content of `body` in pieces, up to two layers of gzip removed, each of one or more members (RFC 1952 §2.2).

    At most 50 MiB come out. Raises UnreadableGzip after the last good piece.
    """
    pieces: Iterator[bytes] = (body[at : at + _PIECE_BYTES] for at in range(0, len(body), _PIECE_BYTES))
    for _ in range(MOST_LAYERS):
        head, pieces = peeked(pieces, len(_MAGIC))
        if not head.startswith(_MAGIC):
            break
        pieces = _limited(_members(pieces))
    head, pieces = peeked(pieces, len(_MAGIC))
    if head.startswith(_MAGIC):
        raise UnreadableGzip(f"compressed more than {MOST_LAYERS} times")
    yield from _limited(pieces)


def peeked(pieces: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The start of a stream, at least `size` bytes where there are so many, and the same stream from its start."""
    head = b""
    while len(head) < size:
        piece = next(pieces, None)
        if piece is None:
            break
        head += piece
    return head, chain([head], pieces)


def _limited(pieces: Iterable[bytes]) -> Iterator[bytes]:
    left = DECODED_LIMIT_BYTES
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left < 0:
            raise UnreadableGzip(f"larger than {DECODED_LIMIT_BYTES} bytes; the rest is not read")


def _members(pieces: Iterable[bytes]) -> Iterator[bytes]:
    member = zlib.decompressobj(_GZIP_WRAPPER)
    pending = b""
    for piece in pieces:
        pending += piece
        while pending:
            if member.eof:
                pending = pending.lstrip(b"\0")
                if len(pending) < len(_MAGIC):
                    break
                member = _next_member(pending)
            yield _decompressed(member, pending)
            pending = member.unconsumed_tail or member.unused_data
    yield from _rest(member)


def _next_member(pending: bytes) -> zlib._Decompress:
    if not pending.startswith(_MAGIC):
        raise UnreadableGzip("other bytes follow the compressed data; they are not read")
    return zlib.decompressobj(_GZIP_WRAPPER)


def _decompressed(member: zlib._Decompress, compressed: bytes) -> bytes:
    try:
        return member.decompress(compressed, _PIECE_BYTES)
    except zlib.error as error:
        raise UnreadableGzip(f"the compressed data is damaged ({error})") from None


def _rest(member: zlib._Decompress) -> Iterator[bytes]:
    """What the decompressor still holds when all input is consumed."""
    while not member.eof:
        piece = _decompressed(member, b"")
        if not piece:
            raise UnreadableGzip("the compressed data ends early")
        yield piece
