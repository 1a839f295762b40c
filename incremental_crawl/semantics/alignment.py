"""Longest common runs of two sequences of lines, bounded in time whatever the lines are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]
_Box: TypeAlias = tuple[int, int, int, int]

_MOST_CELLS = 250_000


def matched_pairs(first: Sequence[str], second: Sequence[str]) -> list[Pair]:
    """The positions (i, j) of lines taken as the same line of both sequences, rising in both.

    Equal ends are matched first, then lines that occur once in each, then what lies between them. Boxes above
    250,000 cells without such a line count as wholly different.
    """
    pairs: list[Pair] = []
    boxes: list[_Box] = [(0, len(first), 0, len(second))]
    while boxes:
        box = _trimmed(first, second, boxes.pop(), pairs)
        anchors = _unique_anchors(first, second, box)
        if anchors:
            boxes.extend(_between(box, anchors))
            pairs.extend(anchors)
        else:
            pairs.extend(_small_box(first, second, box))
    return sorted(pairs)


def _trimmed(first: Sequence[str], second: Sequence[str], box: _Box, pairs: list[Pair]) -> _Box:
    low, high, second_low, second_high = box
    while low < high and second_low < second_high and first[low] == second[second_low]:
        pairs.append((low, second_low))
        low, second_low = low + 1, second_low + 1
    while low < high and second_low < second_high and first[high - 1] == second[second_high - 1]:
        high, second_high = high - 1, second_high - 1
        pairs.append((high, second_high))
    return low, high, second_low, second_high


def _unique_anchors(first: Sequence[str], second: Sequence[str], box: _Box) -> list[Pair]:
    low, high, second_low, second_high = box
    if low == high or second_low == second_high:
        return []
    once = {line for line, count in Counter(first[low:high]).items() if count == 1}
    places = {line: j for j, line in enumerate(second[second_low:second_high], second_low)}
    counts = Counter(second[second_low:second_high])
    shared = [(i, places[line]) for i, line in enumerate(first[low:high], low) if line in once and counts[line] == 1]
    return _longest_rising(shared)


def _longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        place = bisect_left(tails, j)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [j]
        ends[place : place + 1] = [index]
    return list(_walk_back(pairs, before, ends[-1] if ends else -1))[::-1]


def _walk_back(pairs: Sequence[Pair], before: Sequence[int], index: int) -> Iterator[Pair]:
    while index >= 0:
        yield pairs[index]
        index = before[index]


def _between(box: _Box, anchors: Sequence[Pair]) -> Iterator[_Box]:
    low, high, second_low, second_high = box
    for i, j in anchors:
        yield low, i, second_low, j
        low, second_low = i + 1, j + 1
    yield low, high, second_low, second_high


def _small_box(first: Sequence[str], second: Sequence[str], box: _Box) -> list[Pair]:
    low, high, second_low, second_high = box
    cells = (high - low) * (second_high - second_low)
    if not 0 < cells <= _MOST_CELLS:
        return []
    matcher = SequenceMatcher(None, first[low:high], second[second_low:second_high], autojunk=False)
    return [
        (low + block.a + k, second_low + block.b + k)
        for block in matcher.get_matching_blocks()
        for k in range(block.size)
    ]
