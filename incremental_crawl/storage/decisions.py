"""The transactions that make a visit's decisions true: records, tombstones, events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa

from incremental_crawl.semantics.gate import Churn
from incremental_crawl.storage import known_urls, plan, visits
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import (
    Event,
    Journalled,
    Observation,
    PendingEvent,
    Proposal,
    RecordVersion,
    Suspect,
)
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State


def count_churn(state: State, visit: int, at_sweep: bool) -> Churn:
    """The numbers that the gate judges, at the sweep or once digests are known."""
    row = state.rows(query("count_churn"), {"visit": visit, "at_sweep": at_sweep})[0]
    return Churn(checked=row[0], gone=row[1], failed=row[2], compared=row[3], changed=row[4])


def fold_proposals(state: State, visit: int, journalled: Sequence[Journalled], now: datetime) -> None:
    """Make the visit's records current and mark page_records done, in one transaction.

    `journalled` are further successor rows (sources of permanent redirects) that become true at the same moment.
    """
    with state.transaction():
        state.script("fold_proposals", {"visit": visit})
        known_urls.journal(state, journalled)
        known_urls.fold(state)
        visits.mark_stage(state, visit, "page_records", now)
    reached(DurableStep.RECORDS_FOLDED)


def moved_sources(state: State, visit: int) -> list[tuple[str, str, int, datetime, bool]]:
    """(source, target, status, observed_at, found) of the visit's permanent redirects.

    `found` says whether the target gave the record that the visit is about to fold.
    """
    return state.rows("SELECT url, target, status, observed_at, found FROM moves_now WHERE visit = ?", [visit])


def bury(
    state: State,
    visit: int,
    suspects: Sequence[Suspect],
    journalled: Sequence[Journalled],
    observations: Sequence[Observation],
    confirmed_at: dict[str, datetime],
) -> None:
    """Write tombstones, their events and the pages' new rows in one transaction.

    `suspects` are the decided ones; only those whose page was held and not gone before make a tombstone and an event.
    """
    with state.transaction():
        state.append("suspects", suspects)
        with state.bound("confirmations", _confirmations(confirmed_at)):
            state.script("bury", {"visit": visit})
        known_urls.journal(state, journalled)
        state.append("outbox_observations", observations)
        known_urls.fold(state)
    reached(DurableStep.TOMBSTONES_COMMITTED)


def _confirmations(confirmed_at: dict[str, datetime]) -> pa.Table:
    return pa.table(
        {
            "url": pa.array(list(confirmed_at), pa.string()),
            "confirmed_at": pa.array(list(confirmed_at.values()), pa.timestamp("us", tz="UTC")),
        }
    )


def fold_corrections(
    state: State, visit: int, proposals: Sequence[Proposal], versions: Sequence[RecordVersion]
) -> None:
    """Make a re-parsed visit's records current, and leave its versions and corrections to be published.

    What an earlier re-parse left of the same versions is replaced, so that a repeated one publishes nothing twice.
    """
    urls = [row.url for row in versions] + [row.page.url for row in proposals]
    with state.transaction():
        with state.bound("made_again", pa.table({"url": pa.array(urls, pa.string())})):
            state.run(
                "DELETE FROM outbox_page_records USING made_again m "
                "WHERE outbox_page_records.visit = ? AND outbox_page_records.url = m.url",
                [visit],
            )
        state.append("outbox_page_records", versions)
        plan.append_proposals(state, proposals)
        state.script("fold_proposals", {"visit": visit})
        known_urls.fold(state)
        state.run("DELETE FROM proposals WHERE visit = ?", [visit])
    reached(DurableStep.RECORDS_FOLDED)


def finish_stage(state: State, visit: int, stage: str, now: datetime) -> None:
    """Mark a stage done whose rows are all committed."""
    visits.mark_stage(state, visit, stage, now)


def write_events(state: State, events: Sequence[Event], pending: Sequence[PendingEvent]) -> None:
    """Move events from pending to the outbox, in one transaction; one that is there already is not written twice."""
    keys = pa.table(
        {
            "visit": pa.array([row.visit for row in pending], pa.int32()),
            "url": pa.array([row.url for row in pending], pa.string()),
            "kind": pa.array([row.kind for row in pending], pa.string()),
            "extractor_version": pa.array([row.extractor_version for row in pending], pa.string()),
        }
    )
    with state.transaction():
        state.append("outbox_page_diffs", events)
        with state.bound("written", keys):
            state.run(
                "DELETE FROM pending_events USING written w WHERE pending_events.visit = w.visit "
                "AND pending_events.url = w.url AND pending_events.kind = w.kind "
                "AND pending_events.extractor_version IS NOT DISTINCT FROM w.extractor_version"
            )
    reached(DurableStep.EVENTS_COMMITTED)


def pending_events(state: State, limit: int) -> list[PendingEvent]:
    """At most `limit` of the events that still have to be written, in a stable order."""
    columns = (
        "visit, url, item_key, page_type, kind, observed_at, old_sha256, new_sha256, old_record, new_record, "
        "old_lastmod, new_lastmod, moved_to, evidence, extractor_version"
    )
    return [
        PendingEvent(*row)
        for row in state.rows(f"SELECT {columns} FROM pending_events ORDER BY visit, url, kind LIMIT ?", [limit])
    ]
