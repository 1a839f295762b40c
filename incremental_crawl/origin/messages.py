"""What a local origin receives and sends, before any byte of HTTP/1.1 is read or written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import unquote

HeaderLines: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `headers` has lower-case names, and repeated lines joined by a comma (RFC 9110 §5.3)."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The percent-decoded path of the target, without its query."""
        return unquote(self.target.partition("?")[0])

    @property
    def conditional(self) -> bool:
        """Whether the request carries If-None-Match or If-Modified-Since."""
        return "if-none-match" in self.headers or "if-modified-since" in self.headers


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `body` is what a GET would carry: the server leaves it out for HEAD, 204 and 304.

    `delay_s` seconds pass before the first byte; `drop` closes the connection and sends nothing at all.
    """

    status: int
    headers: HeaderLines = ()
    body: bytes = b""
    delay_s: float = 0.0
    drop: bool = False
