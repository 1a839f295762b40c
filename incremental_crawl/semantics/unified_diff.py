"""A unified diff for people, limited in size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incremental_crawl.semantics.digest import well_formed
from incremental_crawl.semantics.line_alignment import Block, changed_blocks
from incremental_crawl.semantics.long_text import shortened, shortened_pair

CONTEXT_LINES = 1
DIFF_LIMIT_BYTES = 64 * 1024
LINE_LIMIT_CHARACTERS = 4_000
HEADER = ("--- old", "+++ new")

_LINE_BREAKS = {ord(mark): repr(mark)[1:-1] for mark in "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"}

# Kept free for the sentences that say what was cut.
_RESERVE_BYTES = 300


def unified_diff(old: Sequence[str], new: Sequence[str]) -> tuple[str, bool]:
    """The diff of two lists of lines with one line of context, at most 64 KiB of UTF-8, and whether it was cut.

    Equal lists give an empty text. Line breaks inside a line are written as escapes, a line longer than 4,000
    characters ends in `…`, and a line that starts with a backslash says how much is not shown.
    """
    blocks = changed_blocks(old, new)
    if not blocks:
        return "", False
    writer = _Writer(old, new)
    for hunk in _hunks(blocks):
        writer.write(hunk)
        if writer.full:
            break
    return writer.text(), writer.cut


class _Writer:
    """Lines of a diff until there is no room for more."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old = old
        self._new = new
        self._lines = list(HEADER)
        self._left = DIFF_LIMIT_BYTES - _RESERVE_BYTES
        self.full = False
        self.cut = False

    def write(self, hunk: list[Block]) -> None:
        start = max(hunk[0].old_start - CONTEXT_LINES, 0)
        end = min(hunk[-1].old_end + CONTEXT_LINES, len(self._old))
        self._add(_hunk_header(hunk, hunk[0].old_start - start, end - hunk[-1].old_end))
        for block in hunk:
            self._equal(start, block.old_start)
            if self.full:
                return
            self._changed(block)
            start = block.old_end
        self._equal(start, end)

    def text(self) -> str:
        lines = self._lines
        if self.full:
            lines = [*lines, f"\\ cut here: {len(self._old)} lines before, {len(self._new)} lines after"]
        return "\n".join(lines) + "\n"

    def _equal(self, start: int, end: int) -> None:
        for line in self._old[start:end]:
            self._add(f" {line}")

    def _changed(self, block: Block) -> None:
        removed, added = self._sides(block)
        # Neither side of a large block may take the room of the other.
        unseen_removed = self._side("-", removed, keep_free=self._left // 2 if added else 0)
        unseen_added = self._side("+", added, keep_free=0)
        if unseen_removed or unseen_added:
            self._stop(f"\\ and {unseen_removed} more lines removed, {unseen_added} more lines added")

    def _sides(self, block: Block) -> tuple[Sequence[str], Sequence[str]]:
        """The lines of both sides; a long line that was replaced by one line is shown from where they differ."""
        removed = self._old[block.old_start : block.old_end]
        added = self._new[block.new_start : block.new_end]
        if len(removed) != 1 or len(added) != 1:
            return removed, added
        old_line, new_line = shortened_pair(removed[0], added[0], LINE_LIMIT_CHARACTERS - 10)
        self.cut = self.cut or (old_line, new_line) != (removed[0], added[0])
        return [old_line], [new_line]

    def _side(self, mark: str, lines: Sequence[str], keep_free: int) -> int:
        """Adds changed lines while there is room; how many of them it had to leave out."""
        for number, line in enumerate(lines):
            if not self._add(mark + line, keep_free):
                return len(lines) - number
        return 0

    def _add(self, line: str, keep_free: int = 0) -> bool:
        short = shortened(line, LINE_LIMIT_CHARACTERS)
        printed = _one_line(short)
        size = len(printed.encode()) + 1
        if self.full or size > self._left - keep_free:
            self.full = self.full or not keep_free
            self.cut = True
            return False
        self.cut = self.cut or short is not line
        self._left -= size
        self._lines.append(printed)
        return True

    def _stop(self, sentence: str) -> None:
        self._lines.append(sentence)
        self.full = self.cut = True


def _one_line(text: str) -> str:
    return text if text.isprintable() else well_formed(text).translate(_LINE_BREAKS)


def _hunks(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks in groups whose context lines touch or overlap."""
    group = [blocks[0]]
    for block in blocks[1:]:
        if block.old_start - group[-1].old_end > 2 * CONTEXT_LINES:
            yield group
            group = []
        group.append(block)
    yield group


def _hunk_header(hunk: list[Block], before: int, after: int) -> str:
    old_range = _range(hunk[0].old_start - before, hunk[-1].old_end + after)
    new_range = _range(hunk[0].new_start - before, hunk[-1].new_end + after)
    return f"@@ -{old_range} +{new_range} @@"


def _range(start: int, end: int) -> str:
    """Line numbers as the unified format has them: from 1, the length only where it is not 1."""
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"
