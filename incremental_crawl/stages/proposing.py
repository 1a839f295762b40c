"""From a judged case to what page_records will fold: the page's next row, and the record that goes with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from incremental_crawl.extraction.extract import Extract
from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.decision import Judgement
from incremental_crawl.semantics.lifecycle import Fetched, Version
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.validators import from_response, has_weak_date
from incremental_crawl.stages.cases import Case
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage.rows import Proposal, Reason
from incremental_crawl.storage.visits import Visit


class Proposer:
    """Makes proposals; `sequence` numbers them."""

    def __init__(self, run: SiteRun, visit: Visit, sequence: Iterator[int]) -> None:
        self._run = run
        self._visit = visit
        self._sequence = sequence

    def propose(self, case: Case) -> Proposal:
        """The proposal of a case: a version, a confirmation, or a failed check."""
        moment = self._run.moment(self._visit, case.at)
        judgement = case.judgement
        if judgement is None:
            return self._failure(case)
        fetched, version = self._fetched(case), self._version(case, judgement)
        keeps = self._keeps_body(case, judgement)
        match judgement.outcome:
            case Outcome.SAME_HASH:
                page = lifecycle.same_record(case.page, fetched, version, moment, self._run.cadence)
                page = lifecycle.with_body(page, moment) if keeps else page
            case Outcome.RESTORED if judgement.content_sha256 == case.page.content_sha256:
                page = lifecycle.rebaselined(case.page, fetched, version, moment, self._run.cadence)
            case Outcome.REBASELINED:
                page = lifecycle.rebaselined(case.page, fetched, version, moment, self._run.cadence)
            case _:
                page = lifecycle.new_version(case.page, fetched, version, moment, self._run.cadence)
        page = replace(page, unpaired_change=judgement.unpaired)
        if case.row.reason is Reason.AUDIT:
            page = replace(page, last_audit=self._visit.visit)
        found = case.found
        return Proposal(
            seq=next(self._sequence),
            visit=self._visit.visit,
            outcome=judgement.outcome,
            evidence=self._evidence(case, judgement),
            page=page,
            observed_at=case.at,
            compared=self._compared(case, judgement),
            keep_body=keeps,
            observation=case.row.observation,
            moved_from=case.row.moved_from,
            record=judgement.record,
            old_record=judgement.old_record,
            main_text=found.main_text if found else None,
            lines=found.lines if found else None,
            paths=found.paths if found else None,
        )

    def _failure(self, case: Case) -> Proposal:
        """No record could be made, or noise could not be told from change: all stays, and the page comes first.

        What stood in the page's place says nothing about it either and is no hurry, nor is a page that wants no record.
        """
        moment = self._run.moment(self._visit, case.at)
        fault = case.found.fault if case.found else None
        outcome = Outcome.EMPTY if fault is not None and fault.startswith("empty") else Outcome.ERROR
        if case.unsure is not None:
            outcome, fault = Outcome.RETRY_LATER, case.unsure
        page = replace(lifecycle.failed(case.page, moment, self._run.cadence), priority=9)
        if case.blocked is not None:
            outcome, fault, page = Outcome.BLOCKED, case.blocked.sentence, replace(page, priority=0)
        if case.refused is not None:
            outcome, fault = Outcome.REFUSED, case.refused
            page = lifecycle.refused(case.page, moment, self._run.cadence)
        if case.row.reason is Reason.AUDIT:
            # Its turn is over: pages that waver would else be audited in every visit, and no others.
            page = replace(page, last_audit=self._visit.visit)
        return Proposal(
            seq=next(self._sequence),
            visit=self._visit.visit,
            outcome=outcome,
            evidence=fault or "no record could be extracted",
            page=page,
            observed_at=case.at,
            compared=False,
            keep_body=False,
            observation=case.row.observation,
        )

    def _evidence(self, case: Case, judgement: Judgement) -> str:
        drifted = case.drift is not None and judgement.outcome is Outcome.SAME_HASH
        return case.drift if drifted and case.drift and case.row.reason is not Reason.AUDIT else case.evidence

    def _compared(self, case: Case, judgement: Judgement) -> bool:
        return (
            case.page.held
            and case.row.reason not in (Reason.AUDIT, Reason.RECHECK)
            and judgement.outcome in (Outcome.SAME_HASH, Outcome.CHANGED)
        )

    def _keeps_body(self, case: Case, judgement: Judgement) -> bool:
        """A body is kept with every version, and again when the kept one is half-way to its end."""
        if judgement.record is not None:
            return True
        half = self._visit.day - self._run.body_window / 2
        return case.page.body_day is None or case.page.body_day < half

    def _fetched(self, case: Case) -> Fetched:
        return Fetched(
            status=case.row.status or 200,
            validators=from_response(case.headers),
            weak_date=has_weak_date(case.headers),
            representation=case.row.representation or case.page.representation or "",
            body_sha256=case.row.body_sha256 or "",
            body_bytes=case.row.body_bytes or 0,
            hop_url=case.row.hop_url,
        )

    def _version(self, case: Case, judgement: Judgement) -> Version:
        found, page = case.found, case.page
        return Version(
            content_sha256=judgement.content_sha256,
            compare_sha256=judgement.compare_sha256,
            meta_sha256=found.meta_sha256 if found else page.meta_sha256,
            page_type=found.page_type if found else page.page_type or "page",
            extractor_version=found.extractor_version if found else page.extractor_version or "",
            charset=found.charset if found else page.charset,
            mask=judgement.mask,
            charset_source=_charset_source(found) if found else page.charset_source,
        )


def _charset_source(found: Extract) -> str | None:
    """Where the charset was found, and what the page itself says against it: a sign of a misconfigured server."""
    if found.charset_conflict is None:
        return found.charset_source
    return f"{found.charset_source} (the page says {found.charset_conflict})"
