"""Links that a page holds: those within the scope join the frontier, and the plan as far as the visit may ask more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incremental_crawl.extraction.extract import Extract
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.stages.cases import Case
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import known_urls, plan
from incremental_crawl.storage.rows import PlanRow, PlanState, Reason
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit


class LinkPlanner:
    """Plans the links of decided pages; `sequence` numbers plan rows."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, sequence: Iterator[int]) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._sequence = sequence

    def plan(self, cases: Sequence[Case]) -> None:
        """Take in the links that nobody knew; to be called in the transaction that keeps the decisions."""
        scope = self._run.site.scope
        room = scope.max_pages - known_urls.count(self._state)
        askable = self._askable(room)
        for case in cases:
            if case.found is None or case.row.depth >= scope.max_depth or room <= 0:
                continue
            source, depth = f"link:{case.row.url}", case.row.depth + 1
            new = known_urls.add_found(self._state, self._in_scope(case.found), source, depth, case.at, room)
            room -= len(new)
            plan.append(self._state, [self._planned(url, source, depth) for url in new[:askable]])
            askable -= len(new[:askable])

    def _askable(self, room: int) -> int:
        """How many found pages this visit may still ask; a page that stays unasked is due in the next one."""
        if self._visit.only_urls:
            return 0
        if self._visit.page_limit is None:
            return room
        return max(0, min(room, self._visit.page_limit - plan.planned(self._state, self._visit.visit)))

    def _in_scope(self, extract: Extract) -> list[str]:
        rules, strip = self._run.site.scope_rules, self._run.site.scope.strip_params
        found = []
        for link in extract.links:
            try:
                url = canonical_url(link, extract.url, strip)
            except InvalidUrl:
                continue
            if rules.contains(url):
                found.append(url)
        return found

    def _planned(self, url: str, source: str, depth: int) -> PlanRow:
        seq = next(self._sequence)
        return PlanRow(self._visit.visit, seq, url, Reason.NEW, PlanState.TODO, depth, source)
