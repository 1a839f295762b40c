"""A bounded number of requests at a time, each with its result as it comes; hosts do not wait for each other."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Generic, TypeVar

from incremental_crawl.transport.budget import BudgetSpent, HostResting

T = TypeVar("T")
R = TypeVar("R")

_MOST_WAITING = 5_000
"""So many items of hosts that are busy are taken from the line to reach those of other hosts behind them."""


async def in_flight(
    items: Iterator[T], work: Callable[[T], Awaitable[R]], limit: int, lane: Callable[[T], str] | None = None
) -> AsyncGenerator[tuple[T, R | BudgetSpent], None]:
    """Do `work` on the items, `limit` at a time, and yield each with its result as it comes.

    With a `lane` (the item's host), `limit` holds for each lane, and one whose work takes long holds up no other.
    Once the budget is spent no further item is taken; the items that could not be asked come back with the exception.
    """
    line = _Line(items, limit, lane or (lambda _: ""), 0 if lane is None else _MOST_WAITING)
    results: asyncio.Queue[tuple[T, R | BudgetSpent] | Exception] = asyncio.Queue(maxsize=2 * limit)
    tasks: set[asyncio.Task[None]] = set()

    async def do(item: T) -> None:
        try:
            await results.put((item, await _outcome(work, item, line)))
            line.done(item)
            start()
        except Exception as error:  # noqa: BLE001 - raised again where the results are awaited
            await results.put(error)

    def start() -> None:
        while (found := line.take()) is not None:
            task = asyncio.create_task(do(found[0]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    try:
        start()
        # An item is done in the same step in which its result is handed in: while one is not, a result will come.
        while line.busy or not results.empty():
            result = await results.get()
            if isinstance(result, Exception):
                raise result
            yield result
    finally:
        line.close()
        for task in (unfinished := list(tasks)):
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)


async def _outcome(work: Callable[[T], Awaitable[R]], item: T, line: _Line[T]) -> R | BudgetSpent:
    try:
        return await work(item)
    except HostResting as resting:
        return resting
    except BudgetSpent as spent:
        line.close()
        return spent


class _Line(Generic[T]):
    """Items in order, those of busy lanes set aside while others are let through."""

    def __init__(self, items: Iterator[T], limit: int, lane: Callable[[T], str], most_waiting: int) -> None:
        self._items = items
        self._limit = limit
        self._lane = lane
        self._most_waiting = most_waiting
        self._waiting: dict[str, deque[T]] = {}
        self._count = 0
        self._busy: Counter[str] = Counter()
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether an item that was taken is not done."""
        return self._busy.total() > 0

    def take(self) -> tuple[T] | None:
        """The next item that may be worked on now; None where there is none."""
        if self._closed:
            return None
        for name, waiting in self._waiting.items():
            if waiting and self._busy[name] < self._limit:
                self._count -= 1
                return self._taken(name, waiting.popleft())
        return self._from_line()

    def done(self, item: T) -> None:
        """The item's place is free."""
        self._busy[self._lane(item)] -= 1

    def close(self) -> None:
        """Give out no more items."""
        self._closed = True

    def _from_line(self) -> tuple[T] | None:
        while self._count < self._most_waiting or self._busy.total() < self._limit:
            try:
                item = next(self._items)
            except StopIteration:
                self._most_waiting = 0
                return None
            name = self._lane(item)
            if self._busy[name] < self._limit:
                return self._taken(name, item)
            self._waiting.setdefault(name, deque()).append(item)
            self._count += 1
        return None

    def _taken(self, name: str, item: T) -> tuple[T]:
        self._busy[name] += 1
        return (item,)
