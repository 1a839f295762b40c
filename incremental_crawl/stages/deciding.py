"""From a spooled body to a decision: extract, compare like with like, and propose what page_records will fold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from incremental_crawl.extraction.extract import Extract, Page
from incremental_crawl.extraction.pool import shared_pool
from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.answers import Purpose, first
from incremental_crawl.semantics.decision import (
    Baseline,
    Content,
    Evidence,
    Judgement,
    first_sight,
    judge_content,
    teach,
    under_mask,
)
from incremental_crawl.semantics.lifecycle import Fetched, Version
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.site_noise import SiteNoise
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.semantics.validators import from_response, has_weak_date
from incremental_crawl.stages.asking import Asker, Conversation, in_flight
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import body_files, known_urls, noise_notes, plan, reports
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.rows import HeldRecord, Observation, PlanRow, PlanState, Proposal, Reason
from incremental_crawl.storage.spool import read_bodies
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.budget import BudgetSpent

_EVIDENCE = {
    Reason.NEW: "first_sight",
    Reason.MODIFIED: "modified",
    Reason.HASH_CHECK: "hash",
    Reason.AUDIT: "audit",
    Reason.STALE_RECORD: "hash",
    Reason.RETRY: "hash",
}

_NOT_LOADED = "seemed changed, but the further load that tells noise from change failed"
_CONTRADICTORY = (
    "seemed changed, but loads of one moment contradict each other: it is being edited, or back ends differ"
)


@dataclass(slots=True)
class _Case:
    """One fetched page on its way to a decision."""

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

    @property
    def at(self) -> datetime:
        if self.row.fetched_at is None:
            raise ValueError(f"{self.row.url} was not fetched")
        return self.row.fetched_at

    @property
    def content_type(self) -> str | None:
        return first(self.headers, "content-type")

    @property
    def is_back(self) -> bool:
        """Whether the page was gone or moved until this check."""
        return self.page.gone_since is not None or self.page.redirect_to is not None


class Decider:
    """Decides fetched pages batch by batch; every batch is one commit."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker, follow_links: bool) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._asker = asker
        self._follow = follow_links
        self._noise: dict[str, SiteNoise] = {}
        self._taught: set[str] = set()

    async def decide(self, rows: Sequence[PlanRow]) -> None:
        """Decide the spooled pages of `rows` and commit the proposals."""
        cases = self._cases(rows)
        self._extract([case for case in cases if not self._same_bytes(case)])
        for case in cases:
            case.judgement = self._judge(case)
        observations: list[Observation] = []
        while unsure := [case for case in cases if case.judgement is not None and case.judgement.needs_pair]:
            observations.extend(await self._fetch_pairs(unsure))
        await self._question_audits([case for case in cases if case.row.reason is Reason.AUDIT], observations)
        self._add_main_text(cases)
        self._commit(cases, observations)

    def _cases(self, rows: Sequence[PlanRow]) -> list[_Case]:
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
            cases.append(_Case(row, body, page, baseline, headers, evidence=_EVIDENCE[row.reason]))
        self._rebuild_stale(cases)
        return cases

    def _rebuild_stale(self, cases: Sequence[_Case]) -> None:
        """Where other rules made the held record and its body is kept, make the baseline by the rules in force."""
        stale = [case for case in cases if case.held is not None and self._is_stale(case) and case.page.body_day]
        by_file: dict[tuple[int, object], list[_Case]] = {}
        for case in stale:
            by_file.setdefault((case.page.body_visit or 0, case.page.body_day), []).append(case)
        for group in by_file.values():
            self._rebuild(group)

    def _rebuild(self, cases: Sequence[_Case]) -> None:
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
        for case, extract in zip(found, self._extracted(pages, False), strict=True):
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
            compared = under_mask(case.page.mask, _content(extract)).content_sha256
            case.page = replace(case.page, compare_sha256=compared, content_sha256=extract.content_sha256)

    def _is_stale(self, case: _Case) -> bool:
        rules = self._run.rules
        return case.held is not None and case.held.extractor_version != rules.extractor_version(
            rules.page_type_for(case.row.url)
        )

    def _same_bytes(self, case: _Case) -> bool:
        """Equal bodies need no parsing, as long as the record is this page's own, by the rules in force and current."""
        return (
            case.page.held
            and case.held is not None
            and case.row.body_sha256 == case.page.body_sha256
            and not (case.page.stale or case.is_back or self._is_stale(case))
        )

    def _extract(self, cases: Sequence[_Case]) -> None:
        for fresh in (True, False):
            group = [case for case in cases if (case.held is None) is fresh]
            pages = (Page(case.row.url, case.body, case.content_type, case.page.charset) for case in group)
            for case, extract in zip(group, self._extracted(pages, fresh), strict=True):
                case.found = extract

    def _extracted(self, pages: Iterable[Page], main_text: bool) -> Iterator[Extract]:
        wanted = main_text and self._run.site.main_text != "none"
        return shared_pool().extract_many(pages, self._run.rules, self._follow, wanted)

    def _judge(self, case: _Case) -> Judgement | None:
        """The judgement on a page's content; None where extraction failed."""
        if case.found is None and case.held is not None:
            same = case.held.content_sha256
            return Judgement(Outcome.SAME_HASH, case.page.compare_sha256 or same, same, case.page.mask)
        if case.found is None or case.found.record is None:
            return None
        found = _content(case.found)
        if case.held is None:
            return first_sight(found)
        if self._is_stale(case) or not self._same_representation(case):
            return self._rebaselined(case, found)
        if case.unsure is not None:
            return None
        evidence = Evidence(self._noise_of(case.found.page_type), case.pairs)
        judgement = judge_content(self._baseline(case, case.held), found, evidence)
        if judgement.outcome is Outcome.RETRY_LATER:
            case.unsure = _CONTRADICTORY
            return None
        return self._settled(case, judgement)

    def _noise_of(self, page_type: str) -> SiteNoise:
        if page_type not in self._noise:
            self._noise[page_type] = noise_notes.load(self._state, page_type)
        return self._noise[page_type]

    def _baseline(self, case: _Case, held: HeldRecord) -> Baseline:
        content = Content(held.record, held.content_sha256, held.lines, held.paths)
        page = case.page
        own = page.held and page.compare_sha256 is not None
        compared = (page.compare_sha256 or "") if own else held.content_sha256
        return Baseline(content, compared, page.mask, page.unpaired_change)

    def _same_representation(self, case: _Case) -> bool:
        return not case.page.held or case.page.representation == self._run.representation

    def _rebaselined(self, case: _Case, found: Content) -> Judgement:
        masked = under_mask(case.page.mask, found)
        outcome = Outcome.RESTORED if case.is_back else Outcome.REBASELINED
        return Judgement(outcome, masked.content_sha256, masked.content_sha256, case.page.mask, masked.record)

    def _settled(self, case: _Case, judgement: Judgement) -> Judgement:
        """What the comparison means for a page that was gone, moved, or is new as the target of a redirect."""
        if judgement.needs_pair:
            return judgement
        if case.rebuilt and case.held is not None and judgement.old_record is None:
            judgement = replace(judgement, old_record=case.held.record)  # like with like, in the diff too
        found = under_mask(judgement.mask, _content(case.found)) if case.found else None
        if found is None:
            return judgement
        if not case.page.held:
            return replace(
                judgement,
                outcome=Outcome.NEW,
                content_sha256=found.content_sha256,
                compare_sha256=found.content_sha256,
                record=found.record,
            )
        if case.is_back or (judgement.outcome is Outcome.SAME_HASH and case.page.stale):
            outcome = Outcome.RESTORED if case.is_back else Outcome.REBASELINED
            return replace(judgement, outcome=outcome, content_sha256=found.content_sha256, record=found.record)
        return judgement

    async def _fetch_pairs(self, cases: Sequence[_Case]) -> list[Observation]:
        """Fetch pages that seem changed once more, at once, to tell noise from change; then judge them."""
        observations: list[Observation] = []
        limit = self._run.site.politeness.fetch_concurrency

        async def ask(case: _Case) -> Conversation:
            return await self._asker.page(case.page, Purpose.MASK, limit, no_cache=True)

        fetched: list[tuple[_Case, bytes, str | None]] = []
        async with aclosing(in_flight(iter(cases), ask, limit)) as results:
            async for case, talk in results:
                if not isinstance(talk, BudgetSpent) and talk.body is not None:
                    fetched.append((case, talk.body, first(talk.answer.headers, "content-type")))
                if not isinstance(talk, BudgetSpent):
                    observations.extend(talk.observations)
        asked = {id(case) for case, _, _ in fetched}
        for case in cases:
            case.unsure = None if id(case) in asked else _NOT_LOADED
        pages = (Page(case.row.url, body, kind, case.page.charset) for case, body, kind in fetched)
        for (case, _, _), extract in zip(fetched, self._extracted(pages, False), strict=True):
            self._learn(case, extract)
        for case in cases:
            case.judgement = self._judge(case)
        return observations

    def _learn(self, case: _Case, extract: Extract) -> None:
        """Keep the further load with its case, and let the page type learn once there are enough of them."""
        if extract.record is None or case.found is None or case.held is None:
            case.unsure = _NOT_LOADED
            return
        case.pairs.append(_content(extract))
        page_type = case.found.page_type
        baseline = self._baseline(case, case.held)
        if teach(self._noise_of(page_type), baseline, _content(case.found), case.pairs):
            self._taught.add(page_type)

    async def _question_audits(self, cases: Sequence[_Case], observations: list[Observation]) -> None:
        """An audited page that differs is asked conditionally again: only a repeated 304 was a false one."""
        limit = self._run.site.politeness.fetch_concurrency
        for case in cases:
            if case.judgement is None or case.judgement.outcome is not Outcome.CHANGED:
                continue
            try:
                talk = await self._asker.page(case.page, Purpose.CONFIRM, limit, conditional=True)
            except BudgetSpent:
                case.judgement = None
                continue
            observations.extend(talk.observations)
            if talk.outcome is not Outcome.NOT_MODIFIED:
                case.evidence = _EVIDENCE[Reason.MODIFIED]

    def _add_main_text(self, cases: Sequence[_Case]) -> None:
        """Main text is for readers and costs more than the rest: only new versions get one."""
        if self._run.site.main_text == "none":
            return
        group = [
            case for case in cases if case.held is not None and case.judgement is not None and case.judgement.record
        ]
        pages = (Page(case.row.url, case.body, case.content_type, case.page.charset) for case in group)
        for case, extract in zip(group, self._extracted(pages, True), strict=True):
            if case.found is not None:
                case.found = replace(case.found, main_text=extract.main_text)

    def _commit(self, cases: Sequence[_Case], observations: list[Observation]) -> None:
        proposals = [self._proposal(case) for case in cases]
        observations.extend(self._asker.take_unplaced())
        with self._state.transaction():
            plan.append_proposals(self._state, proposals)
            reports.keep_observations(self._state, observations)
            for page_type in self._taught:
                noise_notes.keep(self._state, page_type, self._noise[page_type])
            if self._follow:
                self._plan_links(cases)
        reached(DurableStep.PROPOSALS_COMMITTED)

    def _proposal(self, case: _Case) -> Proposal:
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
            seq=next(self._asker.sequence),
            visit=self._visit.visit,
            outcome=judgement.outcome,
            evidence=case.evidence,
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

    def _failure(self, case: _Case) -> Proposal:
        """No record could be made, or noise could not be told from change: all stays, and the page comes first."""
        moment = self._run.moment(self._visit, case.at)
        fault = case.found.fault if case.found else None
        outcome = Outcome.EMPTY if fault is not None and fault.startswith("empty") else Outcome.ERROR
        if case.unsure is not None:
            outcome, fault = Outcome.RETRY_LATER, case.unsure
        page = replace(lifecycle.failed(case.page, moment, self._run.cadence), priority=9)
        return Proposal(
            seq=next(self._asker.sequence),
            visit=self._visit.visit,
            outcome=outcome,
            evidence=fault or "no record could be extracted",
            page=page,
            observed_at=case.at,
            compared=False,
            keep_body=False,
            observation=case.row.observation,
        )

    def _compared(self, case: _Case, judgement: Judgement) -> bool:
        return (
            case.page.held
            and case.row.reason is not Reason.AUDIT
            and judgement.outcome in (Outcome.SAME_HASH, Outcome.CHANGED)
        )

    def _keeps_body(self, case: _Case, judgement: Judgement) -> bool:
        """A body is kept with every version, and again when the kept one is half-way to its end."""
        if judgement.record is not None:
            return True
        half = self._visit.day - self._run.body_window / 2
        return case.page.body_day is None or case.page.body_day < half

    def _fetched(self, case: _Case) -> Fetched:
        return Fetched(
            status=case.row.status or 200,
            validators=from_response(case.headers),
            weak_date=has_weak_date(case.headers),
            representation=self._run.representation,
            body_sha256=case.row.body_sha256 or "",
            body_bytes=case.row.body_bytes or 0,
            hop_url=case.row.hop_url,
        )

    def _version(self, case: _Case, judgement: Judgement) -> Version:
        found, page = case.found, case.page
        return Version(
            content_sha256=judgement.content_sha256,
            compare_sha256=judgement.compare_sha256,
            meta_sha256=found.meta_sha256 if found else page.meta_sha256,
            page_type=found.page_type if found else page.page_type or "page",
            extractor_version=found.extractor_version if found else page.extractor_version or "",
            charset=found.charset if found else page.charset,
            mask=judgement.mask,
        )

    def _plan_links(self, cases: Sequence[_Case]) -> None:
        """Links within the scope that nobody knew join the frontier, and the plan as far as the visit may ask more."""
        scope = self._run.site.scope
        room = scope.max_pages - known_urls.count(self._state)
        askable = self._askable(room)
        for case in cases:
            if case.found is None or case.row.depth >= scope.max_depth or room <= 0:
                continue
            source, depth = f"link:{case.row.url}", case.row.depth + 1
            new = known_urls.add_found(self._state, self._in_scope(case.found), source, depth, case.at, room)
            room -= len(new)
            plan.append(self._state, [self._planned(url, source, depth) for url in new[:askable]])
            askable -= len(new[:askable])

    def _askable(self, room: int) -> int:
        """How many found pages this visit may still ask; a page that stays unasked is due in the next one."""
        if self._visit.only_urls:
            return 0
        if self._visit.page_limit is None:
            return room
        return max(0, min(room, self._visit.page_limit - plan.planned(self._state, self._visit.visit)))

    def _in_scope(self, extract: Extract) -> list[str]:
        rules, strip = self._run.site.scope_rules, self._run.site.scope.strip_params
        found = []
        for link in extract.links:
            try:
                url = canonical_url(link, extract.url, strip)
            except InvalidUrl:
                continue
            if rules.contains(url):
                found.append(url)
        return found

    def _planned(self, url: str, source: str, depth: int) -> PlanRow:
        seq = next(self._asker.sequence)
        return PlanRow(self._visit.visit, seq, url, Reason.NEW, PlanState.TODO, depth, source)


def _content(extract: Extract) -> Content:
    if extract.record is None or extract.content_sha256 is None:
        raise ValueError(f"{extract.url} has no record")
    return Content(extract.record, extract.content_sha256, extract.lines, extract.paths)
