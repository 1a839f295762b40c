"""How fast one host is asked: requests in flight, the interval between them, and pauses the host asked for."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from datetime import datetime, timedelta

from incremental_crawl.transport.budget import BudgetSpent, HostResting

_FIRST_BACKOFF = timedelta(seconds=1)
_LONGEST_BACKOFF = timedelta(seconds=60)


class HostGate:
    """Everybody who asks the host goes through its one gate: `enter`, send, `leave`.

    `interval` is the least time between two requests, `longest_wait` the longest pause sat out in line (seconds both).
    """

    def __init__(self, host: str, interval: float, longest_wait: float) -> None:
        self._host = host
        self._interval = interval
        self._longest_wait = longest_wait
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._next_start = 0.0
        self._resume = 0.0
        self._until: datetime | None = None
        self._backoff = _FIRST_BACKOFF

    async def enter(self, concurrency: int, deadline: float | None = None) -> None:
        """Wait for a place among `concurrency` requests in flight, then for the host's turn.

        Raises BudgetSpent at once where the turn would come after `deadline` (`time.monotonic()` seconds), HostResting
        where the host's pause lasts longer than is waited for. Whoever entered must leave.
        """
        while self._in_flight >= concurrency:
            await self._place()
        self._in_flight += 1
        try:
            await self._turn(deadline)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Give the place to the next who waits."""
        self._in_flight -= 1
        self._wake_next()

    def slow_down(self, interval: float) -> None:
        """Keep at least `interval` seconds between requests from now on, as a Crawl-delay asks."""
        self._interval = max(self._interval, interval)

    def count_unplanned(self) -> None:
        """Let a request that is sent out of turn delay the next one."""
        self._next_start = max(self._next_start, time.monotonic()) + self._interval

    def pause(self, until: datetime, now: datetime) -> None:
        """Nobody asks the host before `until`; a shorter pause never replaces a longer one."""
        resume = time.monotonic() + (until - now).total_seconds()
        if resume > self._resume:
            self._resume, self._until = resume, until

    def back_off(self, now: datetime) -> None:
        """Pause without being told for how long: a second, doubled at each new incident up to a minute.

        Refusals of requests that were already under way when the pause began are one incident.
        """
        if self.not_before() is None:
            self.pause(now + self._backoff, now)
            self._backoff = min(2 * self._backoff, _LONGEST_BACKOFF)

    def recovered(self) -> None:
        """The host answers as it should: the next incident begins with the shortest pause."""
        self._backoff = _FIRST_BACKOFF

    def not_before(self) -> datetime | None:
        """When the host may be asked again, None where it may be asked now."""
        return self._until if self._resume > time.monotonic() else None

    async def _place(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._wake_next()
            raise

    def _wake_next(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return

    async def _turn(self, deadline: float | None) -> None:
        while (wait := self._wait(time.monotonic(), deadline)) > 0:
            await asyncio.sleep(wait)
            if self._resume <= time.monotonic():
                return

    def _wait(self, now: float, deadline: float | None) -> float:
        """Seconds until this request's turn, which is reserved with the answer."""
        start = max(now, self._next_start, self._resume)
        if start == now and not self._interval:
            return 0.0
        if self._resume - now > self._longest_wait:
            raise HostResting(f"{self._host} is not asked before {self._until}; its pages stay due")
        if deadline is not None and start >= deadline:
            raise BudgetSpent(f"the next request to {self._host} would come after the visit's time is up")
        self._next_start = start + self._interval
        return start - now
