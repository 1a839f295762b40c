"""Reading one sitemap or feed: revalidated conditionally, kept where it fails, stored in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from incremental_crawl.semantics.answers import Answer, Ask, NotModified, Purpose, Redirected, Response
from incremental_crawl.semantics.digest import canonical_json, sha256_bytes, sha256_text
from incremental_crawl.semantics.outcome import Outcome, Step, classify
from incremental_crawl.semantics.sitemap import SitemapContent, SitemapKind, read_sitemap
from incremental_crawl.semantics.sitemap_content import Entries
from incremental_crawl.semantics.tracking_params import TRACKING_FINGERPRINT
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.semantics.validators import Validators, from_response
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.fingerprints import fingerprints
from incremental_crawl.stages.listing_sieve import NOTHING, ListingSieve, joined
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import discovery
from incremental_crawl.storage.discovery import FoundBy, Source
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import HostResting

_HOPS = 5
_TOLD = 3


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a source answered: to which request, and where redirects led if that was read before as another source."""

    ask: Ask
    answer: Answer
    observations: list[Observation]
    same_as: str | None = None

    @property
    def status(self) -> int | None:
        """The last status code."""
        return self.observations[-1].status


class SourceReader:
    """Reads the sources of one visit, no URL twice: not after a redirect either, nor in a visit that is resumed."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._asker = asker
        self._scope = _fingerprint(run, state)
        self._sieve = ListingSieve(run, state)
        self._asked: set[str] = set()

    def was_asked(self, url: str) -> bool:
        """Whether this run has asked for the URL, as a source or as a hop of one."""
        return url in self._asked

    async def read(self, url: str, kind: str, root: str, found_by: FoundBy) -> Source:
        """The source as it is now; a reading that failed keeps what the last good one listed."""
        last = discovery.source(self._state, url)
        if last is not None and last.visit == self._visit.visit:
            self._asked |= {url, last.hop_url or url}
            return last
        known = last or Source(url, self._visit.visit, kind, None, None, None, None, 0, (), None)
        known = replace(known, visit=self._visit.visit, problem=None, root=root, found_by=found_by)
        try:
            heard = await self._ask(known, held=self._is_sifted(known))
        except HostResting as resting:
            return self._store(replace(known, status=None, problem=str(resting)), None, [])
        known, answer = replace(known, status=heard.status), heard.answer
        if heard.same_as is not None:
            return self._store(_emptied(known, heard.same_as), NOTHING, heard.observations)
        if isinstance(answer, NotModified) and heard.ask.conditional:
            return self._store(known, None, heard.observations)
        if not isinstance(answer, Response) or answer.status != 200:
            problem = heard.observations[-1].error or f"answered {heard.status}"
            return self._store(replace(known, problem=problem), None, heard.observations)
        own = Validators() if heard.ask.no_cache else from_response(answer.headers)
        hop = heard.ask.url if heard.ask.url != url else None
        return self._content(replace(known, hop_url=hop), answer, own, heard.observations)

    async def _ask(self, known: Source, held: bool) -> _Heard:
        """Ask for the source, following a few redirects by hand; the condition goes to where the validators came from.

        A redirect to what was read as another source ends there: each sitemap is read once.
        """
        own, holder = Validators(known.etag, known.last_modified), known.hop_url or known.url
        observations: list[Observation] = []
        chain = {known.url}
        url: str = known.url
        no_cache = False
        while True:
            self._asked.add(url)
            sent = own if held and url == holder and not no_cache else Validators()
            ask = Ask(url, Purpose.SITEMAP, etag=sent.etag, last_modified=sent.last_modified, no_cache=no_cache)
            answer = await self._asker.ask(ask, self._run.site.politeness.fetch_concurrency)
            if isinstance(answer, Redirected):
                target, _, reason = self._asker.hops.resolve(url, answer.location, page=False)
                if target in chain:
                    target, reason = None, "redirects in a circle"
                elif len(chain) > _HOPS:
                    target, reason = None, f"more than {_HOPS} redirects"
                outcome = Outcome.MOVED if target is not None else Outcome.ERROR
                observations.append(self._asker.observe(ask, answer, outcome, reason or None))
                if target is None or target in self._asked:
                    return _Heard(ask, answer, observations, target)
                chain.add(target)
                url, no_cache = target, False
                continue
            meaning = classify(ask, answer, ask.conditional)
            settled = meaning if isinstance(meaning, Outcome) else Outcome.ERROR
            observations.append(self._asker.observe(ask, answer, settled))
            if meaning is not Step.ASK_UNCONDITIONALLY:
                return _Heard(ask, answer, observations)
            no_cache = True

    def _content(self, known: Source, answer: Response, own: Validators, observations: list[Observation]) -> Source:
        digest = sha256_bytes(answer.body)
        answered = replace(known, etag=own.etag, last_modified=own.last_modified)
        if known.sha256 == digest and self._is_sifted(known):
            return self._store(answered, None, observations)
        content, addresses, listed = self._read(answer.body, known.url)
        warnings = _told(content, known.url)
        problem = warnings
        if content.kind is SitemapKind.UNKNOWN:
            problem = f"neither a sitemap nor a feed ({problem})" if problem else "neither a sitemap nor a feed"
        if not content.entries and problem is not None:
            return self._store(replace(known, problem=problem), None, observations)
        read = replace(
            answered,
            kind="feed" if content.kind is SitemapKind.FEED else known.kind,
            sha256=digest,
            warnings=warnings,
            complete=content.complete,
            scope=self._scope,
        )
        if content.kind is SitemapKind.INDEX:
            children = canonical_urls(addresses, known.url)
            return self._index(known, replace(read, children=tuple(children), entries=0), observations)
        if not listed.num_rows and known.entries and self._is_sifted(known):
            problem = "lists nothing any more: what it listed last stays listed"
            return self._store(replace(known, problem=problem), None, observations)
        if content.entries and not listed.num_rows:
            read = replace(read, warnings=_all_outside(content, warnings))
        read = replace(read, children=(), entries=listed.num_rows)
        return self._store(read, listed, observations, content.complete)

    def _index(self, known: Source, read: Source, observations: list[Observation]) -> Source:
        """An index; what one lists that broke off, or that lists nothing any more, comes to what it listed last."""
        if known.children and not read.children:
            problem = "lists no sitemap any more: those that it listed last stay in force"
            return self._store(replace(known, problem=problem), None, observations)
        if not read.complete:
            children = tuple(dict.fromkeys((*read.children, *known.children)))
            return self._store(replace(read, children=children), None, observations)
        return self._store(read, NOTHING, observations)

    def _is_sifted(self, known: Source) -> bool:
        """Whether its listing is held as the scope in force would keep it; else an unchanged source is read anew."""
        return known.sha256 is not None and known.scope == self._scope

    def _read(self, body: bytes, url: str) -> tuple[SitemapContent, list[str], pa.Table]:
        """The document; of an index the addresses that it lists, of any other the entries that belong to the site.

        Entries are sifted batch by batch as they are read, so that a large document is never held as objects.
        """
        addresses: list[str] = []
        batches: list[pa.Table] = []

        def take(entries: Entries, kind: SitemapKind) -> None:
            if kind is SitemapKind.INDEX:
                addresses.extend(entries.urls)
            else:
                batches.append(self._sieve.sifted(entries, url))

        content = read_sitemap(body, url, take, self._run.site.scope.alternates)
        return content, addresses, joined(batches)

    def _store(
        self, source: Source, listed: pa.Table | None, observations: list[Observation], complete: bool = True
    ) -> Source:
        discovery.store(self._state, source, listed, complete, observations)
        reached(DurableStep.SOURCES_STORED)
        return source


def _emptied(known: Source, same_as: str) -> Source:
    """The source as one that only leads to `same_as`, which is read for itself."""
    return replace(
        known, etag=None, last_modified=None, sha256=None, entries=0, children=(), hop_url=same_as, warnings=None,
        complete=True,
    )  # fmt: skip


def _told(content: SitemapContent, url: str) -> str | None:
    """The first warnings without the document's URL, and how many more there are."""
    told = [warning.removeprefix(f"{url}: ") for warning in content.warnings[:_TOLD]]
    more = len(content.warnings) - len(told)
    return "; ".join(told + ([f"and {more} more warnings"] if more > 0 else [])) or None


def _all_outside(content: SitemapContent, warnings: str | None) -> str:
    sentence = f"none of its {content.entries} entries is within the site's scope (for example {content.example})"
    return f"{sentence}; {warnings}" if warnings else sentence


def _fingerprint(run: SiteRun, state: State) -> str:
    """By what a listing was sifted, and which request headers it answered: under others it is read anew."""
    scope, headers = run.site.scope_rules, sorted(fingerprints(run, state).by_origin.items())
    patterns = [[pattern.text for pattern in patterns] for patterns in (scope.include, scope.exclude)]
    tracking = TRACKING_FINGERPRINT if run.site.scope.strip_tracking else ""
    own = run.site.scope
    parts = [sorted(scope.hosts), *patterns, list(own.strip_params), tracking, own.alternates, headers]
    return sha256_text(canonical_json(parts))


def canonical_urls(urls: Iterable[str], base: str, strip: Sequence[str] = ()) -> list[str]:
    """The usable ones of `urls` in canonical form, each once, in order."""
    found = []
    for url in urls:
        try:
            found.append(canonical_url(url, base, strip))
        except InvalidUrl:
            continue
    return list(dict.fromkeys(found))
