"""The audit of 304s: some pages that were just confirmed are fetched all the same, and a false 304 has consequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from incremental_crawl.semantics.answers import Purpose
from incremental_crawl.semantics.audit import Inquiry, Question, Verdict, begin, weigh
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.trust import (
    FALSE_304_LIMIT,
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
from incremental_crawl.stages.judging import Judge
from incremental_crawl.stages.second_loads import SecondLoads
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import ledger, plan
from incremental_crawl.storage.rows import Observation, Reason
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import BudgetSpent

_WAVERING = "seemed changed although it was answered 304, but asking again did not bear it out: it is asked again later"


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


@dataclass(slots=True)
class _Trial:
    """An audited page, what is known of it so far, and the answers to the repeated condition."""

    case: Case
    inquiry: Inquiry
    answers: list[Observation] = field(default_factory=list)

    @property
    def standing(self) -> Verdict | Question:
        """The verdict, or what has to be asked first."""
        return weigh(self.inquiry)


class Auditor:
    """Asks what has to be asked of audited pages that differ from what is held, and does what the verdicts say."""

    def __init__(
        self, run: SiteRun, visit: Visit, state: State, asker: Asker, judge: Judge, second_loads: SecondLoads
    ) -> None:
        self._visit = visit
        self._state = state
        self._asker = asker
        self._judge = judge
        self._second_loads = second_loads
        self._limit = run.site.politeness.fetch_concurrency

    async def question(self, cases: Sequence[Case]) -> list[Observation]:
        """Ask until there is a verdict on each audited page; returns what was observed."""
        observations: list[Observation] = []
        trials = [
            _Trial(case, begin(case.judgement, self._judge.suspected(case), len(case.pairs)))
            for case in cases
            if case.row.reason is Reason.AUDIT and case.judgement is not None
        ]
        while asked := [trial for trial in trials if isinstance(trial.standing, Question)]:
            if unsure := [trial for trial in asked if trial.standing is Question.LOAD]:
                observations += await self._load(unsure)
            if suspected := [trial for trial in asked if trial.standing is Question.CONDITION]:
                await self._ask_again(suspected)
        for trial in trials:
            observations += _settled(trial)
        return observations

    async def _load(self, trials: Sequence[_Trial]) -> list[Observation]:
        moved, observations = await self._second_loads.moved([trial.case for trial in trials])
        for trial, places in zip(trials, moved, strict=True):
            trial.inquiry = trial.inquiry.loaded(places)
        return observations

    async def _ask_again(self, trials: Sequence[_Trial]) -> None:
        """Send the very condition again that was answered 304."""
        urls = [trial.case.page.url for trial in trials]
        groups = ledger.of_urls(self._state, urls)
        by_head = ledger.confirmed_by_head(self._state, self._visit.visit, urls)

        async def ask(trial: _Trial) -> Conversation:
            page = trial.case.page
            if page.url in by_head:
                return await self._asker.head(page, Purpose.CONFIRM, self._limit)
            own = groups.get(page.url)
            # A hash-only page that was asked conditionally tried everything.
            mode = TrustMode.BOTH if own is None or own.mode is TrustMode.HASH_ONLY else own.mode
            return await self._asker.page(page, Purpose.CONFIRM, self._limit, mode)

        followed: Counter[tuple[str, str] | None] = Counter()
        async with aclosing(in_flight(iter(trials), ask, self._limit)) as results:
            async for trial, talk in results:
                if isinstance(talk, BudgetSpent):
                    trial.inquiry = trial.inquiry.answered(Outcome.RETRY_LATER)
                    continue
                trial.answers.extend(talk.observations)
                trial.inquiry = trial.inquiry.answered(talk.outcome)
                own = groups.get(trial.case.page.url)
                group = (own.host, own.path_group) if own else None
                followed[group] += talk.outcome is Outcome.NOT_MODIFIED
                # More proof than it takes is not asked for.
                trial.inquiry = replace(trial.inquiry, spared=followed[group] > FALSE_304_LIMIT)


def _settled(trial: _Trial) -> list[Observation]:
    """Do what the verdict says; a repeated 304 that accuses nobody is noted as one that says nothing."""
    verdict, case = trial.standing, trial.case
    if verdict is Verdict.PUT_OFF:
        case.put_off(_WAVERING)
    if verdict is Verdict.RACE:
        case.evidence = EVIDENCE[Reason.MODIFIED]
    if verdict is Verdict.FALSE_304:
        return trial.answers
    is_304 = Outcome.NOT_MODIFIED
    return [replace(each, outcome=Outcome.MODIFIED) if each.outcome is is_304 else each for each in trial.answers]
