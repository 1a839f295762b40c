"""Fetched pages on their way to a decision, each with what is held of it, by the rules in force."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from incremental_crawl.extraction.extract import Extract, Page
from incremental_crawl.extraction.pool import shared_pool
from incremental_crawl.semantics.answers import first
from incremental_crawl.semantics.block_signs import BlockSign
from incremental_crawl.semantics.decision import Content, Judgement, under_mask
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import body_files, known_urls, link_notes, plan
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.rows import HeldRecord, PlanRow, Reason
from incremental_crawl.storage.spool import read_bodies
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

EVIDENCE = {
    Reason.NEW: "first_sight",
    Reason.MODIFIED: "modified",
    Reason.HASH_CHECK: "hash",
    Reason.AUDIT: "audit",
    Reason.STALE_RECORD: "hash",
    Reason.RETRY: "hash",
    Reason.RECHECK: "audit",
}
"""Why a page was fetched, as the `evidence` of its event."""


@dataclass(slots=True)
class Case:
    """One fetched page on its way to a decision.

    `unsure` says why noise could not be told from change, `drift` that only the label of the charset is another one,
    `blocked` that what was fetched is not the page, `refused` that the page wants no record, and `canonical` which one
    it stands back for.
    """

    row: PlanRow
    body: bytes
    page: PageState
    held: HeldRecord | None
    headers: tuple[tuple[str, str], ...]
    found: Extract | None = None
    pairs: list[Content] = field(default_factory=list)
    unsure: str | None = None
    judgement: Judgement | None = None
    evidence: str = ""
    rebuilt: bool = False
    drift: str | None = None
    blocked: BlockSign | None = None
    refused: str | None = None
    canonical: str | None = None

    @property
    def at(self) -> datetime:
        """When the page was fetched."""
        if self.row.fetched_at is None:
            raise ValueError(f"{self.row.url} was not fetched")
        return self.row.fetched_at

    @property
    def content_type(self) -> str | None:
        """The Content-Type that came with the body."""
        return first(self.headers, "content-type")

    @property
    def is_changed(self) -> bool:
        """Whether another record was found than the one that is held."""
        return self.judgement is not None and self.judgement.outcome is Outcome.CHANGED

    def put_off(self, doubt: str) -> None:
        """Decide nothing about the page: it keeps its record and comes first in the next visit."""
        self.judgement, self.unsure = None, doubt

    @property
    def is_back(self) -> bool:
        """Whether the page was gone or moved until this check."""
        return self.page.gone_since is not None or self.page.redirect_to is not None


class Cases:
    """Makes cases of spooled pages and extracts them in the worker pool.

    Links are found only where there are `links_rules`: pages whose links none of them has read are always extracted.
    """

    def __init__(self, run: SiteRun, visit: Visit, state: State, links_rules: Sequence[str]) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._links_rules = links_rules

    def of(self, rows: Sequence[PlanRow]) -> list[Case]:
        """The cases of spooled pages, extracted where their bytes are not the very ones that are held."""
        sources = plan.sources_of(self._state, self._visit.visit)
        rows = [replace(row, moved_from=row.moved_from or sources.get(row.url)) for row in rows]
        urls = [row.url for row in rows] + [row.moved_from for row in rows if row.moved_from]
        pages, held = known_urls.by_url(self._state, urls), known_urls.held_by_url(self._state, urls)
        bodies = read_bodies(self._run.layout.spool, [row.spool_ref for row in rows])
        cases = []
        for row, body in zip(rows, bodies, strict=True):
            page = pages.get(row.url) or PageState(row.url, f"redirect:{row.moved_from}", row.depth)
            page = page if page.first_seen else replace(page, first_seen=row.fetched_at)
            baseline = held.get(row.url) if page.held else held.get(row.moved_from or "")
            headers = tuple((name, value) for name, value in json.loads(row.headers or "[]"))
            cases.append(Case(row, body, page, baseline, headers, evidence=EVIDENCE[row.reason]))
        self._rebuild_stale(cases)
        same = [case for case in cases if self._same_bytes(case)]
        if same and self._links_rules:
            unread = link_notes.unread(self._state, [case.row.url for case in same], self._links_rules)
            same = [case for case in same if case.row.url not in unread]
        known = {id(case) for case in same}
        self._extract([case for case in cases if id(case) not in known])
        return cases

    def extracted(self, pages: Iterable[Page], main_text: bool) -> Iterator[Extract]:
        """Extract pages in the worker pool, in order."""
        wanted = main_text and self._run.site.main_text != "none"
        return shared_pool().extract_many(pages, self._run.rules, bool(self._links_rules), wanted)

    def is_stale(self, case: Case) -> bool:
        """Whether other rules made the held record than those in force."""
        rules = self._run.rules
        return case.held is not None and case.held.extractor_version != rules.extractor_version(
            rules.page_type_for(case.row.url)
        )

    def _rebuild_stale(self, cases: Sequence[Case]) -> None:
        """Where other rules made the held record and its body is kept, make the baseline by the rules in force."""
        stale = [case for case in cases if case.held is not None and self.is_stale(case) and case.page.body_day]
        by_file: dict[tuple[int, object], list[Case]] = {}
        for case in stale:
            by_file.setdefault((case.page.body_visit or 0, case.page.body_day), []).append(case)
        for group in by_file.values():
            self._rebuild(group)

    def _rebuild(self, cases: Sequence[Case]) -> None:
        page = cases[0].page
        if page.body_day is None or page.body_visit is None:
            return
        path = self._run.layout.visit_file(Dataset.BODY_SNAPSHOTS, page.body_day, page.body_visit)
        kept = body_files.read_urls(path, [case.page.url for case in cases])
        found = [case for case in cases if case.page.url in kept]
        bodies = [kept[case.page.url] for case in found]
        pages = (
            Page(case.page.url, own.body, own.content_type, case.page.charset)
            for case, own in zip(found, bodies, strict=True)
        )
        for case, extract in zip(found, self.extracted(pages, False), strict=True):
            if extract.record is None or extract.content_sha256 is None:
                continue
            case.held = HeldRecord(
                case.page.url,
                extract.page_type,
                extract.record,
                extract.lines,
                extract.paths,
                extract.content_sha256,
                extract.extractor_version,
            )
            case.rebuilt = True
            compared = under_mask(case.page.mask, content_of(extract)).content_sha256
            case.page = replace(case.page, compare_sha256=compared, content_sha256=extract.content_sha256)

    def _same_bytes(self, case: Case) -> bool:
        """Equal bodies need no parsing, as long as the record is this page's own, by the rules in force and current."""
        return (
            case.page.held
            and case.held is not None
            and case.row.body_sha256 == case.page.body_sha256
            and not (case.page.stale or case.is_back or self.is_stale(case))
        )

    def _extract(self, cases: Sequence[Case]) -> None:
        for fresh in (True, False):
            group = [case for case in cases if (case.held is None) is fresh]
            pages = (Page(case.row.url, case.body, case.content_type, case.page.charset) for case in group)
            for case, extract in zip(group, self.extracted(pages, fresh), strict=True):
                case.found = extract


def content_of(extract: Extract) -> Content:
    """What is compared of an extraction. Raises `ValueError` where there is no record."""
    if extract.record is None or extract.content_sha256 is None:
        raise ValueError(f"{extract.url} has no record")
    return Content(extract.record, extract.content_sha256, extract.lines, extract.paths)
