"""Reading one sitemap or feed: revalidated conditionally, kept where it fails, stored in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from incremental_crawl.semantics.answers import Answer, Ask, NotModified, Purpose, Redirected, Response
from incremental_crawl.semantics.digest import canonical_json, sha256_bytes, sha256_text
from incremental_crawl.semantics.outcome import Outcome, Step, classify
from incremental_crawl.semantics.sitemap import SitemapContent, SitemapKind, parse_sitemap
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.semantics.validators import Validators, from_response
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.fingerprints import fingerprints
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import discovery
from incremental_crawl.storage.discovery import Source
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import HostResting

_HOPS = 5
_TOLD = 3


class SourceReader:
    """Reads the sources of one visit; a source that this visit has read before is not asked again."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._asker = asker
        self._scope = _fingerprint(run, state)

    async def read(self, url: str, kind: str) -> Source:
        """The source as it is now; a reading that failed keeps what the last good one listed."""
        last = discovery.source(self._state, url)
        if last is not None and last.visit == self._visit.visit:
            return last
        known = last or Source(url, self._visit.visit, kind, None, None, None, None, 0, (), None)
        known = replace(known, visit=self._visit.visit, problem=None)
        try:
            answer, observations = await self._ask(known, held=self._is_sifted(known))
        except HostResting as resting:
            return self._store(replace(known, problem=str(resting)), None, [])
        status = observations[-1].status
        if isinstance(answer, NotModified):
            return self._store(known, None, observations)
        if not isinstance(answer, Response) or answer.status != 200:
            problem = observations[-1].error or f"answered {status}"
            return self._store(replace(known, status=status, problem=problem), None, observations)
        # Validators belong to the URL that was asked: those of a redirect's target are not kept.
        own = from_response(answer.headers) if len(observations) == 1 else Validators()
        return self._content(known, answer, own, observations)

    async def _ask(self, known: Source, held: bool) -> tuple[Answer, list[Observation]]:
        """Ask for the source, following a few redirects by hand; the condition goes to the first URL only."""
        own = Validators(known.etag, known.last_modified) if held else Validators()
        ask = Ask(known.url, Purpose.SITEMAP, etag=own.etag, last_modified=own.last_modified)
        observations: list[Observation] = []
        while True:
            answer = await self._asker.ask(ask, self._run.site.politeness.fetch_concurrency)
            if isinstance(answer, Redirected):
                target, _, reason = self._asker.hops.resolve(ask.url, answer.location, page=False)
                outcome = Outcome.MOVED if target is not None else Outcome.ERROR
                observations.append(self._asker.observe(ask, answer, outcome, reason or None))
                if target is None or len(observations) > _HOPS:
                    return answer, observations
                ask = Ask(target, Purpose.SITEMAP)
                continue
            meaning = classify(ask, answer, held)
            settled = meaning if isinstance(meaning, Outcome) else Outcome.ERROR
            observations.append(self._asker.observe(ask, answer, settled))
            if meaning is not Step.ASK_UNCONDITIONALLY:
                return answer, observations
            ask = Ask(ask.url, Purpose.SITEMAP, no_cache=True)

    def _content(self, known: Source, answer: Response, own: Validators, observations: list[Observation]) -> Source:
        digest = sha256_bytes(answer.body)
        answered = replace(known, status=answer.status, etag=own.etag, last_modified=own.last_modified)
        if known.sha256 == digest and self._is_sifted(known):
            return self._store(answered, None, observations)
        content = parse_sitemap(answer.body, known.url)
        problem = "; ".join(content.warnings[:_TOLD]) or None
        if content.kind is SitemapKind.UNKNOWN:
            problem = problem or "neither a sitemap nor a feed"
        if not content.entries and problem is not None:
            return self._store(replace(known, status=answer.status, problem=problem), None, observations)
        read = replace(
            answered,
            kind="feed" if content.kind is SitemapKind.FEED else known.kind,
            sha256=digest,
            problem=problem,
            scope=self._scope,
        )
        if content.kind is SitemapKind.INDEX:
            children = tuple(canonical_urls((entry.url for entry in content.entries), known.url))
            return self._store(replace(read, children=children, entries=0), None, observations)
        listed = self._listed(content, known.url)
        if not listed.num_rows and known.entries and self._is_sifted(known):
            problem = problem or "lists nothing any more: what it listed last stays listed"
            return self._store(replace(known, status=answer.status, problem=problem), None, observations)
        read = replace(read, children=(), entries=listed.num_rows)
        return self._store(read, listed, observations, content.complete)

    def _is_sifted(self, known: Source) -> bool:
        """Whether its listing is held as the scope in force would keep it; else an unchanged source is read anew."""
        return known.sha256 is not None and known.scope == self._scope

    def _listed(self, content: SitemapContent, base: str) -> pa.Table:
        """The entries that belong to the site, in canonical form; the first of a URL wins."""
        scope, strip = self._run.site.scope_rules, self._run.site.scope.strip_params
        found: dict[str, str | None] = {}
        for entry in content.entries:
            for url in canonical_urls([entry.url], base, strip):
                if scope.contains(url):
                    found.setdefault(url, entry.lastmod)
        return pa.table(
            {"url": pa.array(list(found), pa.string()), "lastmod": pa.array(list(found.values()), pa.string())}
        )

    def _store(
        self, source: Source, listed: pa.Table | None, observations: list[Observation], complete: bool = True
    ) -> Source:
        discovery.store(self._state, source, listed, complete, observations)
        reached(DurableStep.SOURCES_STORED)
        return source


def _fingerprint(run: SiteRun, state: State) -> str:
    """By what a listing was sifted, and which request headers it answered: under others it is read anew."""
    scope, headers = run.site.scope_rules, sorted(fingerprints(run, state).by_origin.items())
    patterns = [[pattern.text for pattern in patterns] for patterns in (scope.include, scope.exclude)]
    return sha256_text(canonical_json([sorted(scope.hosts), *patterns, list(run.site.scope.strip_params), headers]))


def canonical_urls(urls: Iterable[str], base: str, strip: Sequence[str] = ()) -> list[str]:
    """The usable ones of `urls` in canonical form, each once, in order."""
    found = []
    for url in urls:
        try:
            found.append(canonical_url(url, base, strip))
        except InvalidUrl:
            continue
    return list(dict.fromkeys(found))
