"""Stage 4: make the visit's records current, in one transaction with the validators that vouch for them.

Without an open visit the stage re-parses: it extracts the kept bodies of past visits again and sends no request.
"""

from __future__ import annotations

from datetime import date

from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.gate import judge
from incremental_crawl.stages import reparsing
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import decisions, known_urls, plan, reports, visits
from incremental_crawl.storage.rows import Journalled
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

STAGE = "page_records"


def run(run: SiteRun, last_day: date | None = None) -> Report:
    """Fold the open visit of the day, or re-parse the kept bodies of `run.day` to `last_day`.

    Raises `VisitRefused` where the day's visit waits or is not ready, or where no body of those days is kept.
    """
    last = last_day or run.day
    with run.state(STAGE) as state:
        visit = visits.open_on(state, run.day) if last == run.day else None
        if visit is None and (last != run.day or visits.waiting_on(state, run.day) is None):
            return reparsing.reparse(run, state, run.day, last)
        visit = visits.under_way(state, run.day, "body_snapshots")
        if not visits.stage_done(state, visit.visit, STAGE):
            _fold(run, visit, state)
        visit = visits.by_number(state, visit.visit)
        notes = {"gate": visit.gate_reason} if visit.gate_reason and not visit.approved else {}
        return Report(visit.visit, reports.count_visit(state, visit.visit).numbers(), notes)


def _fold(run: SiteRun, visit: Visit, state: State) -> None:
    decision = judge(decisions.count_churn(state, visit.visit, at_sweep=False), run.gate_limits)
    if decision.closed and not visit.approved:
        visits.close_gate(state, visit.visit, STAGE, decision.reason, decision.incomplete)
        return
    decisions.fold_proposals(state, visit.visit, _moved_sources(run, visit, state), run.clock())


def _moved_sources(run: SiteRun, visit: Visit, state: State) -> list[Journalled]:
    """The rows of permanent redirects' sources; they are moved only now that the target's record is there."""
    moves = decisions.moved_sources(state, visit.visit)
    pages = known_urls.by_url(state, [source for source, *_ in moves])
    seq = plan.next_seq(state, visit.visit)
    rows = []
    for at, (source, target, status, observed_at, found) in enumerate(moves):
        if source not in pages:
            continue
        moment = run.moment(visit, observed_at)
        if found:
            page = lifecycle.moved(pages[source], target, status, moment, run.cadence)
        else:
            page = lifecycle.failed(pages[source], moment, run.cadence)
        rows.append(Journalled(seq + at, page))
    return rows
