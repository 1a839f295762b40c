"""Whether a page changed: the record that is held against the one that was found, like with like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import assert_never

from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.noise import Mask, apply, learn
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.site_noise import FEW_PAGES, SiteNoise

MOST_PAIRS = 2
"""Further loads of one moment that a judgement may ask for."""
MOST_HIDDEN = 0.8
"""A lesson that would hide a larger share of a page's text than this is not believed."""

WHOLE_PAGE = 0
"""The place of everything on a page with declared fields."""


@dataclass(frozen=True, slots=True)
class Content:
    """A record as extraction gives it. `lines` and `paths` are empty for pages with declared fields."""

    record: str
    content_sha256: str
    lines: tuple[str, ...] = ()
    paths: tuple[int, ...] = ()

    @property
    def placed(self) -> list[tuple[str, int]]:
        """Each line with its place."""
        return list(zip(self.lines, self.paths, strict=True))


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is held: a record made by the same rules, the digest it is judged by, and the page's noise mask.

    `unpaired_change` says that the last check found a change without a second fetch: then the evidence of other pages
    is not enough a second time.
    """

    content: Content
    compare_sha256: str
    mask: str | None
    unpaired_change: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a page's content.

    `record` is the new version's text, None where the held version stands. `old_record` is the held record as the new
    mask sees it, so that a diff shows no noise. `needs_pair` asks for one more fetch, made at once, to tell noise from
    change; nothing else of the judgement counts then. `unpaired` marks a change that was found without one. The outcome
    `RETRY_LATER` says that the loads of one moment contradict each other.
    """

    outcome: Outcome
    compare_sha256: str = ""
    content_sha256: str = ""
    mask: str | None = None
    record: str | None = None
    old_record: str | None = None
    needs_pair: bool = False
    unpaired: bool = False


class LessonState(StrEnum):
    """Whether the loads of one moment are enough to tell noise from change."""

    LEARNT = "learnt"
    NEEDS_LOAD = "needs_load"
    CONTRADICTORY = "contradictory"


@dataclass(frozen=True, slots=True)
class Lesson:
    """What several loads of one moment teach: the mask, good only where the state is `LEARNT`."""

    mask: Mask
    state: LessonState


@dataclass(slots=True)
class Evidence:
    """What is known besides the two visits: further fetches of the same moment, and the noise of the page's type."""

    site: SiteNoise = field(default_factory=SiteNoise)
    pairs: list[Content] = field(default_factory=list)


def first_sight(found: Content) -> Judgement:
    """A page without a baseline."""
    return Judgement(Outcome.NEW, found.content_sha256, found.content_sha256, None, found.record)


def judge_content(held: Baseline, found: Content, evidence: Evidence) -> Judgement:
    """Compare `found` with what is held.

    Declared fields are compared by the digest of the tracked ones. Lines are compared under the page's mask and its
    type's shared noise; where they still differ in a place that has not proved to be content, the page is loaded
    again at once, and what differs between these loads is noise (see `lesson`). A mask is never learnt across visits:
    that would hide edits.
    """
    if not found.lines:
        return _judge_fields(held, found)
    own = Mask.from_json(held.mask)
    if _masked(own, found).content_sha256 == held.compare_sha256:
        return Judgement(Outcome.SAME_HASH, held.compare_sha256, held.content.content_sha256, held.mask)
    known = own.union(evidence.site.shared)
    alone = _judge_without_pair(held, found, known, evidence.site)
    if not evidence.pairs or alone.outcome is Outcome.SAME_HASH:
        return alone
    taught = lesson(known, held, found, evidence.pairs, evidence.site.pages < FEW_PAGES)
    match taught.state:
        case LessonState.LEARNT:
            return _judge_lines(held, found, taught.mask, stored=taught.mask)
        case LessonState.NEEDS_LOAD:
            return Judgement(Outcome.CHANGED, needs_pair=True)
        case LessonState.CONTRADICTORY:
            return Judgement(Outcome.RETRY_LATER)
        case _:
            assert_never(taught.state)


def lesson(known: Mask, held: Baseline, found: Content, loads: Sequence[Content], first_of_type: bool) -> Lesson:
    """What further loads of the same moment teach about the page's noise, beyond what is `known`.

    Noise moves at every load. So a place that moved between the first two loads has to move again before the next: an
    edit between two loads, or a back end that lags behind, moves it once. And where a further load is what is held,
    the page is just being changed. In both cases nothing is learnt, and the page is asked again later. Among the
    `first_of_type` two loads that agree are not enough: they may do so by chance.
    """
    second = loads[0]
    if any(_masked(known, load).record == _masked(known, held.content).record for load in loads):
        return Lesson(known, LessonState.CONTRADICTORY)
    enough = len(loads) == MOST_PAIRS
    if _masked(known, found).record == _masked(known, second).record:
        if first_of_type and not enough:
            return Lesson(known, LessonState.NEEDS_LOAD)
        agreed = all(_masked(known, load).record == _masked(known, second).record for load in loads)
        return Lesson(known, LessonState.LEARNT if agreed else LessonState.CONTRADICTORY)
    if not enough:
        return Lesson(known, LessonState.NEEDS_LOAD)
    third = loads[1]
    mask = learn(found.lines, found.paths, second.lines, second.paths, known)
    mask = learn(second.lines, second.paths, third.lines, third.paths, mask)
    moves_on = _moved_paths(known, found, second) <= _moved_paths(known, second, third)
    if not moves_on or _hidden_share(mask, known, found) > MOST_HIDDEN:
        return Lesson(known, LessonState.CONTRADICTORY)
    return Lesson(mask, LessonState.LEARNT)


def teach(site: SiteNoise, held: Baseline, found: Content, loads: Sequence[Content]) -> bool:
    """Let the page type learn from the loads of one moment; whether it did, once there are enough of them."""
    own = Mask.from_json(held.mask)
    taught = lesson(own.union(site.shared), held, found, loads, site.pages < FEW_PAGES)
    if taught.state is not LessonState.LEARNT:
        return False
    mask, every_load = own, [found, *loads]
    for first, second in pairwise(every_load):
        mask = learn(first.lines, first.paths, second.lines, second.paths, mask)
    site.add_loads([load.placed for load in every_load], mask)
    return True


def differing_places(judgement: Judgement, old: Content, new: Content, site: SiteNoise) -> frozenset[int]:
    """The places in which two contents of a page differ, beside the noise that is known once it was judged.

    A page with declared fields has one place, `WHOLE_PAGE`.
    """
    if not (old.lines and new.lines):
        return frozenset() if old.content_sha256 == new.content_sha256 else frozenset({WHOLE_PAGE, *old.paths})
    return frozenset(_moved_paths(Mask.from_json(judgement.mask).union(site.shared), old, new))


def under_mask(mask: str | None, found: Content) -> Content:
    """The content as the page's mask leaves it; unchanged for pages with declared fields."""
    return _masked(Mask.from_json(mask), found) if found.lines else found


def _judge_fields(held: Baseline, found: Content) -> Judgement:
    if held.content.content_sha256 == found.content_sha256:
        refreshed = None if held.content.record == found.record else found.record
        return Judgement(Outcome.SAME_HASH, found.content_sha256, found.content_sha256, None, refreshed)
    return Judgement(Outcome.CHANGED, found.content_sha256, found.content_sha256, None, found.record)


def _judge_without_pair(held: Baseline, found: Content, mask: Mask, site: SiteNoise) -> Judgement:
    """Enough where shared noise explains all that differs, or where only proven content differs."""
    judgement = _judge_lines(held, found, mask, stored=Mask.from_json(held.mask))
    if judgement.outcome is Outcome.SAME_HASH:
        return Judgement(Outcome.SAME_HASH, held.compare_sha256, held.content.content_sha256, held.mask)
    if held.unpaired_change or not site.is_content(_moved_paths(mask, held.content, found)):
        return Judgement(Outcome.CHANGED, needs_pair=True)
    return replace(judgement, unpaired=True)


def _judge_lines(held: Baseline, found: Content, mask: Mask, stored: Mask) -> Judgement:
    """Compare under `mask`; the page keeps `stored`, and its next body is judged under that."""
    old, new = _masked(mask, held.content), _masked(mask, found)
    kept = None if stored.is_empty else stored.to_json()
    if old.content_sha256 == new.content_sha256:
        compared = _masked(stored, found).content_sha256
        return Judgement(Outcome.SAME_HASH, compared, held.content.content_sha256, kept, old_record=old.record)
    compared = _masked(stored, found).content_sha256
    return Judgement(Outcome.CHANGED, compared, new.content_sha256, kept, new.record, old.record)


def _moved_paths(mask: Mask, old: Content, new: Content) -> set[int]:
    """The places in which two contents differ under the mask; where only the order differs, all places."""
    before, after = mask.places(old.lines, old.paths), mask.places(new.lines, new.paths)
    if before == after:
        return set()
    moved = {path for _, path in (Counter(before) - Counter(after)) + (Counter(after) - Counter(before))}
    return moved or set(new.paths)


def _hidden_share(mask: Mask, known: Mask, found: Content) -> float:
    """How much of what is left of a page under the known mask another mask hides."""
    left = sum(map(len, apply(known, found.lines, found.paths)))
    return 1 - sum(map(len, apply(mask, found.lines, found.paths))) / left if left else 0.0


def _masked(mask: Mask, content: Content) -> Content:
    lines: Sequence[str] = apply(mask, content.lines, content.paths)
    record = canonical_json(list(lines))
    return Content(record, sha256_text(record), content.lines, content.paths)
