"""Stage 1: read robots.txt, sitemaps and feeds, and bring what they list into the frontier. Opens the visit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from incremental_crawl.semantics.hints import HintLedger, Reading, reliability
from incremental_crawl.stages.asking import asking
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.stages.source_roots import SourceRoots
from incremental_crawl.stages.source_table import believed_sentence, markdown_table, shrunk_sentence, source_lines
from incremental_crawl.storage import discovery, growth, hints, known_urls, visits
from incremental_crawl.storage.discovery import MergeReport, Source
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.growth import LeftOut
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

STAGE = "sitemap_urls"
SOURCES_TABLE = "sources"
_MOST_TOLD = 10


def run(run: SiteRun) -> Report:
    """Open (or resume) the visit and read its sources. Raises `VisitRefused` for a day that is past."""
    with run.state(STAGE) as state:
        visit = visits.enter(state, run.day, run.clock(), run.options, run.run_id)
        if visits.stage_done(state, visit.visit, STAGE):
            return Report(visit.visit, notes={"resumed": "the sources of this visit were read before"})
        known_urls.add_given(state, run.site.start_urls, "start", visit.opened_at)
        asked_for = [url for url in visit.only_urls if run.site.scope_rules.contains(url)]
        known_urls.add_given(state, asked_for, "asked", visit.opened_at)
        read, warnings = asyncio.run(_read(run, visit, state))
        with state.transaction():
            merged = discovery.merge(
                state,
                visit.visit,
                visit.opened_at,
                run.cadence.minimum,
                run.site.scope.sitemap_shrink_limit,
                run.site.scope.max_pages,
                run.site.scope_rules.contains,
            )
            if merged.dropped:
                left_out = LeftOut(growth.LISTINGS, growth.MAX_PAGES, merged.dropped)
                growth.note_left_out(state, visit.visit, [left_out])
            visits.mark_stage(state, visit.visit, STAGE, run.clock())
        reached(DurableStep.SOURCES_STORED)
        return _report(run, visit, state, read, warnings, merged)


async def _read(run: SiteRun, visit: Visit, state: State) -> tuple[list[Source], dict[str, str]]:
    async with asking(run, visit, state) as asker:
        roots = SourceRoots(run, visit, state, asker)
        return await roots.read(), roots.warnings


def _report(
    run: SiteRun, visit: Visit, state: State, read: list[Source], warnings: dict[str, str], merged: MergeReport
) -> Report:
    own = [source for source in read if not source.is_guess]
    entries = sum(source.entries for source in own)
    numbers: dict[str, int | float] = {
        "sources read": len(own),
        "sources failed": sum(source.problem is not None for source in own),
        "entries": entries,
        "new": merged.new,
        "unlisted": merged.unlisted,
        "unchanged": max(0, entries - merged.new),
        "hinted": merged.hinted,
        "pages known": known_urls.count(state),
    }
    counts = discovery.listing_counts(state, visit.opened_at)
    known = hints.ledgers(state)
    reliable = {root: reliability(ledger) for root, ledger in known.items()}
    table = markdown_table(source_lines(read, counts, merged.guarded.unlisted, reliable))
    notes = _source_notes(own, warnings) | _merge_notes(run, merged) | _lastmod_notes(known.values())
    return Report(visit.visit, numbers, notes, {SOURCES_TABLE: table} if read else {})


def _source_notes(read: list[Source], warnings: dict[str, str]) -> dict[str, str]:
    """Why sources failed and what was wrong in them, with line and column; the first few."""
    notes = warnings | {source.url: text for source in read if (text := source.problem or source.warnings)}
    told = dict(list(notes.items())[:_MOST_TOLD])
    if len(notes) > len(told):
        told["further sources"] = f"{len(notes) - len(told)} more have problems or warnings"
    return told


def _lastmod_notes(known: Iterable[HintLedger]) -> dict[str, str]:
    """What is wrong with the dates of whole listings: what hints at nothing, for it would hint at everything."""
    wrong = [own for own in known if own.reading in (Reading.STAMP, Reading.ALL_EQUAL)]
    told = [f"{own.root}: {reliability(own)}" for own in wrong[:_MOST_TOLD]]
    return {"lastmod": "; ".join(told)} if told else {}


def _merge_notes(run: SiteRun, merged: MergeReport) -> dict[str, str]:
    notes = {}
    shrunk = [shrunk_sentence(each, run.site.name) for each in merged.guarded.held]
    shrunk += [believed_sentence(each) for each in merged.guarded.believed]
    if shrunk:
        notes["sitemap_shrink_limit"] = "; ".join(shrunk)
    if merged.dropped:
        notes["scope.max_pages"] = f"{merged.dropped} listed URLs do not fit under scope.max_pages and were left out"
    return notes
