"""How fast one host is asked: requests in flight, the interval between them, pauses, and less of all under strain."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from datetime import datetime

from incremental_crawl.semantics.strain import HostStrain, Strain
from incremental_crawl.transport.budget import BudgetSpent, HostResting


class HostGate:
    """Everybody who asks the host goes through its one gate: `enter`, send, `leave`.

    `interval` is the least time between two requests, `longest_wait` the longest pause sat out in line (seconds both).
    `strain` is what the host's earlier answers have left behind.
    """

    def __init__(self, host: str, interval: float, longest_wait: float, strain: Strain | None = None) -> None:
        self._host = host
        self._interval = interval
        self._longest_wait = longest_wait
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._next_start = 0.0
        self._resume = 0.0
        self._until: datetime | None = None
        self._strain = strain or Strain()
        self._remembered = bool(self._strain.incidents)
        self._refused_at = -1.0

    async def enter(self, concurrency: int, deadline: float | None = None) -> None:
        """Wait for a place among `concurrency` requests in flight, then for the host's turn.

        Raises BudgetSpent at once where the turn would come after `deadline` (`time.monotonic()` seconds), HostResting
        where the host's pause lasts longer than is waited for. Whoever entered must leave.
        """
        again = False
        while self._in_flight >= self._strain.concurrency(concurrency):
            await self._place(again)
            again = True
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
        self._next_start = max(self._next_start, time.monotonic()) + self._spacing

    def pause(self, until: datetime, now: datetime) -> None:
        """Nobody asks the host before `until`; a shorter pause never replaces a longer one."""
        resume = time.monotonic() + (until - now).total_seconds()
        if resume > self._resume:
            self._resume, self._until = resume, until

    def refuse(self, until: datetime | None, now: datetime, sent_at: float, chance: float) -> None:
        """The host says that it is overloaded: leave it alone `until` it names, or by the rules of its strain.

        `sent_at` (`time.monotonic()`) is when the refused request was sent: refusals of requests that were under way
        when the pause began are one incident. `chance` (0 to 1) spreads the pause.
        """
        if sent_at > self._refused_at:
            self._strain = self._strain.refused()
            self._refused_at = time.monotonic()
            self._remembered = True
            until = until or now + self._strain.pause(chance)
        if until is not None:
            self.pause(until, now)

    def answered(self) -> None:
        """The host answers as it should: in time, it is asked as before."""
        before = self._strain.incidents
        self._strain = self._strain.answered()
        if self._strain.incidents < before:
            for _ in range(max(1, self._in_flight)):
                self._wake_next()

    @property
    def memory(self) -> HostStrain | None:
        """What to keep of the host for the next visit; None where it has never been strained or paused."""
        if not (self._remembered or self._until is not None):
            return None
        return HostStrain(self.not_before(), self._strain.incidents, self._spacing)

    def not_before(self) -> datetime | None:
        """When the host may be asked again, None where it may be asked now."""
        return self._until if self._resume > time.monotonic() else None

    @property
    def _spacing(self) -> float:
        return self._strain.interval_s(self._interval)

    async def _place(self, first: bool) -> None:
        """Wait for a place, before all others where somebody came too early for theirs."""
        place = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(place)
        else:
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
        spacing = self._spacing
        if start == now and not spacing:
            return 0.0
        if self._resume - now > self._longest_wait:
            raise HostResting(f"{self._host} is not asked before {self._until}; its pages stay due")
        if deadline is not None and start >= deadline:
            raise BudgetSpent(f"the next request to {self._host} would come after the visit's time is up")
        self._next_start = start + spacing
        return start - now
