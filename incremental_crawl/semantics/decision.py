"""Whether a page changed: the record that is held against the one that was found, like with like."""

from __future__ import annotations

from dataclasses import dataclass

from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.noise import Mask, apply, learn
from incremental_crawl.semantics.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Content:
    """A record as extraction gives it. `lines` and `paths` are empty for pages with declared fields."""

    record: str
    content_sha256: str
    lines: tuple[str, ...] = ()
    paths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is held: a record made by the same rules, the digest it is judged by, and the page's noise mask."""

    content: Content
    compare_sha256: str
    mask: str | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a page's content.

    `record` is the new version's text, None where the held version stands. `old_record` is the held record as the new
    mask sees it, so that a diff shows no noise. `needs_pair` asks for one more fetch, made at once, to tell noise from
    change; nothing else of the judgement counts then.
    """

    outcome: Outcome
    compare_sha256: str = ""
    content_sha256: str = ""
    mask: str | None = None
    record: str | None = None
    old_record: str | None = None
    needs_pair: bool = False


def first_sight(found: Content) -> Judgement:
    """A page without a baseline."""
    return Judgement(Outcome.NEW, found.content_sha256, found.content_sha256, None, found.record)


def judge_content(held: Baseline, found: Content, pair: Content | None, pair_possible: bool = True) -> Judgement:
    """Compare `found` with what is held; `pair` is the second of two fetches made at the same moment.

    Declared fields are compared by the digest of the tracked ones. Lines are compared under the page's mask; where
    they differ, the mask is first taught by the pair. A mask is never learnt across visits: that would hide edits.
    """
    if not found.lines:
        return _judge_fields(held, found)
    mask = Mask.from_json(held.mask)
    masked = _masked(mask, found)
    if masked.content_sha256 == held.compare_sha256:
        return Judgement(Outcome.SAME_HASH, held.compare_sha256, held.content.content_sha256, held.mask)
    if pair is None and pair_possible:
        return Judgement(Outcome.SAME_HASH, needs_pair=True)
    if pair is not None and pair.lines != found.lines:
        mask = mask.union(learn(found.lines, found.paths, pair.lines, pair.paths))
    return _judge_lines(held, found, mask)


def _judge_fields(held: Baseline, found: Content) -> Judgement:
    if held.content.content_sha256 == found.content_sha256:
        refreshed = None if held.content.record == found.record else found.record
        return Judgement(Outcome.SAME_HASH, found.content_sha256, found.content_sha256, None, refreshed)
    return Judgement(Outcome.CHANGED, found.content_sha256, found.content_sha256, None, found.record)


def _judge_lines(held: Baseline, found: Content, mask: Mask) -> Judgement:
    old, new = _masked(mask, held.content), _masked(mask, found)
    stored = None if mask.is_empty else mask.to_json()
    if old.content_sha256 == new.content_sha256:
        return Judgement(
            Outcome.SAME_HASH, new.content_sha256, held.content.content_sha256, stored, old_record=old.record
        )
    return Judgement(Outcome.CHANGED, new.content_sha256, new.content_sha256, stored, new.record, old.record)


def under_mask(mask: str | None, found: Content) -> Content:
    """The content as the page's mask leaves it; unchanged for pages with declared fields."""
    return _masked(Mask.from_json(mask), found) if found.lines else found


def _masked(mask: Mask, content: Content) -> Content:
    lines = apply(mask, content.lines, content.paths)
    record = canonical_json(list(lines))
    return Content(record, sha256_text(record), content.lines, content.paths)
