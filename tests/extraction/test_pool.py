"""Extraction in worker processes: in order, and whatever a page does to its worker, the others are extracted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from incremental_crawl.extraction.extract import Page, extract
from incremental_crawl.extraction.pool import CRASHED, ExtractionPool, shared_pool
from incremental_crawl.extraction.rules import ExtractionRules, FieldRule, PageType
from incremental_crawl.semantics.urls import Pattern

RULES = ExtractionRules()
# A regex that needs longer than the universe has on a page of many a.
ENDLESS = ExtractionRules(
    (PageType("slow", Pattern.parse("/slow"), (), (FieldRule("x", "p", match="(a+)+$"),)),),
)


def pages(count: int) -> list[Page]:
    return [Page(f"https://x.example/{number}", f"<p>page {number}".encode(), "text/html") for number in range(count)]


@pytest.fixture
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(workers=2, timeout_s=1.5) as made:
        yield made


def test_extracts_come_in_the_order_of_the_pages_and_equal_those_of_one_process(pool: ExtractionPool) -> None:
    given = pages(150)
    assert list(pool.extract_many(given, RULES)) == [extract(page, RULES) for page in given]


def test_a_page_that_never_ends_is_found_and_the_others_are_extracted(pool: ExtractionPool) -> None:
    given = pages(4)
    given[3] = Page("https://x.example/slow", b"<p>" + b"a" * 60 + b"b", "text/html")
    found = list(pool.extract_many(given, ENDLESS))
    assert [extract.fault for extract in found] == [None, None, None, CRASHED]
    assert (found[3].page_type, found[3].url, found[3].record) == ("slow", "https://x.example/slow", None)


def test_workers_that_are_killed_are_replaced(pool: ExtractionPool) -> None:
    list(pool.extract_many(pages(2), RULES))
    for worker in pool._idle:
        os.kill(worker.pid, signal.SIGKILL)
    assert all(extract.fault is None for extract in pool.extract_many(pages(70), RULES))


def test_pages_are_read_only_a_few_batches_ahead(pool: ExtractionPool) -> None:
    read = 0

    def counted() -> Iterator[Page]:
        nonlocal read
        for page in pages(64 * 20):
            read += 1
            yield page

    stream = pool.extract_many(counted(), RULES)
    next(stream)
    assert read <= 64 * 6
    assert isinstance(stream, Generator)
    stream.close()
    assert len(list(pool.extract_many(pages(3), RULES))) == 3


def test_a_body_larger_than_the_pipe_travels_both_ways(pool: ExtractionPool) -> None:
    body = "\n".join(f"<p>line {number} of a large page</p>" for number in range(15_000)).encode()
    found = list(pool.extract_many([Page("https://x.example/", body, "text/html")] * 5, RULES, want_main_text=False))
    assert [len(extract.lines) for extract in found] == [15_000] * 5


def test_no_worker_outlives_a_crawl_that_was_killed() -> None:
    script = (
        "import time\nfrom tests.extraction.test_pool import *\n"
        "pool = shared_pool()\nlist(pool.extract_many(pages(1), RULES))\n"
        "print(pool._idle[0].pid, flush=True)\ntime.sleep(60)"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=root) as crawl:
        assert crawl.stdout is not None
        worker = int(crawl.stdout.readline())
        crawl.kill()
    deadline = time.monotonic() + 5
    while _runs(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(worker)


def test_one_pool_is_shared_in_a_process() -> None:
    assert shared_pool() is shared_pool()


def _runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
