"""The default transport: httpx's interface, aiohttp's connections.

`httpx.Request` in, `httpx.Response` out, nothing added and nothing done on the way: request target and header values go
on the wire byte for byte, no redirects, no cookies, no decoding, no repetition. Bodies are raw streams.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import cache

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from aiohttp.streams import EofStream, StreamReader

from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.connections import AnswerProtocol, Connections, Dial, Peer
from incremental_crawl.transport.faults import ForbiddenAddress, NameNotResolved, StaleConnection, TlsFailed
from incremental_crawl.transport.proxy import Proxy

FRESH_CONNECTION = "fresh_connection"
"""Request extension: do not use a pooled connection."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_EMPTY = httpx.ByteStream(b"")
_BROKEN = (aiohttp.ClientError, HttpProcessingError, EofStream, OSError, RuntimeError)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Sends one request at a time as it is told, to addresses that `guard` permits, keeping connections alive.

    Request extensions: `timeout` (httpx's: `connect` and `read`, seconds), `target` (the request target as bytes, put
    on the wire instead of the URL's path and query), `fresh_connection` (True: a new connection, closed afterwards).
    Raises httpx.TransportError subclasses, those of `faults` where they fit. TLS certificates are always verified:
    against `tls`, by default the bundled authorities, or those that SSL_CERT_FILE or SSL_CERT_DIR name (`authorities`).
    With a `proxy`, that is dialled wherever it is; `guard` then decides about each target before the proxy hears of it.
    """

    def __init__(
        self,
        guard: AddressGuard,
        *,
        tls: ssl.SSLContext | None = None,
        resolver: AbstractResolver | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        self._guard = guard
        self._tls = tls or authorities()
        self._proxy = proxy
        self._resolver = resolver
        self._connections: Connections | None = None
        self._peers: dict[tuple[bytes, bytes], Peer] = {}
        self._timeouts: dict[float | None, aiohttp.ClientTimeout] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request`, return the answer as soon as its head is there. A request body is refused."""
        read_by_proxy = self._proxy if request.url.scheme == "http" else None
        head = _request_head(request, read_by_proxy)
        timeout: Mapping[str, float | None] = request.extensions.get("timeout") or {}
        connection = await self._connect(request, timeout.get("connect"))
        protocol = connection.protocol
        if not isinstance(protocol, AnswerProtocol) or protocol.transport is None:
            connection.close()
            raise httpx.ConnectError("the connection was closed before it could be used")
        try:
            protocol.expect(request.method == "HEAD", timeout.get("read"))
            protocol.transport.write(head)
            message, payload = await _final_head(protocol)
        except _BROKEN as error:
            connection.close()
            raise _translated(error, protocol.served > 1) from error
        except BaseException:
            connection.close()
            raise
        if read_by_proxy is not None and message.code == 407:
            connection.close()
            raise httpx.ProxyError(f"the proxy {read_by_proxy} wants other credentials (407)")
        return _response(message, payload, connection, protocol.served > 1)

    async def aclose(self) -> None:
        """Close all connections; the next request opens new ones."""
        connections, self._connections = self._connections, None
        self._peers.clear()
        if connections is not None:
            await connections.close()

    async def _connect(self, request: httpx.Request, limit_s: float | None) -> Connection:
        if self._connections is None:
            self._connections = Connections(self._guard, self._tls, self._resolver)
        peer = self._peer(request.url)
        dial = Dial(peer.host, peer.port, by_proxy=self._proxy is not None)
        fresh = bool(request.extensions.get(FRESH_CONNECTION))
        try:
            return await self._connections.connect(peer, dial, fresh, self._limits(limit_s))
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"no connection to {peer.host} within {limit_s} s") from error
        except aiohttp.ClientHttpProxyError as error:
            raise httpx.ProxyError(
                f"the proxy {self._proxy} refuses a tunnel to {peer.host} ({error.status})"
            ) from None
        except aiohttp.ClientProxyConnectionError as error:
            raise httpx.ProxyError(f"no connection to the proxy {self._proxy} ({_reason(error)})") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _not_connected(error, peer.host, dial) from error

    def _limits(self, connect_s: float | None) -> aiohttp.ClientTimeout:
        if connect_s not in self._timeouts:
            self._timeouts[connect_s] = aiohttp.ClientTimeout(connect=connect_s)
        return self._timeouts[connect_s]

    def _peer(self, url: httpx.URL) -> Peer:
        key = (url.raw_scheme, url.netloc)
        if key not in self._peers:
            if url.scheme not in _DEFAULT_PORTS:
                raise httpx.UnsupportedProtocol(f"{url.scheme!r} is not http or https")
            port = url.port or _DEFAULT_PORTS[url.scheme]
            netloc, host = url.netloc.decode("ascii"), url.raw_host.decode("ascii")
            self._peers[key] = Peer.of(url.scheme, netloc, host, port, self._proxy)
        return self._peers[key]


class _Body(httpx.AsyncByteStream):
    """The rest of an answer, raw; its connection goes back to the pool at the end, and is closed before it."""

    def __init__(self, payload: StreamReader, connection: Connection, reused: bool) -> None:
        self._payload = payload
        self._connection = connection
        self._reused = reused

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while chunk := await self._payload.readany():
                yield chunk
        except _BROKEN as error:
            self._connection.close()
            raise _translated(error, self._reused) from error
        self._connection.release()

    async def aclose(self) -> None:
        self._connection.close()


@cache
def authorities(ca_file: str | None = None) -> ssl.SSLContext:
    """The usual certificate authorities, and those of the PEM file `ca_file`. Raises OSError where that is unusable."""
    context = httpx.create_ssl_context()
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context


def _request_head(request: httpx.Request, proxy: Proxy | None) -> bytes:
    """The request as it goes on the wire (RFC 9112 §3), to be read by the origin or by `proxy` (§3.2.2).

    Raises LocalProtocolError for what would break its framing.
    """
    target: bytes = request.extensions.get("target") or request.url.raw_path
    fields = request.headers.raw
    if proxy is not None:
        target = b"http://" + request.url.netloc + target
        fields = [*fields, *((name.encode(), value.encode()) for name, value in proxy.headers.items())]
    if any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in fields):
        raise httpx.LocalProtocolError("requests with a body are not sent")
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), target)]
    lines += [b"%b: %b" % field for field in fields]
    head = b"\r\n".join(lines)
    if b"\0" in head or b" " in target or head.count(b"\r") + head.count(b"\n") != 2 * (len(lines) - 1):
        raise httpx.LocalProtocolError("a header value or the URL holds a line break, NUL or space")
    return head + b"\r\n\r\n"


async def _final_head(protocol: AnswerProtocol) -> tuple[RawResponseMessage, StreamReader]:
    """The head of the final answer; informational ones are skipped (RFC 9110 §15.2)."""
    while True:
        message, payload = await protocol.read()
        if message.code == 101:
            raise httpx.RemoteProtocolError("the server switched to a protocol that was not asked for")
        if message.code >= 200:
            return message, payload


def _response(
    message: RawResponseMessage, payload: StreamReader, connection: Connection, reused: bool
) -> httpx.Response:
    return httpx.Response(
        message.code,
        headers=message.raw_headers,
        stream=_stream(message, payload, connection, reused),
        extensions={"http_version": b"HTTP/%d.%d" % message.version},
    )


def _stream(
    message: RawResponseMessage, payload: StreamReader, connection: Connection, reused: bool
) -> httpx.AsyncByteStream:
    if message.code == 304 and _announces_body(message.raw_headers):
        # What follows is unknown: a body that must not be there, or nothing (RFC 9112 §6.3).
        connection.close()
        return _EMPTY
    if payload.is_eof() and payload.exception() is None:
        content = payload.read_nowait(-1)
        connection.release()
        return httpx.ByteStream(content) if content else _EMPTY
    return _Body(payload, connection, reused)


def _announces_body(fields: Iterable[tuple[bytes, bytes]]) -> bool:
    for name, value in fields:
        match name.lower():
            case b"transfer-encoding":
                return True
            case b"content-length":
                return value.strip(b"0") != b""
    return False


def _not_connected(error: Exception, host: str, dial: Dial) -> httpx.TransportError:
    if dial.refusal is not None:
        return ForbiddenAddress(dial.refusal)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return NameNotResolved(f"the name {host} could not be resolved ({_reason(error)})")
    if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError, ssl.CertificateError)):
        return TlsFailed(f"no trusted connection to {host} ({_reason(error)})")
    return httpx.ConnectError(f"no connection to {host} ({_reason(error)})")


def _translated(error: Exception, reused: bool) -> httpx.TransportError:
    if isinstance(error, TimeoutError):
        return httpx.ReadTimeout("the server sent nothing for too long")
    if reused:
        return StaleConnection(f"a connection that had served before broke ({_reason(error)})")
    if isinstance(error, HttpProcessingError):
        return httpx.RemoteProtocolError(f"the answer is not HTTP/1.1 ({_reason(error)})")
    return httpx.ReadError(f"the connection was closed before the answer was complete ({_reason(error)})")


def _reason(error: Exception) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    text = getattr(cause, "message", None) or str(cause) or type(cause).__name__
    return " ".join(str(text).split())[:200]
