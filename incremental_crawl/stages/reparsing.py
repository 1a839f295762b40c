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
from incremental_crawl.stages import rules_in_force
from incremental_crawl.stages.records_of import fields_of_correction, record_value
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import body_files, decisions, known_urls, record_files, visits
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.record_files import Rules
from incremental_crawl.storage.rows import HeldRecord, Proposal, RecordVersion
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit, VisitRefused

_SAMPLES = 3
_BATCH = 5_000


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


@dataclass(slots=True)
class _Batch:
    """Records of a visit that are made anew in one transaction; a visit may be too large for one."""

    proposals: list[Proposal] = field(default_factory=list)
    versions: list[RecordVersion] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.proposals) + len(self.versions)


def reparse(run: SiteRun, state: State, first: date, last: date, dry_run: bool = False) -> Report:
    """Re-parse the visits of `first` to `last`. Raises `VisitRefused` where no body of those days is kept.

    Every version of those visits whose body is kept is made anew; `pages` and the current records change only where
    the body is the current one, and a change of the record there is a `corrected` event. With `dry_run` nothing is
    written; the report has the changed fields and three samples.
    """
    if not dry_run:
        _refuse_during_visit(run, state)
        rules_in_force.apply(run, state)
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


def _refuse_during_visit(run: SiteRun, state: State) -> None:
    """What a visit has proposed was compared with the records as they are; they may not change before it is folded."""
    unfinished = visits.current(state)
    if unfinished is not None:
        raise VisitRefused(
            f"visit {unfinished.visit} of {unfinished.day} is not finished: let `incremental-crawl crawl "
            f"{run.site.name}` finish it, then re-parse"
        )


def _reparse_visit(run: SiteRun, state: State, visit: Visit, tally: _Tally, dry_run: bool) -> None:
    recorded = record_files.rules_by_url(run.layout.visit_file(Dataset.PAGE_RECORDS, visit.day, visit.visit))
    batch = _Batch()
    for rows in body_files.stream(_body_file(run, visit)):
        for item in _extracted(run, state, visit, rows, tally):
            proposal = _proposal(run, visit, item, tally, len(batch.proposals))
            if proposal is not None:
                batch.proposals.append(proposal)
            elif recorded.get(item.found.url) not in (None, Rules(item.found.page_type, item.found.extractor_version)):
                batch.versions.append(_version(visit, item))
        if batch.size >= _BATCH:
            batch = _folded(state, visit, batch, tally, dry_run)
    _folded(state, visit, batch, tally, dry_run)


def _folded(state: State, visit: Visit, batch: _Batch, tally: _Tally, dry_run: bool) -> _Batch:
    tally.rewritten += batch.size
    if not dry_run:
        decisions.fold_corrections(state, visit.visit, batch.proposals, batch.versions)
    return _Batch()


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
    """What becomes current, None where the body is not the current one or the same rules made the record.

    Lines are compared as the page's mask leaves them; of a page that is gone or moved nobody is told.
    """
    held = item.held
    if not item.current or held is None or _same_rules(held, item.found):
        return None
    before = under_mask(item.page.mask, Content(held.record, held.content_sha256, held.lines, held.paths))
    differs = before.content_sha256 != item.content.content_sha256 and before.record != item.content.record
    corrected = differs and item.page.gone_since is None and item.page.redirect_to is None
    if corrected:
        _count(run, item, before, tally)
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
        old_record=before.record if corrected else None,
        main_text=item.found.main_text,
        lines=item.found.lines,
        paths=item.found.paths,
    )


def _same_rules(held: HeldRecord, found: Extract) -> bool:
    return (held.page_type, held.extractor_version) == (found.page_type, found.extractor_version)


def _count(run: SiteRun, item: _Reparsed, before: Content, tally: _Tally) -> None:
    tally.corrected += 1
    old, new = record_value(before.record), record_value(item.content.record)
    difference = diff_records(old, new, fields_of_correction(run.site, item.found.page_type, old, new))
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
