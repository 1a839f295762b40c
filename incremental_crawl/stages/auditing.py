"""The audit of 304s: some pages that were just confirmed are fetched all the same, and a false 304 has consequences."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from incremental_crawl.semantics.answers import Purpose
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.trust import (
    UNPROVEN_AUDITS,
    Evidence,
    Ledger,
    TrustMode,
    audit_share,
    distrusts,
)
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.cases import EVIDENCE, Case
from incremental_crawl.stages.conversation import Conversation
from incremental_crawl.stages.in_flight import in_flight
from incremental_crawl.stages.second_loads import SecondLoads
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import ledger, plan
from incremental_crawl.storage.rows import Observation, Reason
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import BudgetSpent

_WAVERING = "seemed changed although it was answered 304, but a second load was another one: it is asked again later"


def draw(run: SiteRun, visit: Visit, state: State) -> None:
    """Plan the audit of this visit's 304s; to be called in the transaction that ends the sweep.

    Twice the share is drawn while the site's 304s are unproven, ten times in path groups that answered a false one.
    """
    groups = ledger.all_groups(state)
    base = run.site.revalidation.audit_share
    raised = {(own.host, own.path_group): audit_share(base, own) for own in groups if audit_share(base, own) > base}
    proven = sum(own.clean_audits for own in groups) >= UNPROVEN_AUDITS
    share = base if proven else min(1.0, 2 * base)
    plan.plan_audit(state, visit.visit, share, raised, plan.next_seq(state, visit.visit))


def plan_recheck(visit: Visit, state: State) -> bool:
    """Plan what a path group had confirmed whose 304s this visit proved to be worth nothing; whether there was any."""
    if not ledger.has_accusations(state, visit.visit):
        return False
    accused = {key: own for key, own in ledger.evidence(state, visit.visit).items() if own.accuses}
    known = {(own.host, own.path_group): own for own in ledger.all_groups(state)}
    guilty = [key for key, own in accused.items() if _is_distrusted(known.get(key) or Ledger(*key), own)]
    before = plan.open_requests(state, visit.visit)
    if guilty:
        ledger.plan_recheck(state, visit.visit, guilty, plan.next_seq(state, visit.visit))
    return plan.open_requests(state, visit.visit) > before


def _is_distrusted(own: Ledger, seen: Evidence) -> bool:
    return distrusts(own, seen) or (own.head_trusted and seen.head_disagreed > 0)


class Auditor:
    """Questions audited pages that differ from what is held, before their server is accused of a false 304."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker, second_loads: SecondLoads) -> None:
        self._visit = visit
        self._state = state
        self._asker = asker
        self._second_loads = second_loads
        self._limit = run.site.politeness.fetch_concurrency

    async def question(self, cases: Sequence[Case]) -> list[Observation]:
        """Load each again (is it noise?), then ask conditionally again (is it a race?): only then a 304 was false."""
        suspected = [case for case in cases if case.row.reason is Reason.AUDIT and case.is_changed]
        if not suspected:
            return []
        observations = await self._second_loads.question([case for case in suspected if not case.pairs], _WAVERING)
        persisting = [case for case in suspected if case.is_changed]
        return observations + await self._ask_again(persisting)

    async def _ask_again(self, cases: Sequence[Case]) -> list[Observation]:
        """Send the very condition again that was answered 304."""
        observations: list[Observation] = []
        urls = [case.page.url for case in cases]
        groups = ledger.of_urls(self._state, urls)
        by_head = ledger.confirmed_by_head(self._state, self._visit.visit, urls)

        async def ask(case: Case) -> Conversation:
            if case.page.url in by_head:
                return await self._asker.head(case.page, Purpose.CONFIRM, self._limit)
            own = groups.get(case.page.url)
            # A hash-only page that was asked conditionally tried everything.
            mode = TrustMode.BOTH if own is None or own.mode is TrustMode.HASH_ONLY else own.mode
            return await self._asker.page(case.page, Purpose.CONFIRM, self._limit, mode)

        async with aclosing(in_flight(iter(cases), ask, self._limit)) as results:
            async for case, talk in results:
                if isinstance(talk, BudgetSpent):
                    case.put_off(_WAVERING)
                    continue
                observations.extend(talk.observations)
                if talk.outcome is not Outcome.NOT_MODIFIED:
                    case.evidence = EVIDENCE[Reason.MODIFIED]
        return observations
