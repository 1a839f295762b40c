"""What can go wrong on the way, as httpx exceptions that tell more than httpx's own, and as failures of an exchange."""

from __future__ import annotations

import httpx

from incremental_crawl.semantics.answers import FailureKind
from incremental_crawl.transport.coding_faults import CodingFault


class ForbiddenAddress(httpx.ConnectError):
    """The host leads to an address that must not be dialled."""


class NameNotResolved(httpx.ConnectError):
    """The host name has no address, or the resolver could not be asked."""


class TlsFailed(httpx.ConnectError):
    """No trusted encrypted connection: wrong certificate, wrong name, or no common protocol."""


class StaleConnection(httpx.ReadError):
    """A connection that had served before broke; a fresh one may well work (RFC 9112 §9.3.1)."""


NETWORK_FAULTS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, CodingFault, OSError)
"""Everything that an exchange turns into a Failure; TimeoutError is an OSError."""

# In order: the first class that fits says the kind.
_KINDS: tuple[tuple[type[Exception], FailureKind], ...] = (
    (ForbiddenAddress, FailureKind.FORBIDDEN_ADDRESS),
    (NameNotResolved, FailureKind.DNS),
    (TlsFailed, FailureKind.TLS),
    (httpx.ConnectError, FailureKind.CONNECT),
    (httpx.ProxyError, FailureKind.CONNECT),
    (httpx.TimeoutException, FailureKind.TIMEOUT),
    (TimeoutError, FailureKind.TIMEOUT),
    (httpx.NetworkError, FailureKind.DISCONNECTED),
    (httpx.ProtocolError, FailureKind.PROTOCOL),
    (httpx.HTTPError, FailureKind.PROTOCOL),
    (OSError, FailureKind.DISCONNECTED),
)
_CUT_OFF = (FailureKind.DISCONNECTED, FailureKind.PROTOCOL)


def failure_kind(error: Exception, head_received: bool) -> FailureKind:
    """The kind of failure that `error` is; what breaks off after the head of the answer is incomplete."""
    if isinstance(error, CodingFault):
        return error.kind
    kind = next((kind for fault, kind in _KINDS if isinstance(error, fault)), FailureKind.PROTOCOL)
    return FailureKind.INCOMPLETE if head_received and kind in _CUT_OFF else kind
