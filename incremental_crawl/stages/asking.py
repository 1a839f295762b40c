"""Whoever asks for pages in a stage: conversations within the visit's budget, every request written down."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from itertools import count

from incremental_crawl.semantics.answers import (
    Answer,
    Ask,
    Failure,
    NotModified,
    Purpose,
    Redirected,
    Response,
    first,
)
from incremental_crawl.semantics.digest import sha256_bytes
from incremental_crawl.semantics.head_requests import head_confirms
from incremental_crawl.semantics.outcome import Outcome, classify
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.trust import TrustMode
from incremental_crawl.semantics.urls import host_of
from incremental_crawl.stages.block_watch import BlockWatch
from incremental_crawl.stages.conversation import Conversation, Hops, Talk
from incremental_crawl.stages.fingerprints import Fingerprints, fingerprints
from incremental_crawl.stages.host_memory import remember, remembered, transport_of
from incremental_crawl.stages.host_software import SoftwareWatch
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import plan, reports, visits
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import Budget, BudgetSpent, HostResting
from incremental_crawl.transport.exchange import Exchange


class Asker:
    """Asks pages of one site in one visit and writes down every request."""

    def __init__(
        self,
        run: SiteRun,
        visit: Visit,
        exchange: Exchange,
        budget: Budget,
        sequence: Iterator[int],
        fingerprints: Fingerprints,
        watch: BlockWatch,
    ) -> None:
        self.hops = Hops(run.site.scope_rules, run.site.scope.strip_params, run.site.origins)
        self._fingerprints = fingerprints
        self._visit = visit
        self.watch = watch
        self.exchange = exchange
        self.budget = budget
        self.sequence = sequence
        self._unplaced: list[Observation] = []
        self._pending: set[int] = set()
        self._broken: dict[str, tuple[Ask, Failure]] = {}

    async def page(
        self,
        page: PageState,
        purpose: Purpose,
        concurrency: int,
        mode: TrustMode | None = None,
        no_cache: bool = False,
    ) -> Conversation:
        """Ask for `page` until something final comes, conditionally where there is a `mode`.

        Raises `BudgetSpent` where nothing more may be sent.
        """
        async with self.watch.turn(page.url):
            talk = Talk(self.hops, page, self._fingerprints, mode)
            await self._carry_on(talk, talk.begin(purpose, no_cache), concurrency)
            self.watch.look(page, talk)
        return talk.result(self._observations(talk))

    async def _carry_on(self, talk: Talk, first_ask: Ask, concurrency: int) -> None:
        """Ask, and ask what follows, until something final comes."""
        following: Ask | None = first_ask
        while following is not None:
            ask = following
            try:
                following = talk.heard(ask, await self.ask(ask, concurrency))
            except BudgetSpent:
                if not talk.cut_short():
                    self._unplaced.extend(self._observations(talk))
                    raise
                following = None

    def _observations(self, talk: Talk) -> list[Observation]:
        return [self.observe(each.ask, each.answer, each.outcome, each.problem) for each in talk.exchanged()]

    async def head(self, page: PageState, purpose: Purpose, concurrency: int) -> Conversation:
        """Ask for `page` by HEAD: `NOT_MODIFIED` where its validators still stand, else `MODIFIED`: no verdict.

        Nothing is ever concluded gone, failed or changed from a HEAD: whatever else it answers, GET has to be asked.
        """
        ask = Ask(page.url, purpose, method="HEAD")
        answer = await self.ask(ask, concurrency)
        same = isinstance(answer, Response) and head_confirms(page.validators, answer.status, answer.headers)
        outcome = Outcome.NOT_MODIFIED if same else Outcome.MODIFIED
        observation = replace(self.observe(ask, answer, outcome), body_sha256=None)
        return Conversation(page.url, outcome, answer, (observation,))

    async def ask(self, ask: Ask, concurrency: int) -> Answer:
        """One request of ours; what the exchange sends besides it is written down aside."""
        self._pending.add(id(ask))
        try:
            return await self.exchange.ask(ask, concurrency)
        finally:
            self._pending.discard(id(ask))

    def not_before(self, url: str) -> datetime | None:
        """When the URL's host wants to be asked again, None where it may be asked now."""
        return self.exchange.not_before(host_of(url))

    async def robots_rules(self, url: str) -> RobotsRules | str:
        """What robots.txt of the URL's origin says; where it cannot be read now, a sentence that says why."""
        try:
            rules = await self.exchange.robots_rules(url)
        except HostResting as resting:
            return str(resting)
        return rules.detail if isinstance(rules, Failure) else rules

    def take_unplaced(self) -> list[Observation]:
        """Observations of requests that belong to no page's conversation, once."""
        taken, self._unplaced = self._unplaced, []
        return taken

    def heard_aside(self, ask: Ask, answer: Answer) -> None:
        """Write down what the exchange sent on its own account: robots.txt, or a request that broke off."""
        if id(ask) in self._pending:
            if isinstance(answer, Failure):
                self._broken[ask.url] = (ask, answer)
        elif ask.purpose is Purpose.RETRY and ask.url in self._broken:
            first_ask, failure = self._broken.pop(ask.url)
            self._unplaced.append(self.observe(first_ask, failure, Outcome.RETRY_LATER))
        elif ask.purpose is Purpose.ROBOTS:
            outcome = classify(ask, answer, held=ask.conditional)
            settled = outcome if isinstance(outcome, Outcome) else Outcome.ERROR
            if isinstance(answer, Redirected):
                settled = Outcome.MOVED
            elif isinstance(answer, Response) and 400 <= answer.status < 500:
                settled = Outcome.EMPTY
            self._unplaced.append(self.observe(ask, answer, settled))

    def observe(self, ask: Ask, answer: Answer, outcome: Outcome, problem: str | None = None) -> Observation:
        """The observation of one request."""
        headers = answer.headers
        body = answer.body if isinstance(answer, Response) else None
        return Observation(
            observation=next(self.sequence),
            url=ask.url,
            visit=self._visit.visit,
            observed_at=answer.timing.received_at,
            purpose=ask.purpose,
            method=ask.method,
            conditional=ask.conditional,
            etag_sent=ask.etag,
            last_modified_sent=ask.last_modified,
            status=304 if isinstance(answer, NotModified) else answer.status,
            etag=first(headers, "etag"),
            last_modified=first(headers, "last-modified"),
            outcome=outcome,
            bytes=answer.timing.wire_bytes,
            elapsed_ms=answer.timing.elapsed_ms,
            body_sha256=sha256_bytes(body) if body is not None and outcome is Outcome.MODIFIED else None,
            error=problem or _oddity(answer),
        )


def _oddity(answer: Answer) -> str | None:
    """What was wrong with an answer, in words; also with one that can be used."""
    if isinstance(answer, Failure):
        return answer.detail
    warnings = answer.warnings if isinstance(answer, (Response, NotModified)) else ()
    return f"warning: {'; '.join(warnings)}" if warnings else None


@asynccontextmanager
async def asking(run: SiteRun, visit: Visit, state: State) -> AsyncIterator[Asker]:
    """An `Asker` with the visit's remaining budget, and what is known already of the hosts' strain and robots.txt."""
    sequence = count(plan.next_seq(state, visit.visit))
    prints = fingerprints(run, state)
    asker: Asker | None = None
    software = SoftwareWatch()

    def heard(ask: Ask, answer: Answer) -> None:
        software.heard(ask, answer)
        if asker is not None:
            asker.heard_aside(ask, answer)

    transport = transport_of(run)
    began = time.monotonic()
    budget = _budget(run, visit, state)
    memory = remembered(state, visit, prints)
    async with Exchange(
        run.site.politeness, run.request_headers, transport, run.clock, budget, heard, memory
    ) as exchange:
        watch = BlockWatch.load(run, visit, state, exchange)
        asker = Asker(run, visit, exchange, budget, sequence, prints, watch)
        try:
            yield asker
        finally:
            visits.add_busy(state, visit.visit, time.monotonic() - began)
            remember(exchange, state, visit, prints)
            software.keep(state)
            reports.keep_observations(state, asker.take_unplaced())
            with state.transaction():
                watch.keep(state)


def _budget(run: SiteRun, visit: Visit, state: State) -> Budget:
    limits = run.site.budget
    spent = reports.spent(state, visit.visit)
    deadline = None
    if limits.time_per_visit is not None:
        left = limits.time_per_visit.total_seconds() - visits.busy_s(state, visit.visit)
        deadline = time.monotonic() + left
    budget = Budget(limits.requests_per_visit, limits.bytes_per_visit, deadline)
    budget.spend(*spent)
    return budget
