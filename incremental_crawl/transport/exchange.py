"""A bounded, polite stream of requests: `Exchange.ask` turns an Ask into an Answer.

In order: robots.txt, the budget, the host's gate, one request, bounded reading, and once more on a fresh connection
where a reused one broke.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

import httpx

from incremental_crawl.config.site import Politeness
from incremental_crawl.semantics.answers import Answer, Ask, Failure, FailureKind, Purpose, Timing, first
from incremental_crawl.semantics.request_headers import RequestHeaders
from incremental_crawl.semantics.retry_after import retry_after
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.strain import HostStrain, Strain
from incremental_crawl.semantics.urls import origin_of
from incremental_crawl.transport.budget import Budget, BudgetSpent
from incremental_crawl.transport.faults import NETWORK_FAULTS, StaleConnection, failure_kind
from incremental_crawl.transport.host_gate import HostGate
from incremental_crawl.transport.memory import NO_MEMORY, Memory
from incremental_crawl.transport.origins import Origin, header_lines, origin_key
from incremental_crawl.transport.reading import Caps, Reception
from incremental_crawl.transport.robots_lookup import HeldRobots, RobotsLookup, Verdict

LONGEST_WAIT = timedelta(seconds=60)
"""A host's pause up to this long is sat out; before a longer one HostResting is raised."""

_SITEMAP_BYTES = 52_428_800  # the sitemaps.org protocol's largest file
_ROBOTS_BYTES = 1 << 20  # RFC 9309 §2.5: at least 500 KiB are read
_OVERLOADED = frozenset({429, 503})
_NEVER_REFUSED = frozenset({Purpose.ROBOTS, Purpose.SITEMAP})
_ROBOTS_CONCURRENCY = 256


class Exchange:
    """Asks for pages within a site's politeness and a visit's budget; an async context manager.

    `request_headers` go with every request, each to the origins that it is meant for, unchanged; User-Agent and
    `Accept-Encoding: gzip` are added where they lack them. `transport` is closed at the end. `clock` gives UTC, aware.
    `on_answer` is called once for each request that was sent, those for robots.txt included, with what came of it; the
    repetition after a broken connection has the purpose RETRY. `chance` gives numbers from 0 to 1 that spread pauses.
    """

    def __init__(
        self,
        politeness: Politeness,
        request_headers: RequestHeaders,
        transport: httpx.AsyncBaseTransport,
        clock: Callable[[], datetime],
        budget: Budget,
        on_answer: Callable[[Ask, Answer], None] | None = None,
        memory: Memory = NO_MEMORY,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._politeness = politeness
        self._headers = request_headers
        for headers in (request_headers.common, *map(request_headers.to, request_headers.origins)):
            header_lines(headers, politeness.full_user_agent)
        self._transport = transport
        self._clock = clock
        self._budget = budget
        self._on_answer = on_answer
        self._robots = RobotsLookup(memory.robots, self._ask_robots)
        self._origins: dict[str, Origin] = {}
        self._gates: dict[str, HostGate] = {}
        self._total_s = politeness.total_timeout.total_seconds()
        seconds = politeness.timeout.total_seconds()
        self._timeout = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
        self._page_caps = Caps(politeness.max_body, politeness.max_decoded)
        self._chance = chance
        for host, held in memory.strains.items():
            gate = self._gate(host, Strain(held.incidents))
            if held.not_before is not None and held.not_before > clock():
                gate.pause(held.not_before, clock())

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._robots.close()
        await self._transport.__aexit__(exc_type, exc_value, traceback)

    async def ask(self, ask: Ask, concurrency: int) -> Answer:
        """What the server answers to `ask`, with at most `concurrency` requests in flight to its host.

        Faults of the network and refusals by robots.txt are Failures. Raises BudgetSpent where the visit may send no
        more (never for robots.txt and sitemaps), HostResting where the host's pause is too long to wait for; nothing
        was sent then.
        """
        origin = self._origin(ask.url)
        if self._politeness.respect_robots and ask.purpose is not Purpose.ROBOTS:
            self._check_budget(ask)
            refusal = await self._robots_refusal(ask, origin)
            if refusal is not None:
                return refusal
        return await self._ask_politely(ask, origin, concurrency)

    async def robots_rules(self, url: str) -> Verdict:
        """The robots.txt rules of a URL's origin, or the Failure that keeps its pages from being asked."""
        return await self._robots.find(self._origin(url).name)

    @property
    def robots_received(self) -> Mapping[str, HeldRobots]:
        """The robots.txt read or revalidated in this exchange by origin; an empty body where an origin has none."""
        return self._robots.received

    def not_before(self, host: str) -> datetime | None:
        """When `host` (`host:port`) may be asked again, None where it may be asked now."""
        gate = self._gates.get(host)
        return None if gate is None else gate.not_before()

    def rest(self, host: str, until: datetime) -> None:
        """Ask `host` (`host:port`) for nothing before `until` (UTC)."""
        self._gate(host).pause(until, self._clock())

    def strains(self) -> dict[str, HostStrain]:
        """What to remember of the hosts that are, or were until now, strained or paused."""
        return {host: memory for host, gate in self._gates.items() if (memory := gate.memory) is not None}

    async def _ask_robots(self, ask: Ask) -> Answer:
        return await self._ask_politely(ask, self._origin(ask.url), _ROBOTS_CONCURRENCY)

    async def _robots_refusal(self, ask: Ask, origin: Origin) -> Failure | None:
        verdict = self._robots.known(origin.name) or await self._robots.find(origin.name)
        if isinstance(verdict, Failure):
            return replace(verdict, timing=Timing(self._clock()))
        if not origin.delay_known:
            self._heed_crawl_delay(origin, verdict)
        if verdict.allowed(ask.url, self._politeness.user_agent):
            return None
        return Failure(FailureKind.ROBOTS, f"{origin.name}/robots.txt does not allow {ask.url}", Timing(self._clock()))

    async def _ask_politely(self, ask: Ask, origin: Origin, concurrency: int) -> Answer:
        self._check_budget(ask)
        gate = origin.gate
        await gate.enter(concurrency, None if ask.purpose in _NEVER_REFUSED else self._budget.deadline)
        try:
            self._check_budget(ask)
            return await self._send_or_repeat(ask, origin)
        finally:
            gate.leave()

    async def _send_or_repeat(self, ask: Ask, origin: Origin) -> Answer:
        answer, stale = await self._send(ask, origin, fresh=False)
        if not stale or not self._budget.left():
            return answer
        origin.gate.count_unplanned()
        answer, _ = await self._send(replace(ask, purpose=Purpose.RETRY), origin, fresh=True)
        return answer

    async def _send(self, ask: Ask, origin: Origin, fresh: bool) -> tuple[Answer, bool]:
        """One request and what came of it; whether it failed only because a reused connection broke."""
        self._budget.spend(requests=1)
        sent_at = time.monotonic()
        reception = Reception(self._clock)
        stale = False
        answer: Answer
        try:
            answer = await self._receive(ask, origin, fresh, reception)
        except NETWORK_FAULTS as error:
            stale = isinstance(error, StaleConnection)
            answer = self._failure(error, reception, origin)
        self._budget.spend(bytes=reception.wire_bytes)
        self._note_strain(origin.gate, reception, sent_at)
        if self._on_answer is not None:
            self._on_answer(ask, answer)
        return answer, stale

    async def _receive(self, ask: Ask, origin: Origin, fresh: bool, reception: Reception) -> Answer:
        async with asyncio.timeout(self._total_s):
            response = await self._transport.handle_async_request(origin.request(ask, fresh, self._timeout))
            try:
                return await reception.read(response, ask.method, self._caps(ask.purpose))
            finally:
                await response.aclose()

    def _failure(self, error: Exception, reception: Reception, origin: Origin) -> Failure:
        detail = str(error)
        if not detail and isinstance(error, TimeoutError):
            detail = f"no complete answer within {self._total_s:g} s (total_timeout)"
        kind = failure_kind(error, reception.status is not None)
        text = f"{origin.host}: {detail or type(error).__name__}"
        return Failure(kind, text, reception.timing(), reception.status, reception.headers)

    def _note_strain(self, gate: HostGate, reception: Reception, sent_at: float) -> None:
        """A host that says it is overloaded is left alone by everybody (RFC 9110 §10.2.3, RFC 6585 §4)."""
        status = reception.status
        if status is None:
            return
        now = self._clock()
        until = retry_after(first(reception.headers, "retry-after"), now) if status >= 400 else None
        until = until if until is not None and until > now else None
        if status in _OVERLOADED:
            gate.refuse(until, now, sent_at, self._chance())
        elif until is not None:
            gate.pause(until, now)
        elif status < 500:
            gate.answered()

    def _check_budget(self, ask: Ask) -> None:
        if ask.purpose not in _NEVER_REFUSED and (limit := self._budget.spent_on()) is not None:
            raise BudgetSpent(f"the visit's {limit} is spent; what was not asked comes first in the next visit")

    def _caps(self, purpose: Purpose) -> Caps:
        if purpose is Purpose.ROBOTS:
            return Caps(_ROBOTS_BYTES, _ROBOTS_BYTES, cut=True)
        if purpose is Purpose.SITEMAP:
            return Caps(max(self._page_caps.wire, _SITEMAP_BYTES), max(self._page_caps.decoded, _SITEMAP_BYTES))
        return self._page_caps

    def _heed_crawl_delay(self, origin: Origin, rules: RobotsRules) -> None:
        origin.delay_known = True
        origin.gate.slow_down(rules.crawl_delay(self._politeness.user_agent) or 0.0)

    def _origin(self, url: str) -> Origin:
        key = origin_key(url)
        if key not in self._origins:
            headers = self._headers.to(origin_of(url))
            lines = header_lines(headers, self._politeness.full_user_agent)
            self._origins[key] = Origin.of(url, lines, self._gate)
        return self._origins[key]

    def _gate(self, host: str, strain: Strain | None = None) -> HostGate:
        if host not in self._gates:
            rate = self._politeness.requests_per_second
            interval = 0.0 if rate is None else 1.0 / rate
            self._gates[host] = HostGate(host, interval, LONGEST_WAIT.total_seconds(), strain)
        return self._gates[host]
