"""Stage 2: ask the due pages conditionally and plan the rest.

A 304 settles a page here and now. A 200's body goes to the spool, never to be downloaded twice. Pages that no
condition can be sent for go straight to the plan.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

from incremental_crawl.semantics.answers import Purpose
from incremental_crawl.semantics.gate import GateDecision, judge
from incremental_crawl.semantics.trust import TrustMode
from incremental_crawl.semantics.urls import host_of
from incremental_crawl.stages import auditing, rules_in_force, shared_answers
from incremental_crawl.stages.asking import Asker, asking
from incremental_crawl.stages.batches import Checkpoints
from incremental_crawl.stages.conversation import Conversation
from incremental_crawl.stages.fingerprints import fingerprints
from incremental_crawl.stages.in_flight import in_flight
from incremental_crawl.stages.link_planning import cut_rule, follows_links, links_rule
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import decisions, known_urls, plan, reports, visits
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import Due
from incremental_crawl.storage.spool import spool_writer
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import BudgetSpent, HostResting

STAGE = "revalidation_sweep"


def run(run: SiteRun) -> Report:
    """Sweep the due pages of the day's visit, draw the audit, and let the gate judge the numbers."""
    with run.state(STAGE) as state:
        visit = visits.enter(state, run.day, run.clock(), run.options, run.run_id)
        if not visits.stage_done(state, visit.visit, STAGE):
            _sweep(run, visit, state)
        counts = reports.count_visit(state, visit.visit).numbers()
        known = {name: count for name, count in counts.items() if name not in reports.AFTER_THE_SWEEP}
        planned = {"planned": plan.planned(state, visit.visit)}
        notes = {"gate": visit.gate_reason} if visit.gate_reason else {}
        return Report(visit.visit, known | planned, notes)


def _sweep(run: SiteRun, visit: Visit, state: State) -> None:
    _prepare(run, visit, state)
    visits.set_due(state, visit.visit, known_urls.count_due(state, visit, visit.opened_at))
    links = (links_rule(run), cut_rule(run)) if follows_links(run, state) else ()
    prints = fingerprints(run, state).by_origin
    due = known_urls.select_due(state, visit, visit.opened_at, prints, links, run.site.scope.max_depth)
    first = plan.next_seq(state, visit.visit)
    plan.plan_unconditional(state, visit.visit, first)
    reached(DurableStep.BATCH_COMMITTED)
    asyncio.run(_ask_all(run, visit, state, due))
    with state.transaction():
        shared_answers.settle_sweep(run, visit, state)
        known_urls.fold(state)
        auditing.draw(run, visit, state)
        _close_gate(state, visit, _judged(run, visit, state))
        visits.mark_stage(state, visit.visit, STAGE, run.clock())
    reached(DurableStep.JOURNAL_FOLDED)


def _prepare(run: SiteRun, visit: Visit, state: State) -> None:
    """Let go of plans nobody decided about, and mark records that other rules made."""
    for forgotten in (*visits.expired(state, visit.opened_at, run.body_window), *visits.superseded(state)):
        visits.reject(state, forgotten, visit.opened_at)
    known_urls.add_given(state, run.site.start_urls, "start", visit.opened_at)
    scope, start = run.site.scope_rules, frozenset(run.site.start_urls)
    known_urls.leave_out(state, lambda url: url in start or scope.contains(url))
    rules_in_force.apply(run, state)


async def _ask_all(run: SiteRun, visit: Visit, state: State, total: int) -> None:
    limit = run.site.politeness.sweep_concurrency
    done = 0
    async with asking(run, visit, state) as asker:
        with spool_writer(run.layout.spool, visit.visit) as spool:
            checkpoints = Checkpoints(run, visit, state, asker, spool)

            async def ask(due: Due) -> Conversation:
                if due.mode is TrustMode.HASH_ONLY:
                    return await asker.head(due.page, Purpose.SWEEP, limit)
                return await asker.page(due.page, Purpose.SWEEP, limit, due.mode)

            lane = None if len(run.site.hosts) == 1 else _lane
            async with aclosing(in_flight(_pages(state, visit, asker), ask, limit, lane)) as results:
                async for due, talk in results:
                    done += 1
                    if isinstance(talk, HostResting):
                        checkpoints.not_asked(due.page, None, asker.not_before(due.page.url))
                    elif not isinstance(talk, BudgetSpent) and due.mode is TrustMode.HASH_ONLY:
                        checkpoints.heard_head(due.page, talk)
                    elif not isinstance(talk, BudgetSpent):
                        checkpoints.heard(due.page, talk, None)
                    if checkpoints.full:
                        checkpoints.commit()
                        run.progress(STAGE, done, total)
            checkpoints.commit()
    run.progress(STAGE, done, total)


def _lane(due: Due) -> str:
    return host_of(due.page.url)


def _pages(state: State, visit: Visit, asker: Asker) -> Iterator[Due]:
    """The pages to ask, as long as the budget leaves room for what is planned already."""
    reserved = plan.open_requests(state, visit.visit)
    for chunk in known_urls.due_conditionally(state):
        for due in chunk:
            left = asker.budget.requests_left
            if left is not None and left <= reserved:
                return
            yield due


def _judged(run: SiteRun, visit: Visit, state: State) -> GateDecision:
    return judge(decisions.count_churn(state, visit.visit, at_sweep=True), run.gate_limits)


def _close_gate(state: State, visit: Visit, decision: GateDecision) -> None:
    if decision.closed and not visit.approved:
        visits.close_gate(state, visit.visit, STAGE, decision.reason, decision.incomplete)
