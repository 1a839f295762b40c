"""From spooled bodies to proposals: judge, load again where noise is in question, question audits, commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incremental_crawl.extraction.extract import Extract, Page
from incremental_crawl.stages import charset_drift
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.auditing import Auditor
from incremental_crawl.stages.blocked_pages import BlockedPages
from incremental_crawl.stages.cases import Case, Cases
from incremental_crawl.stages.head_probing import HeadProber
from incremental_crawl.stages.judging import NOT_LOADED, Judge
from incremental_crawl.stages.link_planning import LinkPlanner, ReadPage, cut_rule, links_rule
from incremental_crawl.stages.page_wishes import PageWishes
from incremental_crawl.stages.proposing import Proposer
from incremental_crawl.stages.second_loads import SecondLoads
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import plan, reports
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import Observation, PlanRow
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

_CUT_SHORT = (
    "seemed changed, but only the end of the connection ended the body, and a second load was another one: "
    "nobody can tell whether it is complete"
)


class Decider:
    """Decides fetched pages batch by batch; every batch is one commit."""

    def __init__(
        self, run: SiteRun, visit: Visit, state: State, asker: Asker, wishes: PageWishes, links: LinkPlanner | None
    ) -> None:
        self._run = run
        self._state = state
        self._asker = asker
        self._cases = Cases(run, visit, state, (links_rule(run), cut_rule(run)) if links is not None else ())
        self._judge = Judge(run, state, self._cases)
        self._second_loads = SecondLoads(run, asker, self._cases, self._judge)
        self._auditor = Auditor(run, visit, state, asker, self._judge, self._second_loads)
        self._prober = HeadProber(run, state, asker)
        self._blocked = BlockedPages(visit, state, asker.watch)
        self._proposer = Proposer(run, visit, asker.sequence)
        self._wishes = wishes
        self._links = links

    async def decide(self, rows: Sequence[PlanRow]) -> None:
        """Decide the spooled pages of `rows` and commit the proposals."""
        cases = self._cases.of(rows)
        charset_drift.settle(cases, self._cases)
        self._blocked.sift(cases)
        self._wishes.sift(cases)
        for case in cases:
            case.judgement = None if case.blocked or case.refused else self._judge.judge(case)
        observations: list[Observation] = []
        while unsure := [case for case in cases if case.judgement is not None and case.judgement.needs_pair]:
            observations.extend(await self._fetch_pairs(unsure))
        unverified = [case for case in cases if case.row.length_unverified and case.is_changed and not case.pairs]
        observations.extend(await self._second_loads.question(unverified, _CUT_SHORT))
        observations.extend(await self._auditor.question(cases))
        observations.extend(await self._prober.probe(cases))
        self._add_main_text(cases)
        self._commit(cases, observations)

    async def _fetch_pairs(self, cases: Sequence[Case]) -> list[Observation]:
        """Fetch pages that seem changed once more, at once, to tell noise from change; then judge them."""
        loaded, observations = await self._second_loads.load(cases)
        asked = {id(case) for case, _ in loaded}
        for case in cases:
            case.unsure = None if id(case) in asked else NOT_LOADED
        for case, again in loaded:
            self._judge.learn(case, again)
        for case in cases:
            case.judgement = self._judge.judge(case)
        return observations

    def _add_main_text(self, cases: Sequence[Case]) -> None:
        """Main text is for readers and costs more than the rest: only new versions get one."""
        if self._run.site.main_text == "none":
            return
        group = [
            case for case in cases if case.held is not None and case.judgement is not None and case.judgement.record
        ]
        pages = (Page(case.row.url, case.body, case.content_type, case.page.charset) for case in group)
        for case, extract in zip(group, self._cases.extracted(pages, True), strict=True):
            if case.found is not None:
                case.found = replace(case.found, main_text=extract.main_text)

    def _commit(self, cases: Sequence[Case], observations: list[Observation]) -> None:
        proposals = [self._proposer.propose(case) for case in cases]
        observations.extend(self._asker.take_unplaced())
        with self._state.transaction():
            plan.append_proposals(self._state, proposals)
            reports.keep_observations(self._state, observations)
            self._judge.keep_lessons()
            if self._links is not None:
                self._links.plan([_read(case, case.found) for case in cases if case.found and case.blocked is None])
            self._asker.watch.keep(self._state)
        reached(DurableStep.PROPOSALS_COMMITTED)


def _read(case: Case, found: Extract) -> ReadPage:
    return ReadPage(case.row.url, case.row.depth, case.at, found, case.headers, case.canonical)
