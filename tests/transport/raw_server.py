"""A server on loopback that sends exactly the bytes a test gives it, right or wrong, and logs what it received."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self, TypeAlias


class End(Enum):
    """How a connection ends: orderly (FIN) or by a reset (RST)."""

    CLOSE = "close"
    RESET = "reset"


Step: TypeAlias = bytes | float | End
Script: TypeAlias = bytes | Sequence[Step]


@dataclass(frozen=True)
class RawRequest:
    """A request as it came over the wire; `connection` counts from 1, `at` is `time.monotonic()`."""

    line: bytes
    fields: tuple[tuple[bytes, bytes], ...]
    connection: int
    at: float

    @property
    def target(self) -> bytes:
        return self.line.split(b" ")[1]

    def values(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.fields if key.lower() == name.lower()]


class RawServer:
    """Answers each request with `answer(request)`: bytes to send, or steps (bytes, seconds to pause, an End)."""

    def __init__(self, answer: Callable[[RawRequest], Script] | Script, tls: ssl.SSLContext | None = None) -> None:
        self._answer = answer if callable(answer) else lambda request: answer
        self._tls = tls
        self._connections = 0
        self._in_flight = 0
        self.requests: list[RawRequest] = []
        self.most_in_flight = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._clients: set[asyncio.StreamWriter] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for client in self._clients:
            client.transport.abort()
        await self._server.wait_closed()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}{path}"

    @property
    def targets(self) -> list[bytes]:
        return [request.target for request in self.requests]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        connection = self._connections
        self._clients.add(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                request = _parsed(await reader.readuntil(b"\r\n\r\n"), connection)
                self.requests.append(request)
                await self._play(self._answer(request), writer)
        writer.close()
        self._clients.discard(writer)

    async def _play(self, script: Script, writer: asyncio.StreamWriter) -> None:
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            for step in [script] if isinstance(script, bytes) else script:
                await _step(step, writer)
        finally:
            self._in_flight -= 1


def ok(body: bytes, *fields: bytes) -> bytes:
    """A complete 200 with the right length."""
    return answer(b"200 OK", body, b"Content-Type: text/html", *fields)


def answer(status: bytes, body: bytes = b"", *fields: bytes) -> bytes:
    """A complete answer with the right length."""
    return head(status, *fields, b"Content-Length: %d" % len(body)) + body


def head(status: bytes, *fields: bytes) -> bytes:
    """Status line and fields, and the empty line."""
    return b"\r\n".join([b"HTTP/1.1 " + status, *fields, b"", b""])


def chunked(*chunks: bytes) -> bytes:
    """A body in chunks, with the last one."""
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


async def _step(step: Step, writer: asyncio.StreamWriter) -> None:
    match step:
        case bytes():
            writer.write(step)
            await writer.drain()
        case float():
            await asyncio.sleep(step)
        case End.CLOSE:
            writer.close()
        case End.RESET:
            raw: socket.socket = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


def _parsed(head: bytes, connection: int) -> RawRequest:
    line, *fields = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    pairs = (field.partition(b":") for field in fields)
    return RawRequest(line, tuple((name, value[1:]) for name, _, value in pairs), connection, time.monotonic())
