"""Noise rules for lines between two stable places, for what no rule on an element path explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from incremental_crawl.semantics.line_alignment import Pair, matched_pairs
from incremental_crawl.semantics.noise_mask import Gap, Mask, Placed, context_digest, gap_length, line_digest
from incremental_crawl.semantics.noise_paths import are_links

_CLOSED_LINES = 2
_CONTEXTS = (1, 2, 3, 5, 8, 13, 32)
_END_OF_PAGE = "\x00"
_MOST_EQUAL_TEXT = 0.3
_CHANGED_SHARE = 3 / 4
_CHANGED_SHARE_OF_LINKS = 1 / 3
_FEWEST_CHANGED = 3


@dataclass(frozen=True, slots=True)
class _Hole:
    """Lines [low, high) of the first load against [second_low, second_high) of the second."""

    low: int
    high: int
    second_low: int
    second_high: int


def gap_rules(first: Sequence[Placed], second: Sequence[Placed], unordered: AbstractSet[int]) -> Mask:
    """Gap rules under which the two loads read the same; order rules where lines only moved.

    `unordered` are the paths that have an order rule already.
    """
    pairs = matched_pairs([line for line, _ in first], [line for line, _ in second])
    holes = list(_holes(pairs, len(first), len(second)))
    moved = _moved_paths(first, second, holes) - unordered
    if moved:
        return Mask(unordered=moved)
    stable = _without_chance(first, second, pairs)
    return Mask(gaps=tuple(_gaps(first, second, stable)))


def _holes(pairs: Sequence[Pair], size: int, second_size: int) -> Iterator[_Hole]:
    low = second_low = 0
    for i, j in (*pairs, (size, second_size)):
        if i > low or j > second_low:
            yield _Hole(low, i, second_low, j)
        low, second_low = i + 1, j + 1


def _moved_paths(first: Sequence[Placed], second: Sequence[Placed], holes: Sequence[_Hole]) -> frozenset[int]:
    """Paths with the same lines in both loads, some of them elsewhere on the page."""
    touched = {path for hole in holes for _, path in first[hole.low : hole.high]}
    mine = Counter(item for item in first if item[1] in touched)
    other = Counter(item for item in second if item[1] in touched)
    changed = {path for _, path in (*(mine - other), *(other - mine))}
    return frozenset(touched - changed)


def _without_chance(first: Sequence[Placed], second: Sequence[Placed], pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs less those that are chance matches within a rotating container or between two changing lines."""
    partner = dict(pairs)
    back = {j: i for i, j in pairs}
    text = sum(len(line) for line, _ in first)
    chance = {i for run in _runs(first) if _run_rotates(first, second, run, partner, text) for i in run}
    chance |= {
        back[j] for run in _runs(second) if _run_rotates(second, first, run, back, text) for j in run if j in back
    }
    kept = [(i, j) for i, j in pairs if i not in chance]
    return _widened(first, second, _closed(first, second, kept))


def _runs(placed: Sequence[Placed]) -> Iterator[range]:
    low = 0
    for index in range(1, len(placed) + 1):
        if index == len(placed) or placed[index][1] >> 32 != placed[low][1] >> 32:
            yield range(low, index)
            low = index


def _run_rotates(
    mine: Sequence[Placed], other: Sequence[Placed], run: range, partner: dict[int, int], text: int
) -> bool:
    changed = sum(i not in partner for i in run)
    if not changed or sum(len(mine[i][0]) for i in run if i in partner) >= _MOST_EQUAL_TEXT * text:
        return False
    lines = [mine[i][0] for i in run]
    size = sum(count == 1 for count in Counter(lines).values())
    share = _CHANGED_SHARE_OF_LINKS if are_links(lines) else _CHANGED_SHARE
    if changed >= max(_FEWEST_CHANGED, share * size):
        return True
    return _is_shuffled(mine, other, run, partner)


def _is_shuffled(mine: Sequence[Placed], other: Sequence[Placed], run: range, partner: dict[int, int]) -> bool:
    """Whether the run holds the same lines in the other load, between the same stable neighbours."""
    places = [partner[i] for i in run if i in partner]
    if not places or len(run) < 3:
        return False
    container = mine[run.start][1] >> 32
    low, high = places[0], places[-1]
    while low > 0 and other[low - 1][1] >> 32 == container:
        low -= 1
    while high + 1 < len(other) and other[high + 1][1] >> 32 == container:
        high += 1
    return Counter(line for line, _ in other[low : high + 1]) == Counter(mine[i][0] for i in run)


def _closed(first: Sequence[Placed], second: Sequence[Placed], pairs: list[Pair]) -> list[Pair]:
    """The pairs less those of at most two equal lines between changing lines of the same paths."""
    holes = list(_holes(pairs, len(first), len(second)))
    dropped: set[int] = set()
    for left, right in pairwise(holes):
        between = range(left.high, right.low)
        paths = _paths(first, second, left) & _paths(first, second, right)
        if 0 < len(between) <= _CLOSED_LINES and all(first[i][1] in paths for i in between):
            dropped.update(between)
    return [(i, j) for i, j in pairs if i not in dropped]


def _widened(first: Sequence[Placed], second: Sequence[Placed], pairs: list[Pair]) -> list[Pair]:
    """The pairs less the lines after a hole that also occur inside it: no gap could end at such a line."""
    kept: list[Pair] = []
    low, second_low = 0, 0
    for i, j in pairs:
        inside = {line for line, _ in (*first[low:i], *second[second_low:j])}
        if first[i][0] not in inside:
            kept.append((i, j))
            low, second_low = i + 1, j + 1
    return kept


def _paths(first: Sequence[Placed], second: Sequence[Placed], hole: _Hole) -> set[int]:
    placed = (*first[hole.low : hole.high], *second[hole.second_low : hole.second_high])
    return {path for _, path in placed}


def _gaps(first: Sequence[Placed], second: Sequence[Placed], pairs: Sequence[Pair]) -> Iterator[Gap]:
    stables = [first[i] for i, _ in pairs], [second[j] for _, j in pairs]
    rank = {i: k for k, (i, _) in enumerate(pairs)}
    for hole in _holes(pairs, len(first), len(second)):
        place = rank.get(hole.high, len(pairs))
        yield _gap(stables, place, first[hole.low : hole.high], second[hole.second_low : hole.second_high])


def _gap(stables: Sequence[Sequence[Placed]], place: int, mine: Sequence[Placed], other: Sequence[Placed]) -> Gap:
    """A gap before the stable line number `place`, with as much context as keeps other places out of it.

    `stables` are the stable lines as each load has them: the same texts, mostly at the same paths.
    """
    stable = stables[0]
    following = stable[place][0] if place < len(stable) else _END_OF_PAGE
    paths = tuple(sorted({path for _, path in (*mine, *other)}))
    longest = max(len(mine), len(other))
    sort = Counter(mine) == Counter(other)
    candidates = [
        Gap(n, context_digest(stable[max(0, place - n) : place], n), line_digest(following), longest, paths, sort)
        for n in _CONTEXTS
    ]
    fitting = (gap for gap in candidates if not any(_hides_elsewhere(gap, lines) for lines in stables))
    return next(fitting, candidates[-1])


def _hides_elsewhere(gap: Gap, stable: Sequence[Placed]) -> bool:
    return any(
        gap_length(gap, stable, at) and context_digest(stable[max(0, at - gap.context) : at], gap.context) == gap.before
        for at in range(len(stable))
        if stable[at][1] in gap.paths
    )
