"""From a streamed httpx response to an answer: bounded, decoded, complete or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import httpx

from incremental_crawl.semantics.answers import (
    REDIRECT_STATUSES,
    Answer,
    Headers,
    NotModified,
    Redirected,
    Response,
    Timing,
    first,
)
from incremental_crawl.semantics.validators import repeated
from incremental_crawl.transport.coding_faults import TooLarge
from incremental_crawl.transport.content_coding import BodyDecoder

_STATUS_LINE_BYTES = 17
_BODILESS = frozenset({204, 205})


@dataclass(frozen=True, slots=True)
class Caps:
    """The most bytes of a body on the wire and decoded; with `cut` what goes beyond is left out instead of refused."""

    wire: int
    decoded: int
    cut: bool = False


class Reception:
    """One request's answer while it comes in: what is known of it so far, also when it breaks off.

    `clock` gives the moment for `Timing.received_at` (UTC, aware).
    """

    __slots__ = ("_clock", "_started", "headers", "status", "wire_bytes")

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._started = time.perf_counter()
        self.status: int | None = None
        self.headers: Headers = ()
        self.wire_bytes = 0

    def timing(self) -> Timing:
        """When, how long and how many bytes, up to now."""
        return Timing(self._clock(), (time.perf_counter() - self._started) * 1000, self.wire_bytes)

    async def read(self, response: httpx.Response, method: str, caps: Caps) -> Answer:
        """The answer that `response` is. Raises CodingFault, and what the response's stream raises.

        The body of a redirect is not read (its connection is not used again then).
        """
        status = self.status = response.status_code
        headers = self.headers = self._read_fields(response)
        if status == 304:
            return NotModified(headers, self.timing(), repeated(headers))
        if status in REDIRECT_STATUSES:
            return Redirected(status, headers, first(headers, "location"), self.timing())
        if method == "HEAD" or status in _BODILESS:
            return Response(status, headers, b"", self.timing(), warnings=repeated(headers))
        return await self._read_whole(response, caps)

    def _read_fields(self, response: httpx.Response) -> Headers:
        raw = response.headers.raw
        self.wire_bytes += _STATUS_LINE_BYTES + sum([len(name) + len(value) + 4 for name, value in raw])
        return tuple([(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw])

    async def _read_whole(self, response: httpx.Response, caps: Caps) -> Response:
        fields = self.headers
        codings = [value for name, value in fields if name == "content-encoding"]
        decoder = BodyDecoder(codings, first(fields, "content-type"), caps.decoded)
        _refuse_announced(fields, caps)
        try:
            complete = await self._feed(decoder, response, caps)
        except TooLarge:
            if not caps.cut:
                raise
            complete = False
        body = decoder.finish() if complete else decoder.so_far()
        warnings = (*repeated(fields), *decoder.warnings, *(() if complete else (CUT,)))
        unverified = _ends_with_connection(response) and not decoder.saw_end
        return Response(response.status_code, fields, body, self.timing(), unverified, warnings)

    async def _feed(self, decoder: BodyDecoder, response: httpx.Response, caps: Caps) -> bool:
        """Feed the whole body; False where it was cut at the cap."""
        received = 0
        async for chunk in response.aiter_raw():
            received += len(chunk)
            self.wire_bytes += len(chunk)
            if received > caps.wire:
                if caps.cut:
                    decoder.feed(chunk)
                    return False
                raise TooLarge(f"the body is larger than {caps.wire} bytes (max_body)")
            decoder.feed(chunk)
        return True


CUT = "only the beginning was read"


def _refuse_announced(fields: Headers, caps: Caps) -> None:
    """A body that is announced as too large is not even begun."""
    length = first(fields, "content-length") or ""
    if not caps.cut and length.isascii() and length.isdigit() and _number(length) > caps.wire:
        raise TooLarge(f"the body is announced as {length[:20]} bytes, more than {caps.wire} (max_body)")


def _number(digits: str) -> int:
    # int() refuses thousands of digits; nineteen are more than any limit.
    return int(digits.lstrip("0")[:19] or "0")


def _ends_with_connection(response: httpx.Response) -> bool:
    """Whether only the end of the connection ended the body: nobody can tell if it is complete (RFC 9112 §8)."""
    version = response.extensions.get("http_version", b"HTTP/1.1")
    framed = "content-length" in response.headers or "transfer-encoding" in response.headers
    return version.startswith(b"HTTP/1") and not framed
