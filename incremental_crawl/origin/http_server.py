"""A small HTTP/1.1 server in a thread of its own: keep-alive, pipelining, no dependencies.

A connection is a buffer of unread bytes and at most one answer under way. Each complete request is given to `respond`,
a plain function; its reply is framed, sent and logged, then the next request in the buffer has its turn.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from types import TracebackType
from typing import Self, TypeAlias, cast

from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.origin.representation import http_date
from incremental_crawl.origin.request_log import LoggedRequest, RequestLog

Respond: TypeAlias = Callable[[Request], Reply]

LONGEST_HEAD_BYTES = 64 * 1024
_BODILESS = frozenset({204, 304})
_BAD_REQUEST = Reply(400, (("Content-Type", "text/plain"), ("Connection", "close")), b"bad request\n")


def utc_now() -> datetime:
    """The real time, aware."""
    return datetime.now(UTC)


class HttpServer:
    """Serves `respond` on `host`:`port` (0 picks a free port) from `start` to `stop`, or inside a `with` block.

    `clock` gives the aware time of the Date line (RFC 9110 §6.6.1).
    `start` raises OSError with a sentence where the port is taken. `log` stays readable after `stop`.
    """

    def __init__(
        self,
        respond: Respond,
        port: int = 0,
        log: RequestLog | None = None,
        host: str = "127.0.0.1",
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.log = RequestLog() if log is None else log
        self._respond = respond
        self._clock = clock
        self._address = (host, port)
        self._bound_port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: set[asyncio.Transport] = set()
        self._start_error: OSError | None = None

    @property
    def port(self) -> int:
        """The port that is listened on; before `start`, the one that was asked for."""
        return self._bound_port

    @property
    def base_url(self) -> str:
        """`http://host:port`, without a slash at its end."""
        return f"http://{self._address[0]}:{self._bound_port}"

    def start(self) -> Self:
        """Listens; returns once connections are accepted."""
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="origin", daemon=True)
        self._thread.start()
        started.wait()
        if self._start_error is not None:
            self._thread.join()
            raise self._start_error
        return self

    def stop(self) -> None:
        """Closes every connection and waits for the thread; a second call does nothing."""
        if self._loop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self.log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _dated(self, request: Request) -> Reply:
        reply = _reply_or_500(self._respond, request)
        return replace(reply, headers=(("Date", http_date(self._clock())), *reply.headers))

    def _run(self, started: threading.Event) -> None:
        self._loop = asyncio.new_event_loop()
        try:
            server = self._listen(self._loop)
        except OSError as error:
            self._start_error = self._explained(error)
            started.set()
            self._loop.close()
            return
        started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._hang_up(server))
        self._loop.close()

    async def _hang_up(self, server: asyncio.Server) -> None:
        server.close()
        # Connections that were just accepted exist only after the tasks that set them up.
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
        for transport in tuple(self._connections):
            transport.abort()
        while self._connections:
            await asyncio.sleep(0)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> asyncio.Server:
        host, port = self._address

        def connection() -> _Connection:
            return _Connection(self._dated, self.log, self._connections)

        server = loop.run_until_complete(loop.create_server(connection, host, port, backlog=512))
        self._bound_port = int(server.sockets[0].getsockname()[1])
        return server

    def _explained(self, error: OSError) -> OSError:
        host, port = self._address
        return OSError(
            error.errno, f"cannot listen on {host}:{port} ({error.strerror}); stop what uses it or choose another port"
        )


class _Connection(asyncio.Protocol):
    def __init__(self, respond: Respond, log: RequestLog, open_connections: set[asyncio.Transport]) -> None:
        self._respond = respond
        self._log = log
        self._open = open_connections
        self._unread = bytearray()
        self._answering = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._open.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        self._answer_what_is_complete()

    def _answer_what_is_complete(self) -> None:
        while not self._answering and not self._transport.is_closing():
            request = self._next_request()
            if request is None:
                return
            self._begin(request)

    def _next_request(self) -> Request | None:
        """The next complete request in the buffer; a malformed one is answered 400 and ends the connection."""
        end = self._unread.find(b"\r\n\r\n")
        if end < 0:
            if len(self._unread) > LONGEST_HEAD_BYTES:
                self._refuse()
            return None
        try:
            request = parse_head(bytes(self._unread[:end]))
            length = int(request.headers.get("content-length", "0"))
        except ValueError:
            self._refuse()
            return None
        if len(self._unread) < end + 4 + length:
            return None
        del self._unread[: end + 4 + length]
        return request

    def _refuse(self) -> None:
        self._send(Request("GET", "", {"connection": "close"}), _BAD_REQUEST)

    def _begin(self, request: Request) -> None:
        reply = self._respond(request)
        if reply.delay_s <= 0:
            self._send(request, reply)
            return
        self._answering = True
        asyncio.get_running_loop().call_later(reply.delay_s, self._finish_late, request, reply)

    def _finish_late(self, request: Request, reply: Reply) -> None:
        self._answering = False
        if not self._transport.is_closing():
            self._send(request, reply)
        self._answer_what_is_complete()

    def _send(self, request: Request, reply: Reply) -> None:
        if reply.drop:
            self._log.append(_logged(request, 0, 0, 0))
            self._transport.abort()
            return
        head, body = framed(request, reply)
        self._log.append(_logged(request, reply.status, len(body), len(head) + len(body)))
        self._transport.write(head + body)
        if "close" in request.headers.get("connection", "").lower():
            self._transport.close()


def _reply_or_500(respond: Respond, request: Request) -> Reply:
    try:
        return respond(request)
    except Exception as error:
        # A defect of an origin must be seen by whoever crawls it, not end in a connection that never answers.
        return Reply(500, (("Content-Type", "text/plain"),), f"origin failed: {error!r}\n".encode())


def _logged(request: Request, status: int, body_bytes: int, total_bytes: int) -> LoggedRequest:
    return LoggedRequest(
        request.method, request.target, status, body_bytes, request.conditional, total_bytes, request.headers
    )


def parse_head(head: bytes) -> Request:
    """A request line and header lines, without the empty line; ValueError where they are malformed (RFC 9112 §3)."""
    request_line, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = request_line.split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(f"not an HTTP/1 request: {request_line!r}")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"not a header line: {line!r}")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return Request(method, _origin_form(target), headers)


def _origin_form(target: str) -> str:
    # RFC 9112 §3.2.2: a server accepts the absolute form too.
    if not target.startswith("http://"):
        return target
    return "/" + target.removeprefix("http://").partition("/")[2]


def framed(request: Request, reply: Reply) -> tuple[bytes, bytes]:
    """The head and the body as they go on the wire; Content-Length is that of the GET also for HEAD (RFC 9110 §8.6)."""
    lines = [f"HTTP/1.1 {reply.status} {_reason(reply.status)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if reply.status not in _BODILESS:
        lines.append(f"Content-Length: {len(reply.body)}")
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    sends_body = request.method != "HEAD" and reply.status not in _BODILESS
    return head, reply.body if sends_body else b""


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"
