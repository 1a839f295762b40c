"""What the gates say: read by the blocking checks and by the commands for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from incremental_crawl.semantics.record_diff import diff_records
from incremental_crawl.stages import records
from incremental_crawl.stages.records_of import record_value, tracked_fields
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import blocks, decisions, plan, visits
from incremental_crawl.storage.blocks import BlockedHost
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.state import State, open_state
from incremental_crawl.storage.visits import Visit, VisitRefused, VisitStatus

_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class GateReport:
    """Whether the visit may go on past a gate, in numbers and a sentence."""

    passed: bool
    sentence: str
    numbers: dict[str, int | float]


@dataclass(frozen=True, slots=True)
class WaitingPlan:
    """A plan that waits for a person."""

    visit: int
    day: date
    opened_at: datetime
    gate: str
    reason: str
    incomplete: bool
    pages: int
    by_reason: dict[str, int]
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnfinishedVisit:
    """A visit that was begun and is not published yet."""

    visit: int
    day: date
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """What of a site is not as it should be: plans that wait, an unfinished visit, hosts that let nothing through."""

    waiting: list[WaitingPlan]
    unfinished: UnfinishedVisit | None
    blocked: list[BlockedHost]


def gate_report(run: SiteRun, stage: str) -> GateReport:
    """What the gate after `stage` decided about the day's visit under way, else about its newest."""
    with run.state(f"check after {stage}") as state:
        visit = visits.open_on(state, run.day) or visits.latest_on(state, run.day)
        if visit is None:
            return GateReport(True, "no visit of this day", {})
        numbers: dict[str, int | float] = {"visit": visit.visit}
        if visit.status in (VisitStatus.OPEN, VisitStatus.WAITING):
            churn = decisions.count_churn(state, visit.visit, at_sweep=stage == "revalidation_sweep")
            numbers |= {"checked": churn.checked, "compared": churn.compared, "changed": churn.changed}
            numbers |= {"gone": churn.gone, "failed": churn.failed}
        if visit.status is VisitStatus.WAITING and visit.gate_stage == stage:
            site = run.site.name
            sentence = (
                f"visit {visit.visit} waits for a person: {visit.gate_reason}. "
                f"Look at `incremental-crawl review {site}`, then `incremental-crawl approve {site}` "
                f"or `incremental-crawl reject {site}`"
            )
            return GateReport(False, sentence, numbers)
        if visit.approved and visit.gate_stage == stage:
            return GateReport(True, f"approved at {visit.approved_at}: {visit.gate_reason}", numbers)
        return GateReport(True, "within the limits", numbers)


def waiting_plans(run: SiteRun) -> list[WaitingPlan]:
    """The site's waiting plans, oldest first."""
    with run.state("review") as state:
        return [_waiting_plan(run, state, visit) for visit in visits.waiting(state)]


def standing(run: SiteRun) -> Standing:
    """What waits, what is unfinished, and what is blocked."""
    with run.state("status") as state:
        visit = visits.current(state)
        unfinished = UnfinishedVisit(visit.visit, visit.day, visit.opened_at) if visit is not None else None
        waiting = [_waiting_plan(run, state, stopped) for stopped in visits.waiting(state)]
        return Standing(waiting, unfinished, blocks.blocked_hosts(state))


def approve(run: SiteRun, even_if_incomplete: bool) -> Visit:
    """Let the oldest waiting plan go on. Raises `VisitRefused` where there is none, or another visit is under way."""
    with run.state("approve") as state:
        visit = _oldest_waiting(run, state)
        unfinished = visits.current(state)
        if unfinished is not None:
            raise VisitRefused(
                f"visit {unfinished.visit} of {unfinished.day} is under way: "
                f"let `incremental-crawl crawl {run.site.name}` finish it, then approve"
            )
        if visit.gate_incomplete and not even_if_incomplete:
            raise VisitRefused(
                f"visit {visit.visit} is incomplete ({visit.gate_reason}): crawl again once the site answers, or "
                "approve with --even-if-incomplete"
            )
        visits.approve(state, visit.visit, run.clock())
        return visits.by_number(state, visit.visit)


def reject(run: SiteRun) -> Visit:
    """Drop the oldest waiting plan; its pages are due at their next cadence. Raises `VisitRefused` where none waits."""
    with run.state("reject") as state:
        visit = _oldest_waiting(run, state)
        visits.reject(state, visit, run.cadence.after_check(run.clock()))
        records.publish_ended(run, state)
        return visits.by_number(state, visit.visit)


def day_to_run(layout: SiteLayout, now: datetime, wait_s: float) -> date:
    """The partition that a new run belongs to: the day of the visit under way, else today (UTC)."""
    if not layout.state_file.exists():
        return now.date()
    with open_state(layout, "look for an open visit", now, wait_s) as state:
        visit = visits.current(state)
        return visit.day if visit is not None else now.date()


def _oldest_waiting(run: SiteRun, state: State) -> Visit:
    stopped = visits.waiting(state)
    if not stopped:
        raise VisitRefused(f"no plan of {run.site.name} is waiting")
    return stopped[0]


def _waiting_plan(run: SiteRun, state: State, visit: Visit) -> WaitingPlan:
    by_reason = plan.by_reason(state, visit.visit)
    return WaitingPlan(
        visit=visit.visit,
        day=visit.day,
        opened_at=visit.opened_at,
        gate=visit.gate_stage or "",
        reason=visit.gate_reason or "",
        incomplete=visit.gate_incomplete,
        pages=sum(by_reason.values()),
        by_reason=by_reason,
        samples=tuple(_samples(run, state, visit)),
    )


def _samples(run: SiteRun, state: State, visit: Visit) -> list[str]:
    """Three diffs where the plan was decided already, else three of its addresses."""
    texts = []
    for url, page_type, old, new in plan.changed_samples(state, visit.visit, _SAMPLES):
        tracked = tracked_fields(run.site, page_type)
        texts.append(f"{url}\n{diff_records(record_value(old), record_value(new), tracked).diff}")
    return texts or plan.sample_urls(state, visit.visit, _SAMPLES)
