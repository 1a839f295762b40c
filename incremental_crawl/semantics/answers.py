"""What is asked of a server and what it can answer, as closed, immutable types.

`NotModified` has no body attribute: an empty answer can never be taken for data.
Header names are lower case, header values are the wire bytes decoded as latin-1, in wire order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]


class Purpose(StrEnum):
    """Why a request is sent; the `purpose` column of the observations dataset."""

    SWEEP = "sweep"
    FETCH = "fetch"
    AUDIT = "audit"
    CONFIRM = "confirm"
    MASK = "mask"
    PROBE = "probe"
    REDIRECT = "redirect"
    RETRY = "retry"
    ROBOTS = "robots"
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request.

    `url` is canonical and goes on the wire unchanged. `etag` and `last_modified` are the stored validators, sent
    verbatim as If-None-Match and If-Modified-Since (RFC 9110 §13.1.2, §13.1.3); None sends no such line. `cookie` is
    the Cookie field value of this one request.
    """

    url: str
    purpose: Purpose
    method: str = "GET"
    etag: str | None = None
    last_modified: str | None = None
    no_cache: bool = False
    cookie: str | None = None

    @property
    def conditional(self) -> bool:
        """Whether the request carries a precondition."""
        return self.etag is not None or self.last_modified is not None


class FailureKind(StrEnum):
    """Why no usable answer came."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    PROTOCOL = "protocol"
    INCOMPLETE = "incomplete"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"
    FORBIDDEN_ADDRESS = "forbidden_address"
    ROBOTS = "robots"
    ROBOTS_UNAVAILABLE = "robots_unavailable"


@dataclass(frozen=True, slots=True)
class Timing:
    """When an answer was complete (UTC, aware), how long it took and how many bytes came over the wire."""

    received_at: datetime
    elapsed_ms: float = 0.0
    wire_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Response:
    """Any final answer that is neither a 304 nor a redirect; `body` has its content-coding removed."""

    status: int
    headers: Headers
    body: bytes
    timing: Timing
    length_unverified: bool = False
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class NotModified:
    """A 304 (RFC 9110 §15.4.5). There is no body to misread."""

    headers: Headers
    timing: Timing
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Redirected:
    """A 301, 302, 303, 307 or 308; `location` is the raw field value, None where the server sent none."""

    status: int
    headers: Headers
    location: str | None
    timing: Timing


@dataclass(frozen=True, slots=True)
class Failure:
    """No usable answer: a network fault, a truncated body, a refusal of ours. `detail` is a sentence for people."""

    kind: FailureKind
    detail: str
    timing: Timing
    status: int | None = None
    headers: Headers = ()


Answer: TypeAlias = Response | NotModified | Redirected | Failure

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
PERMANENT_REDIRECTS = frozenset({301, 308})


def first(headers: Headers, name: str) -> str | None:
    """The first value of a header field, or None. Repeated ETag lines are never joined."""
    return next((value for key, value in headers if key == name), None)
