"""aiohttp's connections, used below its client: pool, resolver, TLS and parser, but our own request bytes.

aiohttp's client writes header values as UTF-8, repeats requests on its own and loses a 304 that a body follows; its
connections do not. All that depends on aiohttp's inner parts is in this file.
"""

from __future__ import annotations

import asyncio
import errno
import functools
import socket
import ssl
from contextvars import ContextVar
from dataclasses import dataclass

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import AddrInfoType, Connection
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader
from yarl import URL

from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.faults import NameNotResolved
from incremental_crawl.transport.proxy import Proxy

_HEAD_END = b"\r\n\r\n"
_MOST_FIELDS = 128
_LONGEST_FIELD = 32_768
_LONGEST_STATUS_LINE = 8_190


@dataclass(slots=True)
class Dial:
    """One attempt to connect: for which URL host and port, and why an address was refused.

    `by_proxy`: what is dialled is the proxy, which may be anywhere; the target is checked before.
    """

    host: str
    port: int
    refusal: str | None = None
    by_proxy: bool = False


_DIAL: ContextVar[Dial] = ContextVar("dial")


@dataclass(frozen=True, slots=True)
class Peer:
    """One origin, in the form in which aiohttp's pool looks up and makes connections."""

    host: str
    port: int
    key: ClientRequest

    @classmethod
    def of(cls, scheme: str, netloc: str, host: str, port: int, proxy: Proxy | None = None) -> Peer:
        """The peer for an origin, reached through `proxy` where there is one; needs a running event loop."""
        url = URL.build(scheme=scheme, authority=netloc, path="/", encoded=True)
        loop = asyncio.get_running_loop()
        key = ClientRequest("GET", url, loop=loop)
        if proxy is not None:
            # aiohttp adds the Host line to these, and looks connections up by them: they must have it from the start.
            key.update_proxy(proxy.url, None, {"Host": key.headers["Host"], **proxy.headers})
        return cls(host, port, key)


class AnswerProtocol(ResponseHandler):
    """Gives the parser the head of an answer apart from what follows.

    aiohttp's parser refuses an answer together with the bytes behind it that do not belong there, such as the body of
    a 304 (RFC 9112 §6.3). Apart, the answer stands and only the connection is lost.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.served = 0
        self._head_awaited = False
        self._seen = b""
        self._body: StreamReader | None = None

    def expect(self, to_head: bool, read_timeout: float | None) -> None:
        """Get ready for the answer to the request that is about to be written (`to_head`: it is a HEAD request)."""
        self.served += 1
        self._head_awaited, self._seen, self._body = True, b"", None
        self.set_response_params(
            skip_payload=to_head,
            read_until_eof=True,
            auto_decompress=False,
            read_timeout=read_timeout,
            max_line_size=_LONGEST_STATUS_LINE,
            max_field_size=_LONGEST_FIELD,
            max_headers=_MOST_FIELDS,
        )
        self.start_timeout()

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Called by the parser with each head that is complete."""
        self._head_awaited = 100 <= data[0].code < 200
        self._body = data[1]
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop with bytes from the socket, and by aiohttp with none to resume a paused parser."""
        rest = self._after_heads(data)
        if rest or not data:
            super().data_received(rest)
        if (error := self.exception()) is not None:
            self._break_off_body(error)

    def _after_heads(self, data: bytes) -> bytes:
        while self._head_awaited and (end := self._end_of_head(data)) > 0:
            self._seen = b""
            super().data_received(data[:end])
            data = data[end:]
        return data

    def _end_of_head(self, data: bytes) -> int:
        window = self._seen + data
        at = window.find(_HEAD_END)
        if at < 0:
            self._seen = window[-len(_HEAD_END) + 1 :]
            return 0
        return at + len(_HEAD_END) - len(self._seen)

    def _break_off_body(self, error: BaseException) -> None:
        """Tell whoever reads the body: the parser, which met malformed chunks, does not."""
        if self._body is not None and not self._body.is_eof():
            self._body.set_exception(error)


class Connections:
    """A pool of connections whose addresses were checked, and a way around it to a fresh one.

    Has to be made while an event loop runs, and closed in it. `resolver` replaces the system's.
    """

    def __init__(self, guard: AddressGuard, tls: ssl.SSLContext, resolver: AbstractResolver | None = None) -> None:
        self._guard = guard
        self._pooled = self._connector(tls, resolver, force_close=False)
        self._fresh = self._connector(tls, resolver, force_close=True)

    async def connect(self, peer: Peer, dial: Dial, fresh: bool, limits: aiohttp.ClientTimeout) -> Connection:
        """A connection to `peer`: from the pool where one is idle, a new one where there is none or `fresh` is set.

        Raises aiohttp's connector errors and TimeoutError; `dial.refusal` tells where an address was refused.
        """
        _DIAL.set(dial)
        connector = self._fresh if fresh else self._pooled
        if dial.by_proxy:
            await self._check_target(connector, dial)
        while True:
            connection = await connector.connect(peer.key, [], limits)
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            # Something arrived on it while it was idle: not an answer to anything we ask.
            connection.close()

    async def _check_target(self, connector: aiohttp.TCPConnector, dial: Dial) -> None:
        """A proxy dials for us: all addresses of the target must be ones that might be dialled directly."""
        try:
            found = await connector._resolve_host(dial.host.strip("[]"), dial.port)  # noqa: SLF001 - with its DNS cache
        except OSError as error:
            raise NameNotResolved(f"the name {dial.host} could not be resolved ({error.strerror or error})") from error
        for each in found:
            dial.refusal = dial.refusal or self._guard.refusal(each["host"], dial.host, dial.port)
        if dial.refusal is not None:
            raise PermissionError(errno.EACCES, dial.refusal)

    async def close(self) -> None:
        """Close all connections."""
        await self._pooled.close()
        await self._fresh.close()

    def _connector(
        self, tls: ssl.SSLContext, resolver: AbstractResolver | None, force_close: bool
    ) -> aiohttp.TCPConnector:
        connector = aiohttp.TCPConnector(
            ssl=tls, resolver=resolver, force_close=force_close, limit=0, socket_factory=self._socket
        )
        answers = functools.partial(AnswerProtocol, loop=asyncio.get_running_loop())
        connector._factory = answers  # type: ignore[assignment] # noqa: SLF001 - the one seam for a protocol of ours
        return connector

    def _socket(self, address_info: AddrInfoType) -> socket.socket:
        """Called with each address before it is dialled, IP literals included."""
        family, kind, protocol, _, address = address_info
        dial = _DIAL.get()
        refusal = None if dial.by_proxy else self._guard.refusal(str(address[0]), dial.host, dial.port)
        if refusal is not None:
            dial.refusal = refusal
            raise PermissionError(errno.EACCES, refusal)
        return socket.socket(family, kind, protocol)
