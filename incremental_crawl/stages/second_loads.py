"""A page that seems changed is loaded once more where one load is not enough to say so."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from incremental_crawl.extraction.extract import Extract, Page
from incremental_crawl.semantics.answers import Purpose, first
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.cases import Case, Cases
from incremental_crawl.stages.conversation import Conversation
from incremental_crawl.stages.in_flight import in_flight
from incremental_crawl.stages.judging import Judge
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage.rows import Observation
from incremental_crawl.transport.budget import BudgetSpent


class SecondLoads:
    """Loads pages again at once, and puts those off that then say something else."""

    def __init__(self, run: SiteRun, asker: Asker, cases: Cases, judge: Judge) -> None:
        self._asker = asker
        self._cases = cases
        self._judge = judge
        self._limit = run.site.politeness.fetch_concurrency

    async def load(self, cases: Sequence[Case]) -> tuple[list[tuple[Case, Extract]], list[Observation]]:
        """Those of the cases that could be loaded once more, each with what was found, and what was observed."""
        observations: list[Observation] = []
        loaded: list[tuple[Case, bytes, str | None]] = []

        async def ask(case: Case) -> Conversation:
            return await self._asker.page(case.page, Purpose.MASK, self._limit, no_cache=True)

        async with aclosing(in_flight(iter(cases), ask, self._limit)) as results:
            async for case, talk in results:
                if isinstance(talk, BudgetSpent):
                    continue
                observations.extend(talk.observations)
                if talk.body is not None:
                    loaded.append((case, talk.body, first(talk.answer.headers, "content-type")))
        pages = (Page(case.row.url, body, kind, case.page.charset) for case, body, kind in loaded)
        found = self._cases.extracted(pages, False)
        return [(case, again) for (case, _, _), again in zip(loaded, found, strict=True)], observations

    async def moved(self, cases: Sequence[Case]) -> tuple[list[frozenset[int] | None], list[Observation]]:
        """The places in which one more load of each differs, None where it failed; and what was observed."""
        loaded, observations = await self.load(cases)
        places = {id(case): self._judge.moved(case, again) for case, again in loaded}
        return [places.get(id(case)) for case in cases], observations

    async def question(self, cases: Sequence[Case], doubt: str) -> list[Observation]:
        """Put off, for the reason `doubt`, what a second load does not repeat as it was found; what was observed."""
        moved, observations = await self.moved(cases)
        for case, places in zip(cases, moved, strict=True):
            if places is None or places & self._judge.suspected(case):
                case.put_off(doubt)
        return observations
