"""A quiet revisit, whole product, against a plain asyncio sweep over httpx: CPU and wall seconds per page, as ratios.

Both sides ask the same server (a process of its own) for the same pages with If-None-Match in one run, in turn.
`make bench ARGS="quiet_revisit 5000"`; the argument is the number of pages.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import httpx

from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.visiting import CrawledSite, local_site

ROUNDS = 3
IN_FLIGHT = 24
_TAG = ("ETag", '"v1"')
_HTML = ("Content-Type", "text/html; charset=utf-8")
_PAGE = b"<!doctype html><title>Page</title><h1>Page</h1>" + b"<p>All of this stays as it is.</p>" * 300


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that something took."""

    cpu_s: float
    wall_s: float


def serve(pages: int, pipe: Connection) -> None:
    """The server: a sitemap of `pages` pages that never change."""

    def respond(request: Request) -> Reply:
        if request.path == "/robots.txt":
            return Reply(404)
        if request.path == "/sitemap.xml":
            base = f"http://127.0.0.1:{server.port}"
            locs = "".join(f"<url><loc>{base}/p/{number}</loc></url>" for number in range(pages))
            return Reply(200, (("Content-Type", "application/xml"),), f"<urlset>{locs}</urlset>".encode())
        if request.conditional:
            return Reply(304, (_TAG,))
        return Reply(200, (_TAG, _HTML), _PAGE)

    server = HttpServer(respond)
    with server:
        pipe.send(server.port)
        pipe.recv()


def measured(work: Callable[[], object]) -> Cost:
    """The cost of `work` in this process and the processes it waited for."""
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return Cost(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    usage = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(own.ru_utime + own.ru_stime for own in usage)


async def plain_sweep(base: str, pages: int) -> int:
    """What one would write by hand: conditional requests with an httpx client, a semaphore, nothing kept."""
    gate = asyncio.Semaphore(IN_FLIGHT)
    async with httpx.AsyncClient() as client:

        async def probe(number: int) -> bool:
            async with gate:
                answer = await client.get(f"{base}/p/{number}", headers={"If-None-Match": _TAG[1]})
            return answer.status_code == httpx.codes.NOT_MODIFIED

        return sum(await asyncio.gather(*(probe(number) for number in range(pages))))


def main(arguments: list[str]) -> int:
    """Measure and print one line of JSON."""
    pages = int(arguments[0]) if arguments else 5000
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(pages, theirs), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{ours.recv()}"
    with tempfile.TemporaryDirectory() as folder:
        product, plain = _rounds(CrawledSite(Path(folder), _settings(base)), base, pages)
    ours.send(None)
    print(json.dumps(_figures(pages, product, plain), indent=2))
    return 0


def _settings(base: str) -> dict[str, object]:
    politeness = {"requests_per_second": None, "sweep_concurrency": IN_FLIGHT}
    return local_site(f"{base}/p/0", main_text="none", politeness=politeness, revalidation={"audit_share": 0})


def _rounds(site: CrawledSite, base: str, pages: int) -> tuple[list[Cost], list[Cost]]:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    site.visit(now)
    product, plain = [], []
    for number in range(1, ROUNDS + 1):
        moment = now + number * timedelta(days=1)
        product.append(measured(lambda moment=moment: site.visit(moment)))  # type: ignore[misc]
        plain.append(measured(lambda: asyncio.run(plain_sweep(base, pages))))
    return product, plain


def _figures(pages: int, product: list[Cost], plain: list[Cost]) -> dict[str, object]:
    cpu, plain_cpu = median(cost.cpu_s for cost in product), median(cost.cpu_s for cost in plain)
    wall, plain_wall = median(cost.wall_s for cost in product), median(cost.wall_s for cost in plain)
    return {
        "pages": pages,
        "rounds": len(product),
        "product": {"cpu_ms_per_page": round(1000 * cpu / pages, 3), "pages_per_s": round(pages / wall)},
        "plain httpx sweep": {
            "cpu_ms_per_page": round(1000 * plain_cpu / pages, 3),
            "pages_per_s": round(pages / plain_wall),
        },
        "cpu ratio, plain to product": round(plain_cpu / cpu, 2),
        "wall ratio, plain to product": round(plain_wall / wall, 2),
    }
