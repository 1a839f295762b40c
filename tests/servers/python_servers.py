"""Servers that are Python packages of this environment, each in a thread of the test, serving one folder."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import threading
from collections.abc import Callable, Coroutine, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import uvicorn
from aiohttp import web
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from incremental_crawl.semantics.answers import Headers

Serving: TypeAlias = Callable[[Path], contextlib.AbstractContextManager[int]]


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@contextlib.contextmanager
def simple_http(folder: Path) -> Iterator[int]:
    """`python -m http.server`; yields its port, as the others do."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def aiohttp_static(folder: Path) -> Iterator[int]:
    """aiohttp's static route."""

    async def serve(started: Callable[[int], None], over: asyncio.Event) -> None:
        app = web.Application()
        app.router.add_static("/", folder)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        started(runner.addresses[0][1])
        await over.wait()
        await runner.cleanup()

    with _in_thread(serve) as port:
        yield port


@contextlib.contextmanager
def starlette_static(folder: Path) -> Iterator[int]:
    """Starlette's StaticFiles behind its gzip, run by uvicorn."""

    async def serve(started: Callable[[int], None], over: asyncio.Event) -> None:
        app = Starlette(routes=[Mount("/", StaticFiles(directory=folder))], middleware=[Middleware(GZipMiddleware)])
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off"))
        running = asyncio.create_task(server._serve())  # `serve` wants the main thread's signals
        while not server.started:  # noqa: ASYNC110 - it tells nobody when it has
            await asyncio.sleep(0.005)
        started(server.servers[0].sockets[0].getsockname()[1])
        await over.wait()
        server.should_exit = True
        await running

    with _in_thread(serve) as port:
        yield port


@contextlib.contextmanager
def _in_thread(serve: Callable[[Callable[[int], None], asyncio.Event], Coroutine[Any, Any, None]]) -> Iterator[int]:
    loop, over, ports, ready = asyncio.new_event_loop(), asyncio.Event(), list[int](), threading.Event()

    def started(port: int) -> None:
        ports.append(port)
        ready.set()

    def run() -> None:
        try:
            loop.run_until_complete(serve(started, over))
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(10)
        yield ports[0]
    finally:
        with contextlib.suppress(RuntimeError):  # the loop has ended on an error of its own
            loop.call_soon_threadsafe(over.set)
        thread.join()


def got(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, Headers]:
    """Status and headers of one request; underscores in names stand for hyphens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers={"Accept-Encoding": "gzip", **named})
        response = connection.getresponse()
        response.read()
        return response.status, tuple((name.lower(), value) for name, value in response.getheaders())
    finally:
        connection.close()
