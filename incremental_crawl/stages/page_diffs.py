"""Stage 6: write the change events of the visit, or the corrections of a re-parse. The only writer of events."""

from __future__ import annotations

from datetime import date

from incremental_crawl.semantics.events import EventKind, event_id
from incremental_crawl.semantics.record_diff import RecordDiff, diff_records
from incremental_crawl.stages.records_of import fields_of_correction, record_value, tracked_fields
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import decisions, visits
from incremental_crawl.storage.rows import Event, PendingEvent
from incremental_crawl.storage.state import State

STAGE = "page_diffs"
_CHUNK = 500
_COMPARED = (EventKind.CHANGED, EventKind.RESTORED)


def run(run: SiteRun, last_day: date | None = None) -> Report:
    """Write what page_records and tombstones left to be told. Raises `VisitRefused` where these are not done."""
    with run.state(STAGE) as state:
        visit = visits.open_on(state, run.day) if last_day in (None, run.day) else None
        if visit is None and visits.waiting_on(state, run.day) is not None:
            visits.under_way(state, run.day, "page_records")
        if visit is not None:
            for stage in ("page_records", "tombstones"):
                visits.under_way(state, run.day, stage)
        written = _write_all(run, state)
        if visit is not None and not visits.stage_done(state, visit.visit, STAGE):
            decisions.finish_stage(state, visit.visit, STAGE, run.clock())
        return Report(visit.visit if visit else None, {"events": sum(written.values()), **written})


def _write_all(run: SiteRun, state: State) -> dict[str, int | float]:
    counts: dict[str, int | float] = {}
    while pending := decisions.pending_events(state, _CHUNK):
        events = [_event(run, row) for row in pending]
        decisions.write_events(state, events, pending)
        for event in events:
            counts[event.kind] = counts.get(event.kind, 0) + 1
        run.progress(STAGE, int(sum(counts.values())), None)
    return counts


def _event(run: SiteRun, row: PendingEvent) -> Event:
    difference = _difference(run, row)
    return Event(
        event_id=event_id(row.visit, run.site.name, row.url, row.item_key, row.kind, row.extractor_version),
        url=row.url,
        item_key=row.item_key,
        page_type=row.page_type,
        kind=row.kind,
        observed_at=row.observed_at,
        visit=row.visit,
        run_id=run.run_id,
        old_sha256=row.old_sha256,
        new_sha256=row.new_sha256,
        old_lastmod=row.old_lastmod,
        new_lastmod=row.new_lastmod,
        moved_to=row.moved_to,
        evidence=row.evidence,
        extractor_version=row.extractor_version,
        diff=difference.diff,
        fields=tuple(
            {
                "name": change.name,
                "kind": str(change.kind),
                "old": change.old,
                "new": change.new,
                "delta": change.delta,
                "percent": change.percent,
                "added": None if change.added is None else list(change.added),
                "removed": None if change.removed is None else list(change.removed),
            }
            for change in difference.fields
        ),
    )


def _difference(run: SiteRun, row: PendingEvent) -> RecordDiff:
    """Old against new record; a first sight or a disappearance tells its declared fields and no diff."""
    old, new = record_value(row.old_record), record_value(row.new_record)
    tracked = tracked_fields(run.site, row.page_type)
    if row.kind == EventKind.CORRECTED:
        return diff_records(old, new, fields_of_correction(run.site, row.page_type, old, new))
    if row.kind in _COMPARED:
        return diff_records(old, new, tracked)
    if isinstance(old, dict) or isinstance(new, dict):
        return RecordDiff("", diff_records(old, new, tracked).fields, False)
    return RecordDiff("", (), False)
