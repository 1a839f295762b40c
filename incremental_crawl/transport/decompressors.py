"""One layer of content-coding each: gzip, deflate, brotli and zstd, incremental and in bounded pieces."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

import brotli

from incremental_crawl.transport.coding_faults import Truncated, Undecodable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PIECE = 1 << 18
"""Bytes asked of a decompressor at once, so that a bomb is noticed long before it has gone off."""

# Blocked gzip makes 64 kB members; far smaller ones are made to keep us busy.
_MOST_STREAMS = 4096

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# RFC 9659 §3: a zstd window on the web is at most 8 MB; a larger one is an attempt on our memory.
_ZSTD_OPTIONS: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


class Layer(Protocol):
    """Removes one coding. `feed` and `finish` give decoded pieces; `finish` raises Truncated without an end mark."""

    warnings: list[str]
    saw_end: bool

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode `data`. Raises Undecodable."""
        ...

    def finish(self) -> Iterator[bytes]:
        """What is left once the input has ended. Raises Truncated."""
        ...


class Stream(Protocol):
    """A decompressor that is at work on one stream."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces of at most about PIECE bytes. Raises Undecodable."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the stream's end mark was read."""
        ...

    @property
    def rest(self) -> bytes:
        """Input that came after the end mark."""
        ...


class _Recognised:
    """A coding whose streams begin with a magic number: without it the bytes pass unchanged."""

    coding: ClassVar[str]
    magic: ClassVar[bytes]

    def __init__(self, labelled: bool = True) -> None:
        self.warnings: list[str] = []
        self.saw_end = False
        self._labelled = labelled
        self._head = b""
        self._stream: Stream | None = None
        self._streams = 0
        self._plain = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream is None and not self._plain:
                data = self._recognise(data)
            if self._plain:
                yield from self._unless_behind_end(data)
                return
            if self._stream is None:
                return
            yield from self._stream.decode(data)
            data = self._after_end(self._stream)

    def finish(self) -> Iterator[bytes]:
        if self._stream is not None:
            raise Truncated(f"the {self.coding} stream ends before its end mark; part of the page is missing")
        yield from self._unless_behind_end(self._taken())

    def _start(self) -> Stream:
        raise NotImplementedError

    def _recognise(self, data: bytes) -> bytes:
        """Decide by the first bytes whether a stream begins here; gives back what the decision was made on."""
        self._head += data
        if self._head.startswith(self.magic):
            self._stream = self._another()
            self._note(f"{self.coding} without a label was unpacked", when=not self._labelled)
        elif self.magic.startswith(self._head):
            return b""
        else:
            self._plain = True
            self._note(f"labelled {self.coding} but is not; kept as it came", when=self._labelled and not self.saw_end)
        return self._taken()

    def _another(self) -> Stream:
        self._streams += 1
        if self._streams > _MOST_STREAMS:
            raise Undecodable(f"the body is a chain of more than {_MOST_STREAMS} {self.coding} streams")
        return self._start()

    def _taken(self) -> bytes:
        head, self._head = self._head, b""
        return head

    def _unless_behind_end(self, data: bytes) -> Iterator[bytes]:
        """Bytes that are no stream: the body itself, or padding where an end mark came before."""
        if data and not self.saw_end:
            yield data

    def _after_end(self, stream: Stream) -> bytes:
        if not stream.ended:
            return b""
        self.saw_end, self._stream = True, None
        return stream.rest

    def _note(self, sentence: str, when: bool) -> None:
        if when and sentence not in self.warnings:
            self.warnings.append(sentence)


class Gzip(_Recognised):
    """RFC 1952, any number of members; unlabelled gzip is recognised too."""

    coding = "gzip"
    magic = _GZIP_MAGIC

    def _start(self) -> Stream:
        return _Zlib(zlib.MAX_WBITS | 16)


class Zstd(_Recognised):
    """RFC 8878, any number of frames."""

    coding = "zstd"
    magic = _ZSTD_MAGIC

    def _start(self) -> Stream:
        return _ZstdFrame()


class _Unmarked:
    """A coding without a magic number: text that fails before anything was decoded passes unchanged."""

    coding: ClassVar[str]
    needed: ClassVar[int] = 1

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.saw_end = False
        self._held = b""
        self._decoded_any = False
        self._plain = False
        self._stream: Stream | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._plain:
            yield data
            return
        if not self._decoded_any:
            self._held += data
        try:
            for piece in self._decode(data):
                self._decoded_any, self._held = True, b""
                yield piece
        except Undecodable:
            if self._decoded_any or not _looks_like_text(self._held):
                raise
            yield from self._pass_unchanged()

    def finish(self) -> Iterator[bytes]:
        if self._plain or self.saw_end or not (self._held or self._decoded_any):
            return
        if not self._decoded_any and _looks_like_text(self._held):
            yield from self._pass_unchanged()
            return
        raise Truncated(f"the {self.coding} stream ends before its end mark; part of the page is missing")

    def _start(self, first: bytes) -> Stream:
        raise NotImplementedError

    def _decode(self, data: bytes) -> Iterator[bytes]:
        if self.saw_end or not data:
            return
        if self._stream is None:
            if len(self._held) < self.needed:
                return
            self._stream, data = self._start(self._held), self._held
        yield from self._stream.decode(data)
        self.saw_end = self._stream.ended

    def _pass_unchanged(self) -> Iterator[bytes]:
        self._plain = True
        self.warnings.append(f"labelled {self.coding} but is not; kept as it came")
        yield self._held


class Deflate(_Unmarked):
    """RFC 9110 §8.4.1.2: the zlib format, and the raw stream that many servers send under this name."""

    coding = "deflate"
    needed = 2

    def _start(self, first: bytes) -> Stream:
        zlib_header = first[0] & 0x0F == 8 and int.from_bytes(first[:2]) % 31 == 0  # RFC 1950 §2.2
        return _Zlib(zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)


class Brotli(_Unmarked):
    """RFC 7932."""

    coding = "br"

    def _start(self, first: bytes) -> Stream:
        return _BrotliStream()


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._inflater = zlib.decompressobj(window_bits)

    def decode(self, data: bytes) -> Iterator[bytes]:
        full = False
        while (data or full) and not self._inflater.eof:
            try:
                piece = self._inflater.decompress(data, PIECE)
            except zlib.error as error:
                raise Undecodable(f"the body is not what its content coding says ({error})") from None
            data, full = self._inflater.unconsumed_tail, len(piece) == PIECE
            if piece:
                yield piece

    @property
    def ended(self) -> bool:
        return self._inflater.eof

    @property
    def rest(self) -> bytes:
        return self._inflater.unused_data


class _ZstdFrame:
    def __init__(self) -> None:
        self._decompressor = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)

    def decode(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._decompressor.needs_input or self._decompressor.eof):
            try:
                piece = self._decompressor.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise Undecodable(f"the body is not what its content coding says ({error})") from None
            data = b""
            if piece:
                yield piece

    @property
    def ended(self) -> bool:
        return self._decompressor.eof

    @property
    def rest(self) -> bytes:
        return self._decompressor.unused_data


class _BrotliStream:
    rest = b""

    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()

    def decode(self, data: bytes) -> Iterator[bytes]:
        piece = data
        # It calls itself ready for more input while a full piece of output is still to come: go on until none comes.
        while piece or not self._decompressor.can_accept_more_data():
            try:
                piece = self._decompressor.process(data, output_buffer_limit=PIECE)
            except brotli.error as error:
                raise Undecodable(f"the body is not what its content coding says ({error})") from None
            data = b""
            if piece:
                yield piece

    @property
    def ended(self) -> bool:
        return bool(self._decompressor.is_finished())


def _looks_like_text(data: bytes) -> bool:
    start = data[:512].lstrip()
    return start[:1] in (b"<", b"{", b"[") or data[:3] == b"\xef\xbb\xbf"
