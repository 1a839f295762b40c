"""Stage 1: read robots.txt, sitemaps and feeds, and bring what they list into the frontier. Opens the visit."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

import pyarrow as pa

from incremental_crawl.semantics.answers import Ask, NotModified, Purpose, Redirected, Response, first
from incremental_crawl.semantics.digest import sha256_bytes
from incremental_crawl.semantics.outcome import Outcome, Step, classify
from incremental_crawl.semantics.sitemap import SitemapContent, parse_sitemap
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url, origin_of
from incremental_crawl.stages.asking import Asker, asking
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import discovery, known_urls, visits
from incremental_crawl.storage.discovery import MergeReport, Source
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

STAGE = "sitemap_urls"
MAX_SITEMAP_DEPTH = 5
MAX_SOURCES = 10_000
_HOPS = 5


def run(run: SiteRun) -> Report:
    """Open (or resume) the visit and read its sources. Raises `VisitRefused` for a day that is past."""
    with run.state(STAGE) as state:
        now = run.clock()
        visit = visits.enter(state, run.day, now, run.options, run.run_id)
        if visits.stage_done(state, visit.visit, STAGE):
            return Report(visit.visit, notes={"resumed": "the sources of this visit were read before"})
        known_urls.add_start_urls(state, run.site.start_urls, visit.opened_at)
        reading = asyncio.run(_read_all(run, visit, state))
        with state.transaction():
            merged = discovery.merge(
                state,
                visit.visit,
                visit.opened_at,
                run.cadence.minimum,
                run.site.scope.sitemap_shrink_limit,
                run.site.scope.max_pages,
            )
            visits.mark_stage(state, visit.visit, STAGE, run.clock())
        reached(DurableStep.SOURCES_STORED)
        return _report(visit, reading, merged, known_urls.count(state))


async def _read_all(run: SiteRun, visit: Visit, state: State) -> list[Source]:
    """Read every source once, indexes before their children, breadth first."""
    read: list[Source] = []
    async with asking(run, visit, state) as asker:
        queue = deque((url, kind, 0) for url, kind in await _roots(run, asker))
        seen: set[str] = set()
        while queue and len(seen) < MAX_SOURCES:
            url, kind, depth = queue.popleft()
            if url in seen:
                continue
            seen.add(url)
            source = await _read(run, visit, state, asker, url, kind)
            read.append(source)
            run.progress(STAGE, len(read), len(read) + len(queue))
            if depth < MAX_SITEMAP_DEPTH:
                queue.extend((child, kind, depth + 1) for child in source.children)
    return read


async def _roots(run: SiteRun, asker: Asker) -> list[tuple[str, str]]:
    """The sources to begin with: as configured, or what robots.txt names, or else the usual place."""
    roots = [(url, "feed") for url in run.site.feeds]
    if isinstance(run.site.sitemaps, tuple):
        return [*((url, "sitemap") for url in run.site.sitemaps), *roots]
    if run.site.sitemaps == "none":
        return roots
    found: list[str] = []
    for origin in dict.fromkeys(origin_of(url) for url in run.site.start_urls):
        named = await asker.sitemaps(origin + "/")
        found.extend(_canonical(named, origin + "/") or [f"{origin}/sitemap.xml"])
    return [*((url, "sitemap") for url in found), *roots]


async def _read(run: SiteRun, visit: Visit, state: State, asker: Asker, url: str, kind: str) -> Source:
    """Revalidate one source and store what it lists; a failed one keeps its last listing."""
    last = discovery.source(state, url)
    if last is not None and last.visit == visit.visit:
        return last
    ask = Ask(
        url,
        Purpose.SITEMAP,
        etag=last.etag if last else None,
        last_modified=last.last_modified if last else None,
    )
    answer, observations = await _ask(run, asker, ask, held=last is not None)
    if isinstance(answer, NotModified) and last is not None:
        return _store(state, _again(last, visit), None, observations)
    if not isinstance(answer, Response) or answer.status != 200:
        problem = observations[-1].error or f"answered {observations[-1].status}"
        return _store(state, _failed(last, visit, url, kind, observations[-1].status, problem), None, observations)
    return _store_content(run, visit, state, last, answer, url, kind, observations)


async def _ask(
    run: SiteRun, asker: Asker, ask: Ask, held: bool
) -> tuple[Response | NotModified | object, list[Observation]]:
    """Ask for a source, following a few redirects by hand; conditions go to the first URL only."""
    observations: list[Observation] = []
    for _ in range(_HOPS + 1):
        answer = await asker.ask(ask, run.site.politeness.fetch_concurrency)
        meaning = classify(ask, answer, held)
        settled = meaning if isinstance(meaning, Outcome) else Outcome.ERROR
        if isinstance(answer, Redirected):
            target, _, reason = asker.resolve(ask.url, answer.location, page=False)
            observations.append(asker.observe(ask, answer, Outcome.MOVED if target else Outcome.ERROR, reason or None))
            if target is None:
                return answer, observations
            ask = Ask(target, Purpose.SITEMAP)
            continue
        observations.append(asker.observe(ask, answer, settled))
        if meaning is not Step.ASK_UNCONDITIONALLY:
            return answer, observations
        ask = Ask(ask.url, Purpose.SITEMAP, no_cache=True)
    return answer, observations


def _store_content(
    run: SiteRun,
    visit: Visit,
    state: State,
    last: Source | None,
    answer: Response,
    url: str,
    kind: str,
    observations: list[Observation],
) -> Source:
    digest = sha256_bytes(answer.body)
    etag, modified = first(answer.headers, "etag"), first(answer.headers, "last-modified")
    if last is not None and last.sha256 == digest:
        return _store(state, _again(last, visit, etag, modified), None, observations)
    content = parse_sitemap(answer.body, url)
    if not content.entries and content.warnings:
        problem = "; ".join(content.warnings[:3])
        return _store(state, _failed(last, visit, url, kind, answer.status, problem), None, observations)
    children = tuple(_canonical((entry.url for entry in content.entries), url)) if content.kind == "index" else ()
    listed = None if content.kind == "index" else _listed(run, content, url)
    source = Source(
        url=url,
        visit=visit.visit,
        kind="feed" if content.kind == "feed" else kind,
        status=answer.status,
        etag=etag,
        last_modified=modified,
        sha256=digest,
        entries=listed.num_rows if listed is not None else 0,
        children=children,
        problem="; ".join(content.warnings[:3]) or None,
    )
    return _store(state, source, listed, observations, content.complete)


def _listed(run: SiteRun, content: SitemapContent, base: str) -> pa.Table:
    """The entries that belong to the site, in canonical form; the first of a URL wins."""
    scope, strip = run.site.scope_rules, run.site.scope.strip_params
    found: dict[str, str | None] = {}
    for entry in content.entries:
        try:
            url = canonical_url(entry.url, base, strip)
        except InvalidUrl:
            continue
        if scope.contains(url):
            found.setdefault(url, entry.lastmod)
    return pa.table({"url": pa.array(list(found), pa.string()), "lastmod": pa.array(list(found.values()), pa.string())})


def _canonical(urls: Iterable[str], base: str) -> list[str]:
    found = []
    for url in urls:
        try:
            found.append(canonical_url(url, base))
        except InvalidUrl:
            continue
    return list(dict.fromkeys(found))


def _again(last: Source, visit: Visit, etag: str | None = None, modified: str | None = None) -> Source:
    return Source(
        last.url,
        visit.visit,
        last.kind,
        last.status,
        etag or last.etag,
        modified or last.last_modified,
        last.sha256,
        last.entries,
        last.children,
        None,
    )


def _failed(last: Source | None, visit: Visit, url: str, kind: str, status: int | None, problem: str) -> Source:
    """What a failed reading leaves: the last listing and children, no validators that were not earned by a body."""
    if last is None:
        return Source(url, visit.visit, kind, status, None, None, None, 0, (), problem)
    return Source(
        url,
        visit.visit,
        last.kind,
        status,
        last.etag,
        last.last_modified,
        last.sha256,
        last.entries,
        last.children,
        problem,
    )


def _store(
    state: State,
    source: Source,
    listed: pa.Table | None,
    observations: list[Observation],
    complete: bool = True,
) -> Source:
    discovery.store(state, source, listed, complete, observations)
    reached(DurableStep.SOURCES_STORED)
    return source


def _report(visit: Visit, read: list[Source], merged: MergeReport, known: int) -> Report:
    numbers: dict[str, int | float] = {
        "sources read": len(read),
        "sources failed": sum(source.problem is not None for source in read),
        "entries": sum(source.entries for source in read),
        "new": merged.new,
        "unlisted": merged.unlisted,
        "hinted": merged.hinted,
        "pages known": known,
    }
    notes = {source.url: source.problem for source in read if source.problem}
    if merged.shrunk:
        notes["sitemap_shrink_limit"] = "the listing shrank suddenly: nothing was unlisted"
    if merged.stamped:
        notes["lastmod"] = "nearly every lastmod moved at once: it looks like a build stamp and was ignored"
    if merged.dropped:
        notes["scope.max_pages"] = f"{merged.dropped} listed URLs do not fit under scope.max_pages and were left out"
    return Report(visit.visit, numbers, notes)
