"""Which lines two texts have in common: the longest common subsequence, in bounded time and memory.

Rows of the table are bits of long integers (Hyyrö's bit-parallel form), so that its cost is fixed by the number of
cells. difflib's is not: 2,000 against 2,000 lines can keep it busy for minutes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

CELL_LIMIT = 100_000_000
BOX_CELL_LIMIT = 6_000_000
LINE_LIMIT = 400_000

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `old_start:old_end` of the old text that stand where `new_start:new_end` of the new one are."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The differing blocks in order; the lines between them are equal.

    The shortest difference, unless the differing middles are too large to align (over 100 million pairs of lines that
    occur in both): these are first cut at lines that occur once in each. Where that is of no help either, or beyond
    400,000 lines, they are one block.
    """
    start, old_end, new_end = _trimmed(old, new)
    if start == old_end and start == new_end:
        return []
    middle = Block(start, old_end, start, new_end)
    return _blocks(middle, _common_lines(old, new, middle))


def matched_pairs(first: Sequence[str], second: Sequence[str]) -> list[Pair]:
    """The positions (i, j) of lines taken as the same line of both sequences, rising in both.

    The lines that `changed_blocks` leaves out.
    """
    start, end, second_end = _trimmed(first, second)
    common = _common_lines(first, second, Block(start, end, start, second_end))
    return [
        *((at, at) for at in range(start)),
        *common,
        *((at, at - end + second_end) for at in range(end, len(first))),
    ]


def _blocks(middle: Block, pairs: Sequence[Pair]) -> list[Block]:
    """What lies between the pairs."""
    anchors = [(middle.old_start - 1, middle.new_start - 1), *pairs, (middle.old_end, middle.new_end)]
    gaps = (Block(i + 1, next_i, j + 1, next_j) for (i, j), (next_i, next_j) in pairwise(anchors))
    return [gap for gap in gaps if gap.old_start < gap.old_end or gap.new_start < gap.new_end]


def _trimmed(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """Where the equal start ends, and where in each text the equal end starts."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    left = shorter - start
    tail = next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)
    return start, len(old) - tail, len(new) - tail


def _common_lines(old: Sequence[str], new: Sequence[str], middle: Block) -> list[Pair]:
    if middle.old_end - middle.old_start + middle.new_end - middle.new_start > LINE_LIMIT:
        return []
    pairs = _aligned(old, new, middle, CELL_LIMIT)
    if pairs is not None:
        return pairs
    anchors = _unique_lines(old, new, middle)
    boxes = _blocks(middle, anchors) if anchors else []
    inside = (_aligned(old, new, box, BOX_CELL_LIMIT) or [] for box in boxes)
    return sorted([*anchors, *(pair for pairs in inside for pair in pairs)])


def _aligned(old: Sequence[str], new: Sequence[str], box: Block, cells: int) -> list[Pair] | None:
    """Common lines of a part of both texts; None where that would take more than `cells` comparisons."""
    in_both = set(old[box.old_start : box.old_end]).intersection(new[box.new_start : box.new_end])
    old_at = [at for at in range(box.old_start, box.old_end) if old[at] in in_both]
    new_at = [at for at in range(box.new_start, box.new_end) if new[at] in in_both]
    old_left, new_left = [old[at] for at in old_at], [new[at] for at in new_at]
    if old_left == new_left:
        return list(zip(old_at, new_at, strict=True))
    if len(old_at) * len(new_at) > cells:
        return None
    # The shorter text makes the rows: long integers are fast, many of them are not.
    if len(old_at) <= len(new_at):
        return [(old_at[row], new_at[column]) for row, column in _longest_common(old_left, new_left)]
    return [(old_at[column], new_at[row]) for row, column in _longest_common(new_left, old_left)]


def _unique_lines(old: Sequence[str], new: Sequence[str], box: Block) -> list[Pair]:
    """Lines that occur once in each text, as many as keep their order."""
    counts, new_counts = Counter(old[box.old_start : box.old_end]), Counter(new[box.new_start : box.new_end])
    place = {new[at]: at for at in range(box.new_start, box.new_end)}
    once = (at for at in range(box.old_start, box.old_end) if counts[old[at]] == 1 == new_counts[old[at]])
    return _longest_rising([(at, place[old[at]]) for at in once])


def _longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        place = bisect_left(tails, j)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [j]
        ends[place : place + 1] = [index]
    rising: list[Pair] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        rising.append(pairs[index])
        index = before[index]
    return rising[::-1]


def _longest_common(rows: list[str], columns: list[str]) -> list[Pair]:
    """Pairs of equal lines, increasing in both."""
    masks = _bit_masks(columns)
    everything = (1 << len(columns)) - 1
    state = everything
    table: list[bytes] = []
    for line in rows:
        hits = state & masks[line]
        state = ((state + hits) | (state - hits)) & everything
        table.append(state.to_bytes(len(columns) // 8 + 1, "little"))
    return _path_through(table, len(columns))


def _bit_masks(columns: list[str]) -> dict[str, int]:
    """For each line the columns in which it stands, as bits."""
    size = len(columns) // 8 + 1
    bits: dict[str, bytearray] = {}
    for at, line in enumerate(columns):
        mask = bits.get(line)
        if mask is None:
            mask = bits[line] = bytearray(size)
        mask[at >> 3] |= 1 << (at & 7)
    return {line: int.from_bytes(mask, "little") for line, mask in bits.items()}


def _path_through(table: list[bytes], width: int) -> list[Pair]:
    """From the last cell back: a cleared bit says that the column adds one common line within the rows so far."""
    pairs: list[Pair] = []
    row, column = len(table), width
    while row and column:
        if not _cleared(table[row - 1], column - 1):
            column -= 1
        elif row > 1 and _cleared(table[row - 2], column - 1):
            row -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    pairs.reverse()
    return pairs


def _cleared(state: bytes, column: int) -> bool:
    return not state[column >> 3] >> (column & 7) & 1
