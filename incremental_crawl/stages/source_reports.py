"""What is said of a site's sources outside its visits: by the check `sources_readable` and by `status`."""

from __future__ import annotations

from collections.abc import Sequence

from incremental_crawl.semantics.hints import reliability
from incremental_crawl.stages.gates import GateReport
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.stages.source_table import SourceLine, short, shrunk_sentence, source_lines
from incremental_crawl.storage import discovery, hints, listing_guard, visits
from incremental_crawl.storage.discovery import Source

_MOST_TOLD = 5


def source_standing(run: SiteRun) -> list[SourceLine]:
    """The sources as the newest visit read them, for `status`."""
    with run.state("status") as state:
        visit = visits.latest(state)
        if visit is None:
            return []
        counts = discovery.listing_counts(state, visit.opened_at)
        read = (source for source in discovery.read_last(state) if not source.is_guess)
        reliable = {root: reliability(ledger) for root, ledger in hints.ledgers(state).items()}
        return source_lines(read, counts, {}, reliable)


def sources_report(run: SiteRun) -> GateReport:
    """Whether the sources of the day's visit could be read, list pages of the site, and none shrank suddenly."""
    with run.state("check of the sources") as state:
        visit = visits.open_on(state, run.day) or visits.latest_on(state, run.day)
        if visit is None:
            return GateReport(True, "no visit of this day", {})
        read = [source for source in discovery.read_in(state, visit.visit) if not source.is_guess]
        shrunk = listing_guard.shrunk(state)
    empty = _empty_roots(read)
    bad = [source for source in read if source.problem or not source.complete]
    numbers: dict[str, int | float] = {
        "sources": len(read),
        "failed": sum(source.problem is not None for source in read),
        "read in part": sum(source.problem is None and not source.complete for source in read),
        "empty": len(empty),
        "shrunk": len(shrunk),
    }
    told = [f"{source.url}: {short(source.problem or source.warnings or 'read in part')}" for source in bad]
    told += [f"{source.url}: {short(source.warnings or 'lists nothing')}" for source in empty]
    told += [shrunk_sentence(each, run.site.name) for each in shrunk]
    if told:
        more = f"\nand {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
        return GateReport(False, "\n".join(told[:_MOST_TOLD]) + more, numbers)
    return GateReport(True, f"{len(read)} sources could be read" if read else "no sitemap or feed was found", numbers)


def _empty_roots(read: Sequence[Source]) -> list[Source]:
    """Roots that somebody named and that list no page of the site, their sitemaps included."""
    entries: dict[str, int] = {}
    for source in read:
        root = source.root or source.url
        entries[root] = entries.get(root, 0) + source.entries
    named = (source for source in read if source.found and source.found_by in discovery.NAMED)
    return [source for source in named if not entries[source.url]]
