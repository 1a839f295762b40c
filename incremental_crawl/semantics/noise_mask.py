"""The noise mask of a page: what differs between two loads of one moment and therefore says nothing.

A mask is learnt from one same-moment pair (`noise_learning`), united with older ones and applied to the lines of
two visits before they are compared. Every line comes with its path (see `extraction.canonical_lines`): the upper
32 bits name the container element of the line's block, all 64 the full element path; equal numbers, equal places.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

Placed: TypeAlias = tuple[str, int]

HOLE = "…"
_EDGE = "\x00"
_MOST_GAPS = 256
_MOST_TEMPLATES = 256


@dataclass(frozen=True, slots=True)
class Template:
    """A line whose `literals` stay while the words between them change at every load."""

    path: int
    literals: tuple[str, ...]

    @property
    def masked(self) -> str:
        """The line with a sign in place of each changing word."""
        return HOLE.join(self.literals)

    def compiled(self) -> re.Pattern[str]:
        """A pattern for whole lines; a changing word has no white space and at most 200 characters."""
        return re.compile(r"\S{1,200}?".join(re.escape(literal) for literal in self.literals))


@dataclass(frozen=True, slots=True)
class Gap:
    """Up to `longest` lines of the given `paths` between two stable places.

    `before` is the digest of the last `context` lines that stay, `after` that of the next line that stays. With
    `sort` the lines between are kept but their order says nothing; otherwise they are left out.
    """

    context: int
    before: int
    after: int
    longest: int
    paths: tuple[int, ...]
    sort: bool = False

    @property
    def place(self) -> tuple[int, int, int, bool]:
        """What makes two gaps the same gap."""
        return self.context, self.before, self.after, self.sort


@dataclass(frozen=True)
class Mask:
    """What of a page is noise: whole element paths, paths whose order is noise, line templates and gaps."""

    paths: frozenset[int] = frozenset()
    unordered: frozenset[int] = frozenset()
    templates: tuple[Template, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the mask leaves every line as it is."""
        return not (self.paths or self.unordered or self.templates or self.gaps)

    def union(self, other: Mask) -> Mask:
        """Both masks in one; what `other` says comes first and survives the bounds on size."""
        templates = tuple(dict.fromkeys(other.templates + self.templates))[:_MOST_TEMPLATES]
        return Mask(
            self.paths | other.paths,
            self.unordered | other.unordered,
            templates,
            _united_gaps(other.gaps + self.gaps)[:_MOST_GAPS],
        )

    def to_json(self) -> str:
        """The mask as text for the state; the same mask gives the same text."""
        value = {
            "paths": sorted(self.paths),
            "unordered": sorted(self.unordered),
            "templates": [[template.path, list(template.literals)] for template in self.templates],
            "gaps": [[gap.context, gap.before, gap.after, gap.longest, list(gap.paths), gap.sort] for gap in self.gaps],
        }
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str | None) -> Mask:
        """The mask that `to_json` wrote; None and the empty text are the empty mask."""
        if not text:
            return Mask()
        value: dict[str, Any] = json.loads(text)
        return Mask(
            frozenset(value["paths"]),
            frozenset(value["unordered"]),
            tuple(Template(path, tuple(literals)) for path, literals in value["templates"]),
            tuple(Gap(c, before, after, n, tuple(paths), sort) for c, before, after, n, paths, sort in value["gaps"]),
        )

    @cached_property
    def _patterns(self) -> Mapping[int, Sequence[tuple[re.Pattern[str], str]]]:
        """Templates by path, the most general one first, so that both sides meet the same one."""
        by_path: dict[int, list[tuple[re.Pattern[str], str]]] = {}
        for template in sorted(self.templates, key=lambda t: (sum(map(len, t.literals)), t.literals)):
            by_path.setdefault(template.path, []).append((template.compiled(), template.masked))
        return by_path

    @cached_property
    def _gaps_by_context(self) -> Mapping[int, Mapping[int, Sequence[Gap]]]:
        by_context: dict[int, dict[int, list[Gap]]] = {}
        for gap in self.gaps:
            by_context.setdefault(gap.context, {}).setdefault(gap.before, []).append(gap)
        return by_context

    def places(self, lines: Sequence[str], paths: Sequence[int]) -> list[Placed]:
        """The lines that are left under this mask, each with its path."""
        _check_lengths(lines, paths)
        return self._without_gaps(self._without_paths(zip(lines, paths, strict=True)))

    def _without_paths(self, placed: Iterable[Placed]) -> list[Placed]:
        kept: list[Placed] = []
        loose: list[Placed] = []
        for line, path in placed:
            if path in self.paths:
                continue
            (loose if path in self.unordered else kept).append((self._templated(line, path), path))
        return kept + sorted(loose, key=lambda item: (item[1], item[0]))

    def _templated(self, line: str, path: int) -> str:
        for pattern, masked in self._patterns.get(path, ()):
            if pattern.fullmatch(line):
                return masked
        return line

    def _without_gaps(self, placed: Sequence[Placed]) -> list[Placed]:
        if not self.gaps:
            return list(placed)
        kept: list[Placed] = []
        at = 0
        while at < len(placed):
            gap, length = self._gap_at(kept, placed, at)
            if gap is not None and gap.sort:
                kept.extend(sorted(placed[at : at + length]))
            at += length
            if at < len(placed):
                kept.append(placed[at])
                at += 1
        return kept

    def _gap_at(self, kept: Sequence[Placed], placed: Sequence[Placed], at: int) -> tuple[Gap | None, int]:
        for context, by_before in self._gaps_by_context.items():
            for gap in by_before.get(context_digest(kept, context), ()):
                length = gap_length(gap, placed, at)
                if length:
                    return gap, length
        return None, 0


def apply(mask: Mask, lines: Sequence[str], paths: Sequence[int]) -> list[str]:
    """The lines that count when the page is compared.

    Raises ValueError where `lines` and `paths` differ in length.
    """
    _check_lengths(lines, paths)
    return list(lines) if mask.is_empty else [line for line, _ in mask.places(lines, paths)]


def shared(masks: Iterable[Mask], support: int = 3) -> Mask:
    """The templates and gaps that at least `support` of the masks hold: noise of the site, not of one page.

    Pass the masks of pages of one type; the result is good as `known` for each of them. It spares further fetches
    where the two loads of a page agree by chance. Whole paths are left out: what is noise on one page may be the
    content of another.
    """
    templates: Counter[Template] = Counter()
    places: Counter[tuple[int, int, int, bool]] = Counter()
    gaps: list[Gap] = []
    for mask in masks:
        templates.update(mask.templates)
        places.update(gap.place for gap in mask.gaps)
        gaps.extend(mask.gaps)
    common = (gap for gap in gaps if places[gap.place] >= support)
    return Mask(
        templates=tuple(template for template, count in templates.items() if count >= support),
        gaps=_united_gaps(common)[:_MOST_GAPS],
    )


def line_digest(line: str) -> int:
    """A short digest of one line, the same in every process."""
    return zlib.crc32(line.encode("utf-8", "surrogatepass"))


def context_digest(kept: Sequence[Placed], context: int) -> int:
    """The digest of the last `context` lines; the top of the page counts as a line."""
    if context == 1:
        return line_digest(kept[-1][0] if kept else _EDGE)
    last = [line for line, _ in kept[-context:]]
    return line_digest("\n".join(last if len(last) == context else [_EDGE, *last]))


def gap_length(gap: Gap, placed: Sequence[Placed], at: int) -> int:
    """How many lines from `at` on lie in the gap; 0 where what follows is not this gap."""
    for length in range(gap.longest + 1):
        index = at + length
        following = placed[index][0] if index < len(placed) else _EDGE
        if line_digest(following) == gap.after:
            return length
        if index >= len(placed) or placed[index][1] not in gap.paths:
            return 0
    return 0


def _united_gaps(gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    by_place: dict[tuple[int, int, int, bool], Gap] = {}
    for gap in gaps:
        known = by_place.get(gap.place, gap)
        paths = tuple(sorted({*known.paths, *gap.paths}))
        by_place[gap.place] = Gap(gap.context, gap.before, gap.after, max(known.longest, gap.longest), paths, gap.sort)
    return tuple(by_place.values())


def _check_lengths(lines: Sequence[str], paths: Sequence[int]) -> None:
    if len(lines) != len(paths):
        raise ValueError(f"{len(lines)} lines with {len(paths)} paths: each line needs its path; store both together")
