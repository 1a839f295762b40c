"""A page that seems changed is loaded once more where one load is not enough to say so."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from incremental_crawl.extraction.extract import Page
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

    async def question(self, cases: Sequence[Case], doubt: str) -> list[Observation]:
        """Put off, for the reason `doubt`, whatever a second load does not confirm; returns what was observed."""
        observations: list[Observation] = []
        loaded: list[tuple[Case, bytes, str | None]] = []

        async def ask(case: Case) -> Conversation:
            return await self._asker.page(case.page, Purpose.MASK, self._limit, no_cache=True)

        async with aclosing(in_flight(iter(cases), ask, self._limit)) as results:
            async for case, talk in results:
                if isinstance(talk, BudgetSpent):
                    case.put_off(doubt)
                    continue
                observations.extend(talk.observations)
                if talk.body is None:
                    case.put_off(doubt)
                else:
                    loaded.append((case, talk.body, first(talk.answer.headers, "content-type")))
        pages = (Page(case.row.url, body, kind, case.page.charset) for case, body, kind in loaded)
        for (case, _, _), again in zip(loaded, self._cases.extracted(pages, False), strict=True):
            if not self._judge.stands(case, again):
                case.put_off(doubt)
        return observations
