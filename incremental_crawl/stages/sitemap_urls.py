"""Stage 1: read robots.txt, sitemaps and feeds, and bring what they list into the frontier. Opens the visit."""

from __future__ import annotations

import asyncio
from collections import deque

from incremental_crawl.semantics.urls import origin_of
from incremental_crawl.stages.asking import Asker, asking
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.stages.source_reading import SourceReader, canonical_urls
from incremental_crawl.storage import discovery, known_urls, visits
from incremental_crawl.storage.discovery import MergeReport, Source
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

STAGE = "sitemap_urls"
MAX_SITEMAP_DEPTH = 5
MAX_SOURCES = 10_000


def run(run: SiteRun) -> Report:
    """Open (or resume) the visit and read its sources. Raises `VisitRefused` for a day that is past."""
    with run.state(STAGE) as state:
        visit = visits.enter(state, run.day, run.clock(), run.options, run.run_id)
        if visits.stage_done(state, visit.visit, STAGE):
            return Report(visit.visit, notes={"resumed": "the sources of this visit were read before"})
        known_urls.add_start_urls(state, run.site.start_urls, visit.opened_at)
        asked_for = [url for url in visit.only_urls if run.site.scope_rules.contains(url)]
        known_urls.add_found(state, asked_for, "asked", 0, visit.opened_at, len(asked_for))
        read = asyncio.run(_read_all(run, visit, state))
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
        return _report(visit, read, merged, known_urls.count(state))


async def _read_all(run: SiteRun, visit: Visit, state: State) -> list[Source]:
    """Read every source once, indexes before their children, breadth first."""
    read: list[Source] = []
    async with asking(run, visit, state) as asker:
        reader = SourceReader(run, visit, state, asker)
        queue = deque((url, kind, 0) for url, kind in await _roots(run, visit, state, asker))
        seen: set[str] = set()
        while queue and len(seen) < MAX_SOURCES:
            url, kind, depth = queue.popleft()
            if url in seen:
                continue
            seen.add(url)
            source = await reader.read(url, kind)
            read.append(source)
            run.progress(STAGE, len(read), len(read) + len(queue))
            if depth < MAX_SITEMAP_DEPTH:
                queue.extend((child, kind, depth + 1) for child in source.children)
    return read


async def _roots(run: SiteRun, visit: Visit, state: State, asker: Asker) -> list[tuple[str, str]]:
    """The sources to begin with: as configured, or what robots.txt names, or else the usual place.

    Where robots.txt cannot be read, the last visit's sources stay in force, so that nothing is unlisted.
    """
    feeds = [(url, "feed") for url in run.site.feeds]
    if isinstance(run.site.sitemaps, tuple):
        return [*((url, "sitemap") for url in run.site.sitemaps), *feeds]
    if run.site.sitemaps == "none":
        return feeds
    found: list[str] = []
    for origin in dict.fromkeys(origin_of(url) for url in run.site.start_urls):
        named = await asker.sitemaps(origin + "/")
        if named is None:
            found.extend(discovery.read_before(state, visit.visit))
        found.extend(canonical_urls(named or (), origin + "/") or [f"{origin}/sitemap.xml"])
    return [*((url, "sitemap") for url in found), *feeds]


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
