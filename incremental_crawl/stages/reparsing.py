"""Extract kept bodies again, visit by visit, oldest first, without a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa

from incremental_crawl.extraction.extract import Extract, Page
from incremental_crawl.extraction.pool import shared_pool
from incremental_crawl.semantics.decision import Content, under_mask
from incremental_crawl.semantics.events import EventKind
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.record_diff import diff_records
from incremental_crawl.stages.records_of import record_value, tracked_fields
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import body_files, decisions, known_urls, record_files, visits
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.rows import HeldRecord, Proposal, RecordVersion
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit, VisitRefused

_SAMPLES = 3


@dataclass(slots=True)
class _Tally:
    """What a re-parse does, or would do."""

    bodies: int = 0
    rewritten: int = 0
    corrected: int = 0
    faults: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    samples: list[str] = field(default_factory=list)

    def numbers(self) -> dict[str, int | float]:
        """The counts by name."""
        return {
            "bodies read": self.bodies,
            "records rewritten": self.rewritten,
            "records corrected": self.corrected,
            "not extractable": self.faults,
        }


@dataclass(frozen=True, slots=True)
class _Reparsed:
    """One kept body under the rules in force."""

    found: Extract
    content: Content
    page: PageState
    held: HeldRecord | None
    fetched_at: datetime
    current: bool


def reparse(run: SiteRun, state: State, first: date, last: date, dry_run: bool = False) -> Report:
    """Re-parse the visits of `first` to `last`. Raises `VisitRefused` where no body of those days is kept.

    Every version of those visits whose body is kept is made anew; `pages` and the current records change only where
    the body is the current one, and a change of the record there is a `corrected` event. With `dry_run` nothing is
    written; the report has the changed fields and three samples.
    """
    chosen = [visit for visit in visits.closed_between(state, first, last) if _body_file(run, visit).exists()]
    if not any(body_files.count(_body_file(run, visit)) for visit in chosen):
        kept = state.meta("first_kept_day")
        raise VisitRefused(
            f"no raw body of {first} to {last} is kept for {run.site.name} (bodies are kept for "
            f"{run.site.bodies.keep_days} days, now since {kept}): choose later days, or let the next crawls "
            "fetch the pages again"
        )
    tally = _Tally()
    for done, visit in enumerate(chosen):
        _reparse_visit(run, state, visit, tally, dry_run)
        run.progress("reparse", done + 1, len(chosen))
    notes = {f"field {name}": f"{count} records differ" for name, count in tally.fields.most_common()}
    notes |= {f"sample {at + 1}": sample for at, sample in enumerate(tally.samples)}
    return Report(None, tally.numbers(), notes)


def _reparse_visit(run: SiteRun, state: State, visit: Visit, tally: _Tally, dry_run: bool) -> None:
    recorded = record_files.urls(run.layout.visit_file(Dataset.PAGE_RECORDS, visit.day, visit.visit))
    proposals: list[Proposal] = []
    versions: list[RecordVersion] = []
    for rows in body_files.stream(_body_file(run, visit)):
        for item in _extracted(run, state, visit, rows, tally):
            proposal = _proposal(run, visit, item, tally, len(proposals))
            if proposal is not None:
                proposals.append(proposal)
            elif item.found.url in recorded:
                versions.append(_version(visit, item))
    tally.rewritten += len(versions) + len(proposals)
    if not dry_run:
        decisions.fold_corrections(state, visit.visit, proposals, versions)


def _extracted(run: SiteRun, state: State, visit: Visit, rows: pa.Table, tally: _Tally) -> Iterator[_Reparsed]:
    names = ("url", "body", "content_type", "charset", "fetched_at")
    values = list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
    pages = known_urls.by_url(state, [value[0] for value in values])
    held = known_urls.held_by_url(state, [value[0] for value in values])
    inputs = (Page(url, body, content_type, charset) for url, body, content_type, charset, _ in values)
    found = shared_pool().extract_many(inputs, run.rules, False, run.site.main_text != "none")
    for (url, _, _, _, fetched_at), extract in zip(values, found, strict=True):
        tally.bodies += 1
        page = pages.get(url)
        if page is None or extract.record is None or extract.content_sha256 is None:
            tally.faults += extract.record is None
            continue
        raw = Content(extract.record, extract.content_sha256, extract.lines, extract.paths)
        current = page.body_visit == visit.visit
        yield _Reparsed(extract, under_mask(page.mask, raw), page, held.get(url), fetched_at, current)


def _proposal(run: SiteRun, visit: Visit, item: _Reparsed, tally: _Tally, seq: int) -> Proposal | None:
    """What becomes current, None where the body is not the current one or nothing is different."""
    if not item.current or item.held is None:
        return None
    same_rules = item.held.extractor_version == item.found.extractor_version
    if same_rules and item.held.record == item.content.record:
        return None
    corrected = item.held.content_sha256 != item.content.content_sha256 and item.held.record != item.content.record
    if corrected:
        _count(run, item, tally)
    page = replace(
        item.page,
        content_sha256=item.content.content_sha256,
        compare_sha256=item.content.content_sha256,
        meta_sha256=item.found.meta_sha256,
        page_type=item.found.page_type,
        extractor_version=item.found.extractor_version,
        stale=False,
    )
    return Proposal(
        seq=seq + 1,
        visit=visit.visit,
        outcome=EventKind.CORRECTED if corrected else Outcome.REBASELINED,
        evidence="rules",
        page=page,
        observed_at=item.fetched_at,
        compared=False,
        keep_body=False,
        record=item.content.record,
        main_text=item.found.main_text,
        lines=item.found.lines,
        paths=item.found.paths,
    )


def _count(run: SiteRun, item: _Reparsed, tally: _Tally) -> None:
    tally.corrected += 1
    if item.held is None:
        return
    tracked = tracked_fields(run.site, item.found.page_type)
    difference = diff_records(record_value(item.held.record), record_value(item.content.record), tracked)
    tally.fields.update(change.name for change in difference.fields)
    if len(tally.samples) < _SAMPLES:
        tally.samples.append(f"{item.found.url}\n{difference.diff}")


def _version(visit: Visit, item: _Reparsed) -> RecordVersion:
    return RecordVersion(
        url=item.found.url,
        item_key=None,
        page_type=item.found.page_type,
        observed_at=item.fetched_at,
        visit=visit.visit,
        content_sha256=item.content.content_sha256,
        extractor_version=item.found.extractor_version,
        record=item.content.record,
        main_text=item.found.main_text,
    )


def _body_file(run: SiteRun, visit: Visit) -> Path:
    return run.layout.visit_file(Dataset.BODY_SNAPSHOTS, visit.day, visit.visit)
