"""Watches what hosts answer while pages are asked: what is no page of theirs, and when they have to be left alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from incremental_crawl.extraction.body_kind import body_kind
from incremental_crawl.extraction.emptiness import no_text
from incremental_crawl.extraction.glance import LOOKED_AT, glance, glance_at, markup_of
from incremental_crawl.semantics.answers import Answer, Ask, Headers, NotModified, Redirected, Response, first
from incremental_crawl.semantics.block_signs import (
    BlockKind,
    BlockSign,
    address_sign,
    header_sign,
    hints_at_markup,
    markup_sign,
    status_sign,
    text_sign,
)
from incremental_crawl.semantics.digest import sha256_bytes
from incremental_crawl.semantics.host_rest import HostBlocks
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url, host_of
from incremental_crawl.stages.conversation import Talk
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import blocks
from incremental_crawl.storage.blocks import BlockedPage, BlockedSample
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.exchange import Exchange

_ANSWERED = frozenset({Outcome.NOT_MODIFIED, Outcome.GONE, Outcome.SUSPECT_GONE, Outcome.MOVED})
_SHELL_BYTES = 16_384
_WARY_INTERVALS = 4


@dataclass(frozen=True, slots=True)
class KnownBodies:
    """(host, digest) of what stands in pages' places, and of what stood there long enough to be taken for the page."""

    blocked: dict[tuple[str, str], BlockSign]
    stay: frozenset[tuple[str, str]]

    def sign(self, host: str, digest: str | None) -> BlockSign | None:
        """What a body was when it was seen in a page's place, None where it was not or is the page by now."""
        key = (host, digest or "")
        return None if key in self.stay else self.blocked.get(key)


class BlockWatch:
    """What one stage hears of blocks; kept with its checkpoints."""

    def __init__(
        self, run: SiteRun, visit: Visit, exchange: Exchange, hosts: Mapping[str, HostBlocks], bodies: KnownBodies
    ) -> None:
        self._run = run
        self._visit = visit.visit
        self._exchange = exchange
        self._hosts = dict(hosts)
        self.bodies = bodies
        self._unsettled: dict[str, int] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._changed: set[str] = set()
        self._pages: list[BlockedPage] = []
        self._samples: list[BlockedSample] = []
        rate = run.site.politeness.requests_per_second
        self._extra_s = 0.0 if rate is None else (_WARY_INTERVALS - 1) / rate
        for own in self._hosts.values():
            if own.next_try is not None and own.rests_at(run.clock()):
                exchange.rest(own.host, own.next_try)

    @classmethod
    def load(cls, run: SiteRun, visit: Visit, state: State, exchange: Exchange) -> BlockWatch:
        """A watch that knows what earlier visits have met."""
        stay = blocks.bodies_that_stay(state, visit.visit, run.clock())
        return cls(run, visit, exchange, blocks.hosts(state), KnownBodies(blocks.known_bodies(state), frozenset(stay)))

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """A turn to ask a page: one at a time, and slower, while the host blocks.

        So the first page after a rest is asked alone: the others find the host resting again, or open.
        """
        host = host_of(url)
        if not self._of(host).is_wary:
            yield
            return
        lock = self._locks.setdefault(host, asyncio.Lock())
        await lock.acquire()
        mine = self._of(host).is_wary
        try:
            if not mine:
                lock.release()
            elif self._extra_s and not self._of(host).rests_at(self._run.clock()):
                await asyncio.sleep(self._extra_s)
            yield
        finally:
            if mine:
                lock.release()

    def look(self, page: PageState, talk: Talk) -> None:
        """Look at the last answer of a conversation: overrule what it seems to mean, and count it for the host."""
        ask, answer = talk.last
        host = host_of(page.url)
        sign = self._sign(host, page, talk, ask, answer)
        if sign is not None:
            talk.overrule(Outcome.BLOCKED, sign.sentence, sign)
        elif talk.outcome is Outcome.MODIFIED and isinstance(answer, Response):
            blank = self._blank(ask.url, answer)
            if blank is not None:
                talk.overrule(Outcome.EMPTY, blank)
        if sign is not None:
            body = answer.body if isinstance(answer, Response) else b""
            digest = sha256_bytes(body) if isinstance(answer, Response) and answer.status < 300 else None
            at, status = answer.timing.received_at, answer.status if not isinstance(answer, NotModified) else 304
            self.blocked_page(page.url, sign, at, digest)
            self.sample(page.url, sign, at, status, answer.headers, body)
            self._count(host, sign, at, may_rest=not self._unsettled.get(host))
        elif talk.outcome in _ANSWERED:
            self._answered(host)
        elif talk.outcome is Outcome.MODIFIED:
            self._unsettled[host] = self._unsettled.get(host, 0) + 1

    def settled(self, url: str, sign: BlockSign | None, at: datetime) -> None:
        """Count for its host what was decided about a page's body: blocked, or a page."""
        host = host_of(url)
        if sign is not None:
            self._count(host, sign, at, may_rest=True)
        else:
            self._answered(host)

    def blocked_page(
        self, url: str, sign: BlockSign, at: datetime, body_sha256: str | None, content_sha256: str | None = None
    ) -> None:
        """Keep that a page is blocked, and what stood in its place."""
        host = host_of(url)
        self._pages.append(
            BlockedPage(url, host, self._visit, at, sign.kind, sign.sentence, sign.strong, body_sha256, content_sha256)
        )
        for digest in (body_sha256, content_sha256):
            if digest is not None:
                self.bodies.blocked.setdefault((host, digest), sign)

    def sample(
        self, url: str, sign: BlockSign, at: datetime, status: int | None, headers: Headers, body: bytes
    ) -> None:
        """Keep what stood in a page's place for a person to look at, as long as there are few of the host."""
        host = host_of(url)
        if sum(sample.host == host for sample in self._samples) < blocks.SAMPLES:
            kept, lines = body[: blocks.LARGEST_SAMPLE], json.dumps(headers, ensure_ascii=False)
            self._samples.append(BlockedSample(host, url, at, status, sign.kind, sign.sentence, lines, kept))

    def keep(self, state: State) -> None:
        """Keep what was heard since the last time; to be called in a transaction."""
        pages, self._pages = self._pages, []
        samples, self._samples = self._samples, []
        changed, self._changed = self._changed, set()
        blocks.keep_pages(state, pages)
        if samples:
            blocks.keep_samples(state, samples)
        if changed:
            blocks.keep_hosts(state, [self._hosts[host] for host in sorted(changed)])

    def _of(self, host: str) -> HostBlocks:
        return self._hosts.get(host) or HostBlocks(host)

    def _count(self, host: str, sign: BlockSign, at: datetime, may_rest: bool) -> None:
        if not sign.kind.is_the_hosts:
            return
        before = self._of(host)
        after = before.blocked(sign, at, self._visit, may_rest)
        self._hosts[host] = after
        self._changed.add(host)
        if after.next_try is not None and after.next_try != before.next_try:
            self._exchange.rest(host, after.next_try)

    def _answered(self, host: str) -> None:
        self._unsettled.pop(host, None)
        before = self._of(host)
        after = before.answered(self._visit)
        if after != before:
            self._hosts[host] = after
            self._changed.add(host)

    def _sign(self, host: str, page: PageState, talk: Talk, ask: Ask, answer: Answer) -> BlockSign | None:
        if isinstance(answer, Redirected):
            return self._of_redirect(page, talk, ask, answer)
        if not isinstance(answer, Response):
            return None
        sign = header_sign(answer.headers) or _of_markup(answer)
        if sign is not None or talk.outcome is Outcome.BLOCKED:
            return sign or status_sign(answer.status)
        if talk.outcome is not Outcome.MODIFIED:
            return None
        led = ask.url not in {page.url, page.hop_url} and address_sign(page.url) is None
        return (address_sign(ask.url) if led else None) or self._of_wary(host, answer)

    def _of_redirect(self, page: PageState, talk: Talk, ask: Ask, answer: Redirected) -> BlockSign | None:
        if talk.outcome is Outcome.BLOCKED:
            return BlockSign(BlockKind.SOFT_404, talk.problem or "redirect to the home page")
        if talk.outcome is not Outcome.REFUSED or address_sign(page.url) is not None:
            return None
        try:
            return address_sign(canonical_url(answer.location or "", ask.url))
        except InvalidUrl:
            return None

    def _of_wary(self, host: str, answer: Response) -> BlockSign | None:
        """Of a host that blocks, a body that stood in pages' places before, or words of one, need no comparison."""
        if not self._of(host).is_wary:
            return None
        digest = sha256_bytes(answer.body)
        if (host, digest) in self.bodies.stay:
            return None
        kind = first(answer.headers, "content-type")
        said = text_sign(glance_at(answer.body, kind), "") if len(answer.body) <= LOOKED_AT else None
        return self.bodies.sign(host, digest) or (said if said is not None and said.kind.is_the_hosts else None)

    def _blank(self, url: str, answer: Response) -> str | None:
        """Why a small page is empty, where it is so at a glance; pages with fields may have them in their head."""
        kind = first(answer.headers, "content-type")
        if len(answer.body) > _SHELL_BYTES or self._run.rules.for_url(url).fields:
            return None
        if body_kind(answer.body, kind) != "html":
            return None
        seen = glance_at(answer.body, kind)
        return no_text(seen.scripts > 0) if seen.is_blank else None


def _of_markup(answer: Response) -> BlockSign | None:
    if not hints_at_markup(answer.body[:LOOKED_AT]):
        return None
    markup = markup_of(answer.body, first(answer.headers, "content-type"))
    return markup_sign(markup, glance(markup, len(answer.body) <= LOOKED_AT))
