"""One million URLs in 20 gzipped sitemaps against a state that knows 90 % of them, and against ultimate-sitemap-parser.

All sides read the same files from the same server in one run, each alone on one core in a process of its own.
`make bench ARGS="sitemaps 20 50000"`; the arguments are the number of sitemaps and of the URLs in each.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import resource
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.peers.environment import CONSTRAINTS, ROOT, interpreter, versions
from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.stages import sitemap_urls
from tests.crawl.visiting import CrawledSite, local_site

SITEMAPS, ENTRIES = 20, 50_000
KNOWN_SHARE = 0.9
MOVED = 50
"""The lastmod of one page in so many is another one at the second reading."""
_NOW = datetime(2026, 5, 1, tzinfo=UTC)
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


def sitemap(base: str, number: int, entries: int, reading: int) -> bytes:
    """The gzipped sitemap `number` at a reading: nine tenths of its entries at the first, all at the second."""
    first = number * entries
    shown = entries if reading > 1 else int(entries * KNOWN_SHARE)
    rows = (_entry(base, page, reading) for page in range(first, first + shown))
    return gzip.compress(f"{_XML}{''.join(rows)}</urlset>\n".encode(), 6)


def _entry(base: str, page: int, reading: int) -> str:
    day = 1 + (page + (reading if page % MOVED == 0 else 0)) % 28
    return (
        f"<url>\n  <loc>{base}/category/{page % 97}/product-{page}.html?ref={page % 7}&amp;page=2</loc>\n"
        f"  <lastmod>2026-04-{day:02d}T10:00:00+00:00</lastmod>\n"
        "  <changefreq>daily</changefreq>\n  <priority>0.5</priority>\n</url>\n"
    )


def serve(sitemaps: int, entries: int, pipe: Connection) -> None:
    """The server; what comes through the pipe is the number of the reading."""
    bodies: list[bytes] = []

    def respond(request: Request) -> Reply:
        if request.path == "/robots.txt":
            lines = "".join(f"Sitemap: http://127.0.0.1:{server.port}/{number}.xml.gz\n" for number in range(sitemaps))
            return Reply(200, (("Content-Type", "text/plain"),), lines.encode())
        if request.path.endswith(".xml.gz"):
            return Reply(200, (("Content-Type", "application/gzip"),), bodies[int(request.path[1:-7])])
        return Reply(404)

    server = HttpServer(respond)
    with server:
        pipe.send(server.port)
        while reading := pipe.recv():
            base = f"http://127.0.0.1:{server.port}"
            bodies[:] = [sitemap(base, number, entries, reading) for number in range(sitemaps)]
            pipe.send(sum(map(len, bodies)))


def discover(folder: Path, base: str, reading: int, pipe: Connection) -> None:
    """The stage that reads the sitemaps, at its `reading`; the visit is closed without asking for any page."""
    _stay_on_one_core()
    site = CrawledSite(folder, local_site(f"{base}/", scope={"max_pages": 10_000_000}))
    cpu, wall = time.process_time(), time.perf_counter()
    site.visit(_NOW + reading * timedelta(days=1), stages=(sitemap_urls.run,))
    cost = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "peak_mib": _peak_mib()}
    with site.writing() as state:
        state.run("UPDATE visits SET status = 'closed'")
    pipe.send({**cost, **site.reports["sitemap_urls"].numbers})


def download(folder: Path, base: str, sitemaps: int, pipe: Connection) -> None:
    """The same files fetched and thrown away."""
    _stay_on_one_core()
    cpu, wall = time.process_time(), time.perf_counter()
    for number in range(sitemaps):
        with urllib.request.urlopen(f"{base}/{number}.xml.gz") as answer:
            answer.read()
    pipe.send({"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu})


def _stay_on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0})


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str]) -> int:
    """Measure and print one object of JSON."""
    sitemaps, entries = map(int, arguments) if arguments else (SITEMAPS, ENTRIES)
    python = interpreter()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(sitemaps, entries, theirs), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{ours.recv()}"
    with tempfile.TemporaryDirectory() as folder:
        readings, sizes = [], []
        for reading in (1, 2):
            ours.send(reading)
            sizes.append(ours.recv())
            readings.append(_alone(discover, Path(folder), base, reading))
        plain = _alone(download, Path(folder), base, sitemaps)
    peer = _peer(python, base)
    ours.send(0)
    total = sitemaps * entries
    product = readings[1]
    beyond = product["wall_s"] - plain["wall_s"]
    figures = {
        "sitemaps": sitemaps,
        "urls": total,
        "gzipped bytes": sizes[-1],
        "first reading, nothing known": readings[0],
        "product": product,
        "download alone": plain,
        "seconds beyond the download per million URLs": round(beyond * 1e6 / total, 2),
        f"ultimate-sitemap-parser {versions(CONSTRAINTS.read_text())['ultimate-sitemap-parser']}": peer,
        "wall ratio, ultimate-sitemap-parser to product": round(peer["wall_s"] / product["wall_s"], 1),
    }
    print(json.dumps(figures, indent=2))
    return 0


def _alone(work: Callable[..., None], *arguments: object) -> dict[str, float]:
    """What `work` reports, run in a fresh process."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=work, args=(*arguments, theirs))
    process.start()
    figures: dict[str, float] = ours.recv()
    process.join()
    return {name: round(value, 2) for name, value in figures.items()}


def _peer(python: Path, base: str) -> dict[str, float]:
    command = [str(python), "-m", "benchmarks.peers.sitemap_reading", f"{base}/"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, preexec_fn=_stay_on_one_core)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {name: round(value, 2) for name, value in figures.items()}
