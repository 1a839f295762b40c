"""Outcomes on their way into the state: collected, and committed as one checkpoint."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from datetime import datetime

from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.answers import Response
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.conversation import Conversation
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import known_urls, plan
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import (
    Journalled,
    Observation,
    PlanRow,
    PlanState,
    Reason,
    Suspect,
    SuspectState,
)
from incremental_crawl.storage.spool import SpoolWriter
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

MAX_OUTCOMES = 1000
MAX_BYTES = 8_000_000
MAX_SECONDS = 2.0


@dataclass(slots=True)
class Batch:
    """Rows of one checkpoint; closed at 1,000 outcomes, 8 MB or 2 s, whichever comes first."""

    journal: list[Journalled] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    plan: list[PlanRow] = field(default_factory=list)
    bodies: list[tuple[int, str, bytes]] = field(default_factory=list)
    suspects: list[Suspect] = field(default_factory=list)
    body_bytes: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def full(self) -> bool:
        """Whether it is time to commit."""
        return (
            len(self.observations) >= MAX_OUTCOMES
            or self.body_bytes >= MAX_BYTES
            or time.monotonic() - self.began >= MAX_SECONDS
        )


class Checkpoints:
    """Turns conversations into rows and commits them batch by batch: bodies first, then the rows that name them."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker, spool: SpoolWriter) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._asker = asker
        self._spool = spool
        self._batch = Batch()

    def heard(self, page: PageState, talk: Conversation, planned: PlanRow | None) -> None:
        """Take in what a page's conversation came to; `planned` is its plan row where the plan asked for it."""
        batch = self._batch
        batch.observations.extend([*self._asker.take_unplaced(), *talk.observations])
        at = talk.answer.timing.received_at
        moment = self._run.moment(self._visit, at)
        match talk.outcome:
            case Outcome.NOT_MODIFIED:
                by_hop = talk.hop_url is not None
                self._journal(lifecycle.not_modified(page, talk.answer.headers, by_hop, moment, self._run.cadence))
            case Outcome.MODIFIED:
                self._fetched(page, talk, planned)
                return
            case Outcome.MOVED:
                target, status = talk.moved_to or page.url, talk.moved_status or 301
                self._journal(lifecycle.moved(page, target, status, moment, self._run.cadence))
            case Outcome.SUSPECT_GONE | Outcome.GONE:
                self._disappeared(page, talk, at)
            case _ if planned is not None and planned.reason is Reason.AUDIT:
                pass
            case _:
                not_before = self._asker.not_before(page.url)
                failed = lifecycle.failed(page, moment, self._run.cadence, not_before)
                # As where extraction finds nothing: what gave no record comes first next time.
                self._journal(replace(failed, priority=9) if talk.outcome is Outcome.EMPTY else failed)
        if planned is not None:
            batch.plan.append(replace(planned, seq=self._next(), state=PlanState.FAILED))

    def heard_head(self, page: PageState, talk: Conversation) -> None:
        """Take in the answer to a HEAD: it settles an unchanged page, everything else is for a GET to say."""
        if talk.outcome is Outcome.NOT_MODIFIED:
            self.heard(page, talk, None)
            return
        self._batch.observations.extend([*self._asker.take_unplaced(), *talk.observations])
        seq, visit = self._next(), self._visit.visit
        self._batch.plan.append(
            PlanRow(visit, seq, page.url, Reason.HASH_CHECK, PlanState.TODO, page.depth, page.source)
        )

    def not_asked(self, page: PageState, planned: PlanRow | None, until: datetime | None) -> None:
        """A page whose host wants to be left alone: due again when the host is."""
        self._journal(replace(page, next_due=until or page.next_due, last_visit=self._visit.visit))
        if planned is not None:
            self._batch.plan.append(replace(planned, seq=self._next(), state=PlanState.FAILED))

    @property
    def full(self) -> bool:
        """Whether the open batch should be committed."""
        return self._batch.full

    def commit(self) -> None:
        """Spool the bodies, then commit everything else in one transaction: the checkpoint."""
        batch, self._batch = self._batch, Batch()
        refs = self._spool.append([(url, body) for _, url, body in batch.bodies])
        for (at, _, _), ref in zip(batch.bodies, refs, strict=True):
            batch.plan[at] = replace(batch.plan[at], spool_file=ref.file, spool_offset=ref.offset, spool_row=ref.row)
        if not (batch.observations or batch.journal or batch.plan):
            return
        with self._state.transaction():
            known_urls.journal(self._state, batch.journal)
            self._state.append("outbox_observations", batch.observations)
            plan.append(self._state, batch.plan)
            self._state.append("suspects", batch.suspects)
            self._asker.watch.keep(self._state)
        reached(DurableStep.BATCH_COMMITTED)

    def _fetched(self, page: PageState, talk: Conversation, planned: PlanRow | None) -> None:
        body = talk.body or b""
        answer = talk.answer
        row = planned or PlanRow(
            self._visit.visit, 0, page.url, Reason.MODIFIED, PlanState.TODO, page.depth, page.source
        )
        fetched = replace(
            row,
            seq=self._next(),
            url=talk.url,
            state=PlanState.FETCHED,
            moved_from=page.url if talk.moved_to else None,
            observation=talk.observations[-1].observation,
            fetched_at=answer.timing.received_at,
            status=answer.status if isinstance(answer, Response) else None,
            headers=json.dumps(answer.headers, ensure_ascii=False),
            length_unverified=isinstance(answer, Response) and answer.length_unverified,
            hop_url=talk.hop_url,
            representation=talk.representation,
            body_sha256=talk.body_sha256,
            body_bytes=answer.timing.wire_bytes,
        )
        self._batch.bodies.append((len(self._batch.plan), talk.url, body))
        self._batch.plan.append(fetched)
        self._batch.body_bytes += len(body)
        if talk.moved_to:
            at, status = answer.timing.received_at, talk.moved_status
            source = replace(row, state=PlanState.MOVED, moved_to=talk.moved_to, fetched_at=at, status=status)
            self._batch.plan.append(replace(source, seq=self._next()))

    def _disappeared(self, page: PageState, talk: Conversation, at: datetime) -> None:
        """A 404 or 410. A URL that was never held, or is gone already, needs no confirmation and makes no event."""
        status = talk.observations[-1].status or 404
        moment = self._run.moment(self._visit, at)
        if not page.held:
            self._journal(replace(lifecycle.failed(page, moment, self._run.cadence), status=status))
        elif page.gone_since is not None:
            self._journal(lifecycle.gone(page, status, moment, self._run.cadence))
        else:
            state = SuspectState.CERTAIN if talk.outcome is Outcome.GONE else SuspectState.SUSPECT
            self._batch.suspects.append(Suspect(self._visit.visit, self._next(), page.url, status, at, state))

    def _journal(self, page: PageState) -> None:
        self._batch.journal.append(Journalled(self._next(), page))

    def _next(self) -> int:
        return next(self._asker.sequence)
