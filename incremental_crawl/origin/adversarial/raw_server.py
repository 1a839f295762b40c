"""A server on loopback addresses that sends exactly the bytes it is told, right or wrong."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from incremental_crawl.origin.adversarial.asked import End, Fields, Script
from incremental_crawl.origin.adversarial.logged import AdversarialLog, Logged

LONGEST_HEAD_BYTES = 256 * 1024
_RESET = struct.pack("ii", 1, 0)
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request as it came: to which local address, on which connection, and the how-manyth there."""

    address: str
    method: str
    target: str
    fields: Fields
    connection: int
    on_connection: int


Answerer: TypeAlias = Callable[[RawRequest], tuple[Script, Logged | None]]


class RawServer:
    """Serves `answer` on all `addresses` at one port, in a thread of its own, from `start` to `stop`.

    Raises OSError where an address cannot be used. `patience_s` bounds how long one answer may take to send.
    """

    def __init__(
        self, answer: Answerer, addresses: Sequence[str], port: int, log: AdversarialLog, patience_s: float
    ) -> None:
        self._answer = answer
        self._addresses = addresses
        self._log = log
        self._patience_s = patience_s
        self._connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.port = port

    def start(self) -> None:
        """Listen on every address; returns once connections are accepted."""
        sockets = self._listening()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(sockets, started), name="adversarial", daemon=True)
        self._thread.start()
        started.wait()

    def stop(self) -> None:
        """Close every connection and wait for the thread; a second call does nothing."""
        if self._loop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _listening(self) -> list[socket.socket]:
        """A socket per address. A free port of the first may be taken on another: then a further one is tried."""
        for attempt in range(20):
            made: list[socket.socket] = []
            port = self.port
            try:
                for address in self._addresses:
                    made.append(_bound(address, port))
                    port = made[0].getsockname()[1]
            except OSError as error:
                for one in made:
                    one.close()
                if self.port or attempt == 19 or not made:
                    where = f"{self._addresses[len(made)]}:{port}"
                    raise OSError(error.errno, f"cannot listen on {where} ({error.strerror})") from None
                continue
            self.port = port
            return made
        raise AssertionError("the last attempt returns or raises")

    def _run(self, sockets: list[socket.socket], started: threading.Event) -> None:
        self._loop = asyncio.new_event_loop()
        servers = [
            self._loop.run_until_complete(
                asyncio.start_server(self._serve, sock=one, limit=LONGEST_HEAD_BYTES, backlog=256)
            )
            for one in sockets
        ]
        started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._hang_up(servers))
        self._loop.close()

    async def _hang_up(self, servers: Sequence[asyncio.Server]) -> None:
        for server in servers:
            server.close()
        for writer in tuple(self._writers):
            writer.transport.abort()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        connection, served = self._connections, 0
        self._writers.add(writer)
        writer.transport.set_write_buffer_limits(0)
        address = str(writer.get_extra_info("sockname")[0])
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                served += 1
                request = parsed(head, address, connection, served)
                script, entry = self._answer(request)
                if not await self._play(script, entry, reader, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writer.close()
            self._writers.discard(writer)

    async def _play(
        self, script: Script, entry: Logged | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Send the steps in turn; whether the connection is still of use."""
        try:
            async with asyncio.timeout(self._patience_s):
                for step in [script] if isinstance(script, bytes) else script:
                    if not await _step(step, entry, reader, writer):
                        return False
            return True
        except (OSError, TimeoutError):
            if entry is not None:
                entry.given_up = reader.at_eof() or writer.is_closing()
            return False
        finally:
            if entry is not None:
                self._log.ended(entry)


async def _step(
    step: bytes | float | End, entry: Logged | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    if isinstance(step, bytes):
        if entry is not None:
            entry.sent(step)
        writer.write(step)
        await writer.drain()
        # A script that never pauses must not keep the others waiting.
        await asyncio.sleep(0)
        return True
    if isinstance(step, End):
        _end(step, writer)
        return False
    until = time.monotonic() + step
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(left, _POLL_S))
        if reader.at_eof() or writer.is_closing():
            raise ConnectionResetError
    return True


def _end(step: End, writer: asyncio.StreamWriter) -> None:
    if step is End.RESET:
        own = writer.get_extra_info("socket")
        with contextlib.suppress(OSError):
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        writer.transport.abort()
    else:
        writer.close()


def _bound(address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


def parsed(head: bytes, address: str, connection: int, on_connection: int) -> RawRequest:
    """A request line and its fields as latin-1. Raises ValueError where they are none."""
    line, *fields = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = line.split(" ", 2)
    if target.startswith("http://"):
        target = "/" + target.removeprefix("http://").partition("/")[2]
    pairs = (field.partition(":") for field in fields)
    return RawRequest(
        address,
        method,
        target,
        tuple((name.lower(), value.strip(" \t")) for name, _, value in pairs),
        connection,
        on_connection,
    )
