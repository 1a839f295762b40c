"""A tiny HTTP proxy on loopback: tunnels and forwards to 127.0.0.1, whatever the host is called, and logs it all."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self
from urllib.parse import urlsplit


class ProxyServer:
    """Wants `credentials` (a Proxy-Authorization value) where they are given; refuses tunnels with `refusal`."""

    def __init__(self, credentials: bytes | None = None, refusal: bytes | None = None) -> None:
        self._credentials = credentials
        self._refusal = refusal
        self.heads: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._writers: set[asyncio.StreamWriter] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[bytes]:
        """The request lines."""
        return [head.partition(b"\r\n")[0] for head in self.heads]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await self._answer(await reader.readuntil(b"\r\n\r\n"), reader, writer)
        writer.close()

    async def _answer(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(head)
        method, target, _ = head.partition(b"\r\n")[0].split(b" ")
        if self._credentials is not None and b"\r\nProxy-Authorization: " + self._credentials not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif method == b"CONNECT" and self._refusal is not None:
            writer.write(b"HTTP/1.1 " + self._refusal + b"\r\nContent-Length: 0\r\n\r\n")
        elif method == b"CONNECT":
            there = await self._dial(int(target.rpartition(b":")[2]))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _join((reader, writer), there)
        else:
            there = await self._dial(urlsplit(target.decode("ascii")).port or 80)
            answers = asyncio.create_task(_pump(there[0], writer))
            with contextlib.suppress(asyncio.IncompleteReadError):
                while True:
                    there[1].write(_in_origin_form(head))
                    head = await reader.readuntil(b"\r\n\r\n")
                    self.heads.append(head)
            there[1].close()
            await answers

    async def _dial(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        there = await asyncio.open_connection("127.0.0.1", port)
        self._writers.add(there[1])
        return there


def _in_origin_form(head: bytes) -> bytes:
    target = head.split(b" ", 2)[1]
    return head.replace(target, target[target.index(b"/", len(b"http://")) :], 1)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _join(
    one: tuple[asyncio.StreamReader, asyncio.StreamWriter], other: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    await asyncio.gather(_pump(one[0], other[1]), _pump(other[0], one[1]))
