"""One page's conversation with its server: the request, the hops of a redirect, the retry without a condition.

A condition is never carried to another URL: each hop is asked with its own validators or with none (RFC 9110 §13.1).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import TypeVar

from incremental_crawl.semantics.answers import (
    PERMANENT_REDIRECTS,
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
from incremental_crawl.semantics.outcome import FAILED, Outcome, Step, classify
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.urls import InvalidUrl, Scope, canonical_url, host_of
from incremental_crawl.semantics.validators import Validators
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import host_notes, plan, reports, visits
from incremental_crawl.storage.host_notes import RobotsNote
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.budget import Budget, BudgetSpent, HostResting
from incremental_crawl.transport.client import AiohttpTransport
from incremental_crawl.transport.exchange import Exchange
from incremental_crawl.transport.robots_lookup import HeldRobots, KnownRobots

MAX_HOPS = 10
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one page's requests came to.

    `url` is the row that the answer speaks about: the page itself, or the target where permanent redirects led.
    `hop_url` is the last hop of a temporary redirect, to which the answer's validators belong.
    """

    url: str
    outcome: Outcome
    answer: Answer
    observations: tuple[Observation, ...]
    moved_to: str | None = None
    moved_status: int | None = None
    hop_url: str | None = None
    problem: str | None = None

    @property
    def body(self) -> bytes | None:
        """The body of a 200, None for everything else."""
        modified = self.outcome is Outcome.MODIFIED and isinstance(self.answer, Response)
        return self.answer.body if modified and isinstance(self.answer, Response) else None

    @property
    def body_sha256(self) -> str | None:
        """The digest of the body, where there is one."""
        return self.observations[-1].body_sha256


class Asker:
    """Asks pages of one site in one visit and writes down every request."""

    def __init__(self, run: SiteRun, visit: Visit, exchange: Exchange, budget: Budget, sequence: Iterator[int]) -> None:
        self._scope: Scope = run.site.scope_rules
        self._hosts = Scope(run.site.hosts)
        self._strip: Sequence[str] = run.site.scope.strip_params
        self._visit = visit
        self.exchange = exchange
        self.budget = budget
        self.sequence = sequence
        self._unplaced: list[Observation] = []
        self._pending: set[int] = set()
        self._broken: dict[str, tuple[Ask, Failure]] = {}

    async def page(
        self, page: PageState, purpose: Purpose, concurrency: int, conditional: bool = False, no_cache: bool = False
    ) -> Conversation:
        """Ask for `page` until something final comes. Raises `BudgetSpent` where nothing more may be sent."""
        stored = page.validators if conditional else Validators()
        ask = Ask(page.url, purpose, etag=stored.etag, last_modified=stored.last_modified, no_cache=no_cache)
        talk = _Talk(self, page, conditional)
        while True:
            answer = await self.ask(ask, concurrency)
            following = talk.heard(ask, answer)
            if following is None:
                return talk.result(answer)
            ask = following

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

    async def sitemaps(self, url: str) -> tuple[str, ...] | None:
        """The sitemaps that robots.txt of the URL's origin names; None where it cannot be read now."""
        try:
            rules = await self.exchange.robots_rules(url)
        except HostResting:
            return None
        return rules.sitemaps if isinstance(rules, RobotsRules) else None

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
            error=problem or (answer.detail if isinstance(answer, Failure) else None),
        )

    def resolve(self, base: str, location: str | None, page: bool = True) -> tuple[str | None, Outcome, str]:
        """Where a redirect leads, or the outcome and the reason why it is not followed.

        A page must stay in the site's scope; anything else (a sitemap) only on the site's hosts.
        """
        if not location:
            return None, Outcome.ERROR, "redirect without a Location"
        try:
            target = canonical_url(location, base, self._strip)
        except InvalidUrl as error:
            return None, Outcome.ERROR, f"redirect to an unusable address: {error}"
        if not (self._scope if page else self._hosts).contains(target):
            return None, Outcome.REFUSED, f"redirect leaves the site's scope: {target}"
        return target, Outcome.MODIFIED, ""


class _Talk:
    """The state of one conversation."""

    def __init__(self, asker: Asker, page: PageState, conditional: bool) -> None:
        self._asker = asker
        self._page = page
        self._conditional = conditional
        self._asked: list[tuple[Ask, Answer]] = []
        self._seen = {page.url}
        self._moved_to: str | None = None
        self._moved_status: int | None = None
        self._hop: str | None = None
        self._outcome = Outcome.ERROR
        self._problem: str | None = None

    def heard(self, ask: Ask, answer: Answer) -> Ask | None:
        """Take an answer in; returns the next request, or None where the conversation is over."""
        self._asked.append((ask, answer))
        confirmable = self._page.held and ask.url in (self._page.url, self._page.hop_url)
        meaning = classify(ask, answer, confirmable)
        if meaning is Step.ASK_UNCONDITIONALLY:
            return replace(ask, purpose=Purpose.RETRY, etag=None, last_modified=None, no_cache=True)
        if meaning is Step.FOLLOW and isinstance(answer, Redirected):
            return self._followed(ask, answer)
        self._outcome = meaning if isinstance(meaning, Outcome) else Outcome.ERROR
        if self._outcome is Outcome.ERROR and isinstance(answer, NotModified):
            self._problem = "304 to a request without a condition, twice"
        return None

    def result(self, answer: Answer) -> Conversation:
        """The conversation as a value; every request but the last carries what it meant on the way."""
        observations = []
        for at, (ask, heard) in enumerate(self._asked):
            last = at == len(self._asked) - 1
            observations.append(
                self._asker.observe(ask, heard, self._meaning(heard, last), self._problem if last else None)
            )
        return Conversation(
            url=self._moved_to or self._page.url,
            outcome=self._outcome,
            answer=answer,
            observations=tuple(observations),
            moved_to=self._moved_to,
            moved_status=self._moved_status,
            hop_url=self._hop,
            problem=self._problem,
        )

    def _meaning(self, answer: Answer, last: bool) -> Outcome:
        if not last and isinstance(answer, Redirected) and answer.status in PERMANENT_REDIRECTS:
            return Outcome.MOVED
        if not last and isinstance(answer, NotModified):
            return Outcome.ERROR
        return self._outcome

    def _followed(self, ask: Ask, answer: Redirected) -> Ask | None:
        target, outcome, reason = self._asker.resolve(ask.url, answer.location)
        if target is not None and (target in self._seen or len(self._seen) > MAX_HOPS):
            target, outcome, reason = None, Outcome.ERROR, f"redirect loop or more than {MAX_HOPS} hops, at {ask.url}"
        if target is not None and _is_home(target) and not _is_home(self._page.url):
            target, outcome, reason = None, Outcome.BLOCKED, f"redirect to the home page {target}"
        if target is None:
            self._outcome, self._problem = outcome, reason
            return None
        self._seen.add(target)
        return self._hop_to(ask, answer, target)

    def _hop_to(self, ask: Ask, answer: Redirected, target: str) -> Ask | None:
        if self._hop is None and answer.status in PERMANENT_REDIRECTS:
            self._moved_to, self._moved_status = target, answer.status
            if self._page.redirect_to == target:
                self._outcome = Outcome.MOVED
                return None
            return Ask(target, Purpose.REDIRECT)
        self._hop = target
        own = Validators()
        if self._conditional and self._moved_to is None and target == self._page.hop_url:
            own = self._page.hop_validators
        return Ask(target, Purpose.REDIRECT, etag=own.etag, last_modified=own.last_modified)


def _is_home(url: str) -> bool:
    return url.split("//", 1)[-1].partition("/")[2] in ("", "?")


@asynccontextmanager
async def asking(run: SiteRun, visit: Visit, state: State) -> AsyncIterator[Asker]:
    """An `Asker` with the visit's remaining budget, the hosts' pauses and the robots rules that are known already."""
    sequence = count(plan.next_seq(state, visit.visit))
    robots: dict[str, KnownRobots] = {
        note.origin: RobotsRules.parse(note.body)
        if note.visit == visit.visit
        else HeldRobots(note.body, Validators(note.etag, note.last_modified))
        for note in host_notes.robots(state)
    }
    asker: Asker | None = None

    def heard(ask: Ask, answer: Answer) -> None:
        if asker is not None:
            asker.heard_aside(ask, answer)

    transport = AiohttpTransport(AddressGuard.for_site(run.site.allow_private_hosts, run.site.start_urls))
    began = time.monotonic()
    budget = _budget(run, visit, state)
    pauses = host_notes.pauses(state, run.clock())
    async with Exchange(
        run.site.politeness, run.request_headers, transport, run.clock, budget, heard, robots, pauses
    ) as exchange:
        asker = Asker(run, visit, exchange, budget, sequence)
        try:
            yield asker
        finally:
            visits.add_busy(state, visit.visit, time.monotonic() - began)
            host_notes.keep_robots(
                state,
                [
                    RobotsNote(origin, visit.visit, own.body, own.validators.etag, own.validators.last_modified)
                    for origin, own in exchange.robots_received.items()
                ],
            )
            host_notes.keep_pauses(state, exchange.pauses())
            reports.keep_observations(state, asker.take_unplaced())


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


async def in_flight(
    items: Iterator[T], work: Callable[[T], Awaitable[R]], limit: int
) -> AsyncGenerator[tuple[T, R | BudgetSpent], None]:
    """Do `work` on the items, `limit` at a time, and yield each with its result as it comes.

    Once the budget is spent no further item is taken; the items that could not be asked come back with the exception.
    """
    results: asyncio.Queue[tuple[T, R | BudgetSpent] | None] = asyncio.Queue(maxsize=2 * limit)
    stopped = False

    async def worker() -> None:
        nonlocal stopped
        try:
            while not stopped:
                try:
                    item = next(items)
                except StopIteration:
                    break
                try:
                    await results.put((item, await work(item)))
                except HostResting as resting:
                    await results.put((item, resting))
                except BudgetSpent as spent:
                    stopped = True
                    await results.put((item, spent))
        finally:
            await results.put(None)

    async with asyncio.TaskGroup() as group:
        for _ in range(limit):
            group.create_task(worker())
        running = limit
        while running:
            result = await results.get()
            if result is None:
                running -= 1
            else:
                yield result


def failed(conversation: Conversation) -> bool:
    """Whether the conversation said nothing about the page."""
    return conversation.outcome in FAILED
