"""Which lines two texts have in common: the longest common subsequence, in bounded time and memory.

Rows of the table are bits of long integers (Hyyrö's bit-parallel form), so that its cost is fixed by the number of
cells. difflib's is not: 2,000 against 2,000 lines can keep it busy for minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

CELL_LIMIT = 100_000_000
LINE_LIMIT = 400_000


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `old_start:old_end` of the old text that stand where `new_start:new_end` of the new one are."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """The differing blocks in order; the lines between them are equal.

    Where the differing middles are too large to align (over 400,000 lines, or 100 million pairs of lines that occur
    in both) they are one block.
    """
    start, old_end, new_end = _trimmed(old, new)
    if start == old_end and start == new_end:
        return []
    anchors = [(start - 1, start - 1), *_common_lines(old, new, start, old_end, new_end), (old_end, new_end)]
    gaps = (Block(i + 1, next_i, j + 1, next_j) for (i, j), (next_i, next_j) in pairwise(anchors))
    return [gap for gap in gaps if gap.old_start < gap.old_end or gap.new_start < gap.new_end]


def _trimmed(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """Where the equal start ends, and where in each text the equal end starts."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    left = shorter - start
    tail = next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)
    return start, len(old) - tail, len(new) - tail


def _common_lines(
    old: Sequence[str], new: Sequence[str], start: int, old_end: int, new_end: int
) -> list[tuple[int, int]]:
    if old_end - start + new_end - start > LINE_LIMIT:
        return []
    in_both = set(old[start:old_end]).intersection(new[start:new_end])
    old_at = [at for at in range(start, old_end) if old[at] in in_both]
    new_at = [at for at in range(start, new_end) if new[at] in in_both]
    if len(old_at) * len(new_at) > CELL_LIMIT:
        return []
    # The shorter text makes the rows: long integers are fast, many of them are not.
    if len(old_at) <= len(new_at):
        pairs = _longest_common([old[at] for at in old_at], [new[at] for at in new_at])
        return [(old_at[row], new_at[column]) for row, column in pairs]
    pairs = _longest_common([new[at] for at in new_at], [old[at] for at in old_at])
    return [(old_at[column], new_at[row]) for row, column in pairs]


def _longest_common(rows: list[str], columns: list[str]) -> list[tuple[int, int]]:
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


def _path_through(table: list[bytes], width: int) -> list[tuple[int, int]]:
    """From the last cell back: a cleared bit says that the column adds one common line within the rows so far."""
    pairs: list[tuple[int, int]] = []
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
