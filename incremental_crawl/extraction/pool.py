"""Extraction in worker processes: a crash in native code takes down a worker, never the crawl."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from incremental_crawl.extraction.extract import Extract, Page
from incremental_crawl.extraction.rules import ExtractionRules
from incremental_crawl.extraction.worker import Batch
from incremental_crawl.extraction.worker_process import WorkerLostError, WorkerProcess
from incremental_crawl.semantics.digest import sha256_bytes

MOST_PAGES = 64
MOST_BYTES = 8_000_000
BATCH_TIMEOUT_S = 20.0
PAGES_PER_WORKER = 2_000
CRASHED = "extraction crashed"


class ExtractionPool:
    """A context manager around worker processes, which start when they are first needed.

    `workers` defaults to one fewer than the cores. A batch that crashes its worker or takes longer than `timeout_s`
    is halved until the page is found, whose extract has the fault "extraction crashed". Workers are replaced after
    2,000 pages, so that leaks of native code stay small. Threads that share a pool take turns.
    """

    def __init__(self, workers: int | None = None, timeout_s: float = BATCH_TIMEOUT_S) -> None:
        self._size = workers or max(1, (os.cpu_count() or 2) - 1)
        self._timeout_s = timeout_s
        self._idle: list[WorkerProcess] = []
        self._busy: dict[WorkerProcess, tuple[int, Batch]] = {}
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends all workers; the pool starts new ones when it is used again."""
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle.clear()
        self._busy.clear()

    def extract_many(
        self, pages: Iterable[Page], rules: ExtractionRules, want_links: bool = False, want_main_text: bool = True
    ) -> Iterator[Extract]:
        """Extracts the pages, in their order. `pages` is read as workers become free, a few batches ahead."""
        batches = (Batch(tuple(pages), rules, want_links, want_main_text) for pages in _batched(pages))
        with self._turn:
            try:
                yield from self._in_order(batches)
            finally:
                self._end_busy()

    def _in_order(self, batches: Iterator[Batch]) -> Iterator[Extract]:
        done: dict[int, list[Extract]] = {}
        numbers = count()
        waiting: deque[int] = deque()
        exhausted = False
        while not exhausted or waiting:
            # At most two batches a worker are held, so that a slow head keeps memory small.
            while not exhausted and len(self._busy) < self._size and len(waiting) < 2 * self._size:
                batch = next(batches, None)
                if batch is None:
                    exhausted = True
                else:
                    waiting.append(number := next(numbers))
                    self._start(number, batch, done)
            if waiting and waiting[0] not in done:
                self._collect(done)
            while waiting and waiting[0] in done:
                yield from done.pop(waiting.popleft())

    def _start(self, number: int, batch: Batch, done: dict[int, list[Extract]]) -> None:
        worker = self._idle.pop() if self._idle else WorkerProcess()
        try:
            worker.send(batch)
        except WorkerLostError:
            worker.end()
            done[number] = self._halved(batch)
        else:
            self._busy[worker] = number, batch

    def _collect(self, done: dict[int, list[Extract]]) -> None:
        """Waits for the next answer, or for a worker that fails or takes too long."""
        for worker in self._ready():
            number, batch = self._busy[worker]
            try:
                extracts = worker.receive()
            except WorkerLostError:
                del self._busy[worker]
                worker.end()
                done[number] = self._halved(batch)
            else:
                if extracts is not None:
                    del self._busy[worker]
                    self._release(worker)
                    done[number] = extracts
        for worker in self._overdue():
            number, batch = self._busy.pop(worker)
            worker.end()
            done[number] = self._halved(batch)

    def _ready(self) -> list[WorkerProcess]:
        first = min((worker.sent_at for worker in self._busy), default=time.monotonic())
        patience = max(0.0, first + self._timeout_s - time.monotonic())
        by_descriptor = {worker.fileno(): worker for worker in self._busy}
        return [by_descriptor[ready] for ready in wait(list(by_descriptor), patience) if isinstance(ready, int)]

    def _overdue(self) -> list[WorkerProcess]:
        latest = time.monotonic() - self._timeout_s
        return [worker for worker in self._busy if worker.sent_at <= latest]

    def _halved(self, batch: Batch) -> list[Extract]:
        """The extracts of a batch that failed: each half alone, down to the page."""
        if len(batch.pages) == 1:
            return [_crashed(batch.pages[0], batch.rules)]
        middle = len(batch.pages) // 2
        halves = (batch.pages[:middle], batch.pages[middle:])
        return [
            extract
            for pages in halves
            for extract in self._alone(Batch(pages, batch.rules, batch.want_links, batch.want_main_text))
        ]

    def _alone(self, batch: Batch) -> list[Extract]:
        worker = WorkerProcess()
        deadline = time.monotonic() + self._timeout_s
        try:
            worker.send(batch)
            while wait([worker.fileno()], max(0.0, deadline - time.monotonic())):
                extracts = worker.receive()
                if extracts is not None:
                    return extracts
        except WorkerLostError:
            pass
        finally:
            worker.end()
        return self._halved(batch)

    def _release(self, worker: WorkerProcess) -> None:
        if worker.pages_done < PAGES_PER_WORKER:
            self._idle.append(worker)
        else:
            worker.end()

    def _end_busy(self) -> None:
        """Workers whose answers nobody will take are of no use any more."""
        for worker in self._busy:
            worker.end()
        self._busy.clear()


def _batched(pages: Iterable[Page]) -> Iterator[list[Page]]:
    batch: list[Page] = []
    size = 0
    for page in pages:
        if batch and (len(batch) == MOST_PAGES or size + len(page.body) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(page)
        size += len(page.body)
    if batch:
        yield batch


def _crashed(page: Page, rules: ExtractionRules) -> Extract:
    kind = rules.for_url(page.url)
    return Extract(page.url, kind.name, rules.version_of(kind), sha256_bytes(page.body), fault=CRASHED)


_SHARED = ExtractionPool()
atexit.register(_SHARED.close)


def shared_pool() -> ExtractionPool:
    """The one pool of this process, ended with it."""
    return _SHARED
