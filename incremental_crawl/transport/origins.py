"""What does not change from one request of an origin to the next: its gate, its request headers, its URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from incremental_crawl.semantics.answers import Ask
from incremental_crawl.semantics.cookies import joined
from incremental_crawl.semantics.urls import host_of, origin_of
from incremental_crawl.transport.client import FRESH_CONNECTION
from incremental_crawl.transport.host_gate import HostGate

HeaderLines = list[tuple[bytes, bytes]]

_NO_BODY = httpx.ByteStream(b"")
_NO_CACHE = (b"Cache-Control", b"no-cache")  # RFC 9111 §5.2.1.4


@dataclass(slots=True)
class Origin:
    """One scheme, host and port: `name` is `https://host:port`, `host` the unit of politeness (`host:port`).

    `delay_known` is set once the Crawl-delay of its robots.txt was passed to the gate.
    """

    name: str
    host: str
    gate: HostGate
    _url: httpx.URL
    _lines: HeaderLines
    delay_known: bool = False

    @classmethod
    def of(cls, url: str, lines: HeaderLines, gates: Callable[[str], HostGate]) -> Origin:
        """The origin of a canonical URL, its gate from `gates` by host; `lines` go with every request beside Host."""
        name = origin_of(url)
        host = host_of(url)
        return cls(name, host, gates(host), httpx.URL(name), [(b"Host", host.encode("ascii")), *lines])

    def request(self, ask: Ask, fresh: bool, timeout: Mapping[str, float]) -> httpx.Request:
        """The request for `ask`; its URL goes on the wire as it is written, by way of the `target` extension."""
        extensions = {"target": target_of(ask.url), "timeout": timeout, FRESH_CONNECTION: fresh}
        lines = self._lines if ask.cookie is None else _with_cookie(self._lines, ask.cookie)
        lines = lines if not (ask.conditional or ask.no_cache) else [*lines, *_conditions(ask)]
        return httpx.Request(ask.method, self._url, headers=lines, stream=_NO_BODY, extensions=extensions)


def header_lines(request_headers: Mapping[str, str], user_agent: str) -> HeaderLines:
    """The lines of every request: those given, with User-Agent and `Accept-Encoding: gzip` where they lack them.

    Raises ValueError for a value that cannot be sent.
    """
    given = {name.lower() for name in request_headers}
    defaults = {"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": "gzip"}
    missing = {name: value for name, value in defaults.items() if name.lower() not in given}
    return [_line(name, value) for name, value in {**missing, **request_headers}.items()]


def origin_key(url: str) -> str:
    """Everything before the path of a canonical URL."""
    return url[: url.index("/", 8)]


def target_of(url: str) -> bytes:
    """Path and query of a canonical URL, unchanged."""
    return url[url.index("/", 8) :].encode("ascii")


def _conditions(ask: Ask) -> HeaderLines:
    """Preconditions with the stored bytes (RFC 9110 §13.1.2, §13.1.3), and what keeps caches from answering."""
    lines: HeaderLines = []
    if ask.etag is not None:
        lines.append((b"If-None-Match", ask.etag.encode("latin-1")))
    if ask.last_modified is not None:
        lines.append((b"If-Modified-Since", ask.last_modified.encode("latin-1")))
    if ask.no_cache:
        lines.append(_NO_CACHE)
    return lines


def _with_cookie(lines: HeaderLines, own: str) -> HeaderLines:
    """The fetch's own cookies in one line with those that are always sent (RFC 6265 §5.4)."""
    standing = next((value.decode("latin-1") for name, value in lines if name.lower() == b"cookie"), None)
    rest = [line for line in lines if line[0].lower() != b"cookie"]
    return [*rest, (b"Cookie", (joined(standing, own) or own).encode("latin-1"))]


def _line(name: str, value: str) -> tuple[bytes, bytes]:
    try:
        line = name.encode("ascii"), value.encode("latin-1")
    except UnicodeEncodeError:
        line = b"", b"\n"
    if any(byte in line[0] + line[1] for byte in b"\r\n\0"):
        raise ValueError(f"the request header {name!r} cannot be sent; use one line of latin-1 characters")
    return line
