"""Stage 3: fetch what the plan wants, extract it and decide; validators and records are only proposed here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from incremental_crawl.semantics.answers import Purpose
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.urls import host_of
from incremental_crawl.stages import auditing, link_reading, shared_answers
from incremental_crawl.stages.asking import Asker, asking
from incremental_crawl.stages.batches import Checkpoints
from incremental_crawl.stages.conversation import Conversation
from incremental_crawl.stages.deciding import Decider
from incremental_crawl.stages.in_flight import in_flight
from incremental_crawl.stages.link_planning import LinkPlanner, follows_links, left_out_note
from incremental_crawl.stages.next_step import next_step
from incremental_crawl.stages.page_wishes import PageWishes
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import growth, known_urls, plan, reports, visits
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import PlanRow, Reason
from incremental_crawl.storage.spool import spool_writer
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import BudgetSpent, HostResting

STAGE = "body_snapshots"
FETCH_CHUNK = 200
DECIDE_CHUNK = 128
DECIDE_BYTES = 8_000_000


def run(run: SiteRun) -> Report:
    """Work off the plan until it is empty or the budget is spent. Raises `VisitRefused` where none may be fetched."""
    with run.state(STAGE) as state:
        visit = visits.under_way(state, run.day, "revalidation_sweep")
        if not visits.stage_done(state, visit.visit, STAGE):
            asyncio.run(_work_off(run, visit, state))
            with state.transaction():
                shared_answers.settle_fetch(run, visit, state)
                known_urls.fold(state)
                plan.carry_over(state, visit.visit)
                visits.mark_stage(state, visit.visit, STAGE, run.clock())
            reached(DurableStep.JOURNAL_FOLDED)
        return _report(run, visit, state)


def _report(run: SiteRun, visit: Visit, state: State) -> Report:
    numbers, notes = reports.count_visit(state, visit.visit).numbers(), {}
    if open_requests := plan.open_requests(state, visit.visit):
        notes["budget"] = f"{open_requests} planned pages were not fetched: they come first next time"
    if not numbers["failed"] and (step := next_step(run, visit, state)):
        notes["next step"] = step
    left = [row for row in growth.left_out(state, visit.visit) if row.found_in == growth.LINKS]
    if left:
        numbers["links left out"] = sum(row.left_count for row in left)
    return Report(visit.visit, numbers, notes | {f"links: {row.reason}": left_out_note(row, run.site) for row in left})


async def _work_off(run: SiteRun, visit: Visit, state: State) -> None:
    async with asking(run, visit, state) as asker:
        with spool_writer(run.layout.spool, visit.visit) as spool:
            checkpoints = Checkpoints(run, visit, state, asker, spool)
            follows = follows_links(run, state)
            wishes = PageWishes(run, follows)
            planner = LinkPlanner(run, visit, state, wishes, asker.sequence) if follows else None
            decider = Decider(run, visit, state, asker, wishes, planner)
            if planner is not None:
                link_reading.read_kept(run, visit, state, planner)
            while True:
                while undecided := plan.undecided(state, visit.visit, DECIDE_CHUNK):
                    await decider.decide(_bounded(undecided))
                    _tell(run, visit, state)
                todo = plan.todo(state, visit.visit, FETCH_CHUNK)
                if not todo and auditing.plan_recheck(visit, state):
                    continue
                if not todo or not asker.budget.left():
                    return
                await _fetch(run, state, asker, checkpoints, todo)


def _bounded(rows: Sequence[PlanRow]) -> Sequence[PlanRow]:
    """As many of the rows as fit into memory together, at least one."""
    size = 0
    for at, row in enumerate(rows):
        size += row.body_bytes or 0
        if size > DECIDE_BYTES and at:
            return rows[:at]
    return rows


async def _fetch(run: SiteRun, state: State, asker: Asker, checkpoints: Checkpoints, rows: Sequence[PlanRow]) -> None:
    limit = run.site.politeness.fetch_concurrency
    pages = known_urls.by_url(state, [row.url for row in rows])
    work = [(row, pages.get(row.url) or PageState(row.url, row.source, row.depth)) for row in rows]

    async def ask(item: tuple[PlanRow, PageState]) -> Conversation:
        row, page = item
        if row.reason is Reason.AUDIT:
            return await asker.page(page, Purpose.AUDIT, limit, no_cache=True)
        if row.reason is Reason.RECHECK:
            return await asker.page(page, Purpose.FETCH, limit, no_cache=True)
        return await asker.page(page, Purpose.FETCH, limit)

    lane = None if len(run.site.hosts) == 1 else _lane
    async with aclosing(in_flight(iter(work), ask, limit, lane)) as results:
        async for (row, page), talk in results:
            if isinstance(talk, HostResting):
                checkpoints.not_asked(page, row, asker.not_before(page.url))
            elif not isinstance(talk, BudgetSpent):
                checkpoints.heard(page, talk, row)
            if checkpoints.full:
                checkpoints.commit()
    checkpoints.commit()


def _lane(item: tuple[PlanRow, PageState]) -> str:
    return host_of(item[0].url)


def _tell(run: SiteRun, visit: Visit, state: State) -> None:
    total = plan.planned(state, visit.visit)
    run.progress(STAGE, total - plan.open_requests(state, visit.visit), total)
