"""Whether HEAD could stand for GET: probed where bodies are large and conditions are ignored, nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incremental_crawl.semantics.answers import Ask, Purpose, Response
from incremental_crawl.semantics.head_requests import HEAD_BYTES, HEAD_PROBES, head_disagreement
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.trust import Ledger, Signature, TrustMode
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.cases import Case
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import ledger
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.state import State
from incremental_crawl.transport.budget import BudgetSpent


class HeadProber:
    """Sends a HEAD right after a GET, for a few pages of path groups that send validators and ignore conditions."""

    def __init__(self, run: SiteRun, state: State, asker: Asker) -> None:
        self._state = state
        self._asker = asker
        self._limit = run.site.politeness.fetch_concurrency
        self._left = HEAD_PROBES

    async def probe(self, cases: Sequence[Case]) -> list[Observation]:
        """The observations of the probes: `same_hash` where HEAD and GET agree, `modified` where they do not."""
        large = [case for case in cases if (case.row.body_bytes or 0) >= HEAD_BYTES and case.row.hop_url is None]
        if not large or not self._left:
            return []
        groups = ledger.of_urls(self._state, [case.page.url for case in large])
        observations = []
        for case in [case for case in large if _is_worth_it(groups.get(case.page.url))][: self._left]:
            try:
                observations.append(await self._probe_one(case))
            except BudgetSpent:
                break
            self._left -= 1
        return observations

    async def _probe_one(self, case: Case) -> Observation:
        ask = Ask(case.page.url, Purpose.PROBE, method="HEAD")
        answer = await self._asker.ask(ask, self._limit)
        if not isinstance(answer, Response):
            return self._asker.observe(ask, answer, Outcome.RETRY_LATER)
        problem = head_disagreement((case.row.status or 200, case.headers), (answer.status, answer.headers))
        outcome = Outcome.SAME_HASH if problem is None else Outcome.MODIFIED
        return replace(self._asker.observe(ask, answer, outcome, problem), body_sha256=None)


def _is_worth_it(own: Ledger | None) -> bool:
    return (
        own is not None
        and own.mode is TrustMode.HASH_ONLY
        and own.cause is Signature.IGNORED
        and not own.head_trusted
        and not own.head_disagreed
    )
