"""Stage 5: confirm what disappeared by a second request, then bury it. Above the gate nothing is buried."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.answers import Purpose
from incremental_crawl.semantics.gate import judge
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.stages.asking import Asker, asking
from incremental_crawl.stages.conversation import Conversation
from incremental_crawl.stages.in_flight import in_flight
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import decisions, known_urls, plan, reports, visits
from incremental_crawl.storage.rows import Journalled, Observation, Suspect, SuspectState
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import BudgetSpent

STAGE = "tombstones"
_CHUNK = 500


@dataclass(slots=True)
class _Decided:
    """Rows of one checkpoint of confirmations."""

    suspects: list[Suspect] = field(default_factory=list)
    journal: list[Journalled] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    confirmed_at: dict[str, datetime] = field(default_factory=dict)


def run(run: SiteRun) -> Report:
    """Confirm and bury the visit's suspects. Raises `VisitRefused` where the visit is not ready."""
    with run.state(STAGE) as state:
        stopped = visits.waiting_on(state, run.day) if visits.open_on(state, run.day) is None else None
        if stopped is not None:
            return Report(stopped.visit, notes={"gate": stopped.gate_reason or "waiting"})
        visit = visits.under_way(state, run.day, "body_snapshots")
        if not visits.stage_done(state, visit.visit, STAGE):
            stopped_by = _gate(run, visit, state)
            if stopped_by is not None:
                return Report(visit.visit, {"suspects": len(plan.suspects(state, visit.visit))}, {"gate": stopped_by})
            asyncio.run(_confirm_all(run, visit, state))
            decisions.finish_stage(state, visit.visit, STAGE, run.clock())
        counts = reports.count_visit(state, visit.visit)
        return Report(visit.visit, {"gone": counts.gone, "pages live": counts.live})


def _gate(run: SiteRun, visit: Visit, state: State) -> str | None:
    """Why nothing may be buried yet. What page_records has folded passed the same gate, and counts otherwise since."""
    if visit.approved or visits.stage_done(state, visit.visit, "page_records"):
        return None
    decision = judge(decisions.count_churn(state, visit.visit, at_sweep=False), run.gate_limits)
    return decision.reason if decision.closed else None


async def _confirm_all(run: SiteRun, visit: Visit, state: State) -> None:
    suspects = plan.suspects(state, visit.visit)
    if not suspects:
        return
    await _wait(run, suspects)
    async with asking(run, visit, state) as asker:
        for start in range(0, len(suspects), _CHUNK):
            chunk = suspects[start : start + _CHUNK]
            decided = await _confirm(run, visit, state, asker, chunk)
            decided.observations.extend(asker.take_unplaced())
            decisions.bury(
                state, visit.visit, decided.suspects, decided.journal, decided.observations, decided.confirmed_at
            )
            run.progress(STAGE, min(start + _CHUNK, len(suspects)), len(suspects))


async def _wait(run: SiteRun, suspects: Sequence[Suspect]) -> None:
    """Sit out what is left of `confirm_gone_after` since the last of the first answers."""
    unsure = [suspect.first_at for suspect in suspects if suspect.state is SuspectState.SUSPECT]
    if unsure:
        left = run.site.gate.confirm_gone_after - (run.clock() - max(unsure))
        await asyncio.sleep(max(0.0, left.total_seconds()))


async def _confirm(run: SiteRun, visit: Visit, state: State, asker: Asker, suspects: Sequence[Suspect]) -> _Decided:
    pages = known_urls.by_url(state, [suspect.url for suspect in suspects])
    decided = _Decided()
    for suspect in suspects:
        if suspect.state is SuspectState.CERTAIN:
            _bury(run, visit, asker, pages[suspect.url], suspect, suspect.status, suspect.first_at, decided)
    unsure = [suspect for suspect in suspects if suspect.state is SuspectState.SUSPECT]
    limit = run.site.politeness.fetch_concurrency

    async def ask(suspect: Suspect) -> Conversation:
        return await asker.page(pages[suspect.url], Purpose.CONFIRM, limit, no_cache=True)

    async with aclosing(in_flight(iter(unsure), ask, limit)) as results:
        async for suspect, talk in results:
            if isinstance(talk, BudgetSpent):
                _spare(run, visit, asker, pages[suspect.url], suspect, run.clock(), decided)
                continue
            at, status = talk.answer.timing.received_at, talk.observations[-1].status or 404
            if talk.outcome in (Outcome.SUSPECT_GONE, Outcome.GONE):
                decided.observations.extend(replace(row, outcome=Outcome.GONE) for row in talk.observations)
                _bury(run, visit, asker, pages[suspect.url], suspect, status, at, decided)
            else:
                decided.observations.extend(replace(row, outcome=Outcome.SUSPECT_GONE) for row in talk.observations)
                _spare(run, visit, asker, pages[suspect.url], suspect, at, decided)
    return decided


def _bury(
    run: SiteRun,
    visit: Visit,
    asker: Asker,
    page: PageState,
    suspect: Suspect,
    status: int,
    at: datetime,
    decided: _Decided,
) -> None:
    gone = lifecycle.gone(page, status, run.moment(visit, at), run.cadence)
    decided.journal.append(Journalled(next(asker.sequence), gone))
    decided.suspects.append(replace(suspect, seq=next(asker.sequence), status=status, state=SuspectState.GONE))
    decided.confirmed_at[page.url] = at


def _spare(
    run: SiteRun, visit: Visit, asker: Asker, page: PageState, suspect: Suspect, at: datetime, decided: _Decided
) -> None:
    """The second answer was another one: the page stays as it was and is asked again soon."""
    spared = lifecycle.suspect_gone(page, run.moment(visit, at), run.cadence)
    decided.journal.append(Journalled(next(asker.sequence), spared))
    decided.suspects.append(replace(suspect, seq=next(asker.sequence), state=SuspectState.CLEARED))
