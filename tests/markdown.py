"""The project's Markdown pages, as far as tests look into them: links, fenced blocks, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parent.parent
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block and the line it begins on."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Link:
    """A link or, with `image`, a picture; `target` as written."""

    page: Path
    text: str
    target: str
    image: bool

    def __str__(self) -> str:
        return f"{self.page.name}->{self.target}"


def blocks(*languages: str) -> list[Block]:
    """Every fenced block of these languages, in all pages."""
    return [block for page in PAGES for block in _blocks(page) if block.language in languages]


def links() -> list[Link]:
    """Every link and picture in all pages, those in fenced blocks left out."""
    return [
        Link(page, found["text"], found["target"], bool(found["image"]))
        for page in PAGES
        for found in _LINK.finditer(_FENCE.sub("", page.read_text(encoding="utf-8")))
    ]


def shell_commands() -> list[tuple[Block, str]]:
    """Every line of every `sh` block, with its block."""
    return [(block, line) for block in blocks("sh") for line in block.text.splitlines() if line]


def anchors(page: Path) -> set[str]:
    """The anchors that the page's headings make."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(page: Path, heading: str) -> str:
    """What stands under a second-level heading."""
    return re.split(r"^## ", page.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]


def tables(text: str) -> dict[str, list[list[str]]]:
    """The tables of a text: the heading of the first column → rows of cells, heading and rule left out."""
    found: dict[str, list[list[str]]] = {}
    for table in re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
        found[head[0]] = rows
    return found


def names(cell: str) -> list[str]:
    """The code words of a cell, without their backticks."""
    return re.findall(r"`([^`]+)`", cell)


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found["language"], dedent(found["text"]))
