"""What a fetched page's content means: like compared with like, noise told from change, places kept in their type."""

from __future__ import annotations

from dataclasses import replace

from incremental_crawl.extraction.extract import Extract
from incremental_crawl.semantics.decision import (
    Baseline,
    Content,
    Evidence,
    Judgement,
    differing_places,
    first_sight,
    judge_content,
    teach,
    under_mask,
)
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.site_noise import SiteNoise
from incremental_crawl.semantics.validators import without_cookies
from incremental_crawl.stages.cases import Case, Cases, content_of
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import noise_notes
from incremental_crawl.storage.rows import HeldRecord
from incremental_crawl.storage.state import State

NOT_LOADED = "seemed changed, but the further load that tells noise from change failed"
_CONTRADICTORY = (
    "seemed changed, but loads of one moment contradict each other: it is being edited, or back ends differ"
)


class Judge:
    """Judges the contents of a visit's pages, and remembers what they teach about the noise of their types."""

    def __init__(self, run: SiteRun, state: State, cases: Cases) -> None:
        self._run = run
        self._state = state
        self._cases = cases
        self._noise: dict[str, SiteNoise] = {}
        self._taught: set[str] = set()

    def judge(self, case: Case) -> Judgement | None:
        """The judgement on a page's content; None where extraction failed."""
        if case.found is None and case.held is not None:
            same = case.held.content_sha256
            return Judgement(Outcome.SAME_HASH, case.page.compare_sha256 or same, same, case.page.mask)
        if case.found is None or case.found.record is None:
            return None
        found = content_of(case.found)
        if case.held is None:
            return first_sight(found)
        if self._cases.is_stale(case) or not self._same_representation(case):
            return self._rebaselined(case, found)
        if case.unsure is not None:
            return None
        evidence = Evidence(self._noise_of(case.found.page_type), case.pairs)
        judgement = judge_content(self._baseline(case, case.held), found, evidence)
        if judgement.outcome is Outcome.RETRY_LATER:
            case.unsure = _CONTRADICTORY
            return None
        return self._settled(case, judgement)

    def suspected(self, case: Case) -> frozenset[int]:
        """The places in which a page that was judged a change differs from what is held."""
        if case.held is None or not case.is_changed:
            return frozenset()
        return self._differing(case, _content_of_held(case.held))

    def moved(self, case: Case, again: Extract) -> frozenset[int] | None:
        """The places in which a further load of the same moment differs from a case; None where it has no record."""
        return self._differing(case, content_of(again)) if again.record is not None else None

    def _differing(self, case: Case, other: Content) -> frozenset[int]:
        if case.found is None or case.judgement is None:
            return frozenset()
        return differing_places(case.judgement, content_of(case.found), other, self._noise_of(case.found.page_type))

    def learn(self, case: Case, extract: Extract) -> None:
        """Keep the further load with its case, and let the page type learn once there are enough of them."""
        if extract.record is None or case.found is None or case.held is None:
            case.unsure = NOT_LOADED
            return
        case.pairs.append(content_of(extract))
        page_type = case.found.page_type
        baseline = self._baseline(case, case.held)
        if teach(self._noise_of(page_type), baseline, content_of(case.found), case.pairs):
            self._taught.add(page_type)

    def keep_lessons(self) -> None:
        """Keep what was learnt about noise; to be called in the transaction that keeps the decisions."""
        for page_type in self._taught:
            noise_notes.keep(self._state, page_type, self._noise[page_type])

    def _noise_of(self, page_type: str) -> SiteNoise:
        if page_type not in self._noise:
            self._noise[page_type] = noise_notes.load(self._state, page_type)
        return self._noise[page_type]

    def _baseline(self, case: Case, held: HeldRecord) -> Baseline:
        page = case.page
        own = page.held and page.compare_sha256 is not None
        compared = (page.compare_sha256 or "") if own else held.content_sha256
        return Baseline(_content_of_held(held), compared, page.mask, page.unpaired_change)

    def _same_representation(self, case: Case) -> bool:
        """Whether the held record answered the same request headers; cookies of a gate make no other record."""
        sent = case.row.representation
        return not case.page.held or sent is None or without_cookies(case.page.representation) == without_cookies(sent)

    def _rebaselined(self, case: Case, found: Content) -> Judgement:
        masked = under_mask(case.page.mask, found)
        outcome = Outcome.RESTORED if case.is_back else Outcome.REBASELINED
        return Judgement(outcome, masked.content_sha256, masked.content_sha256, case.page.mask, masked.record)

    def _settled(self, case: Case, judgement: Judgement) -> Judgement:
        """What the comparison means for a page that was gone, moved, or is new as the target of a redirect."""
        if judgement.needs_pair:
            return judgement
        if case.rebuilt and case.held is not None and judgement.old_record is None:
            judgement = replace(judgement, old_record=case.held.record)  # like with like, in the diff too
        found = under_mask(judgement.mask, content_of(case.found)) if case.found else None
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


def _content_of_held(held: HeldRecord) -> Content:
    return Content(held.record, held.content_sha256, held.lines, held.paths)
