"""What further loads of some pages say about all pages of their type: shared noise, and places that are content.

Pages of one template carry the same furniture. A rule that several pages have learnt spares the others a second
fetch; a place that never moved within such loads is content, and what changes there between visits is news.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from incremental_crawl.semantics.noise import Mask, shared

Placed: TypeAlias = Sequence[tuple[str, int]]

PATH_SUPPORT = 5
"""Pages that must have learnt an element path as noise before it is noise of the type."""
CONTENT_SUPPORT = 5
"""Pages on which an element path must have stood still, and none on which it moved, to count as content."""
FEW_PAGES = 3
"""While fewer pages than this of a type have taught, one more load guards against two that agree by chance."""


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """On how many pages an element path stood still in the loads of one moment, and on how many it moved."""

    stable: int = 0
    moved: int = 0


@dataclass(slots=True)
class SiteNoise:
    """The evidence of one page type; grows page by page."""

    masks: list[Mask] = field(default_factory=list)
    evidence: dict[int, PathEvidence] = field(default_factory=dict)
    pages: int = 0
    _shared: Mask | None = None

    def add_loads(self, loads: Sequence[Placed], mask: Mask) -> None:
        """Take in a page's loads of one moment, and the mask that was learnt from them."""
        self.pages += 1
        self._shared = None
        if not mask.is_empty:
            self.masks.append(mask)
        lines = [_by_path(load) for load in loads]
        for path in {path for load in lines for path in load}:
            known = self.evidence.get(path, PathEvidence())
            moved = any(load.get(path) != lines[0].get(path) for load in lines)
            self.evidence[path] = PathEvidence(known.stable + (not moved), known.moved + moved)

    @property
    def shared(self) -> Mask:
        """The mask that holds for every page of the type."""
        if self._shared is None:
            self._shared = shared(self.masks).union(
                Mask(
                    paths=self._paths(mask.paths for mask in self.masks),
                    unordered=self._paths(mask.unordered for mask in self.masks),
                )
            )
        return self._shared

    def is_content(self, paths: Iterable[int]) -> bool:
        """Whether all of these places have proved to be content."""
        return all(self._is_content(self.evidence.get(path)) for path in paths)

    def _is_content(self, known: PathEvidence | None) -> bool:
        return known is not None and known.moved == 0 and known.stable >= CONTENT_SUPPORT

    def _paths(self, learnt: Iterable[frozenset[int]]) -> frozenset[int]:
        support = Counter(path for paths in learnt for path in paths)
        return frozenset(
            path
            for path, count in support.items()
            if count >= PATH_SUPPORT and self.evidence.get(path, PathEvidence()).stable == 0
        )


def _by_path(placed: Placed) -> Mapping[int, list[str]]:
    lines: dict[int, list[str]] = {}
    for line, path in placed:
        lines.setdefault(path, []).append(line)
    return lines
