"""How text goes to the terminal: colours only where they are wanted, tables aligned, no line ever wrapped or cut."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

import click
from rich.cells import cell_len

# Text from web pages must not move the cursor or change the terminal.
_CONTROLS = {code: "�" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}
_GAP = "  "
_WIDE_SCREEN = 240


def respect_no_color(ctx: click.Context) -> None:
    """Leave colours out where NO_COLOR is set; where stdout is no terminal click leaves them out itself."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def shown(text: object) -> str:
    """Text that may come from a web page, without control characters."""
    return str(text).translate(_CONTROLS)


def columns() -> int:
    """The width of the terminal."""
    return shutil.get_terminal_size().columns


def heading(text: str) -> str:
    """A bold title with a rule to the edge of the terminal, at most a hundred columns."""
    rule = "─" * max(3, min(columns(), 100) - cell_len(text) - 1)
    return f"{click.style(text, bold=True)} {click.style(rule, dim=True)}"


def indented(text: str, by: int) -> str:
    """Every line moved to the right."""
    return "\n".join(" " * by + line for line in text.splitlines())


def diff_lines(diff: str) -> str:
    """A unified diff in the usual colours."""
    return "\n".join(click.style(shown(line), fg=_colour(line)) for line in diff.splitlines())


def _colour(line: str) -> str | None:
    if line.startswith(("+++", "---")):
        return None
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> list[str]:
    """A line for the head and one per row, aligned, each as long as its content; `right`: columns set to the right."""
    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]
    sides = right or [False] * len(head)
    return [click.style(_line(head, widths, sides), dim=True), *(_line(row, widths, sides) for row in rows)]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        space = " " * (width - cell_len(click.unstyle(cell)))
        padded.append(space + cell if to_right else cell + space)
    return _GAP.join(padded).rstrip()


def records(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """One block of `name  value` lines per row, for rows that are too wide for a table."""
    width = max(map(cell_len, head), default=0)
    lines = []
    for number, row in enumerate(rows, start=1):
        lines.append(click.style(f"── row {number} ", dim=True))
        for name, cell in zip(head, row, strict=True):
            first, *more = cell.split("\n")
            lines.append(f"{click.style(name.ljust(width), bold=True)}{_GAP}{first}")
            lines.extend(" " * (width + len(_GAP)) + line for line in more)
    return lines


def fits(head: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table of these rows can be read: as wide as the terminal, or as a screen where stdout is none."""
    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]
    several_lines = any("\n" in cell for row in rows for cell in row)
    widest = columns() if sys.stdout.isatty() else _WIDE_SCREEN
    return not several_lines and sum(widths) + len(_GAP) * (len(widths) - 1) <= widest
