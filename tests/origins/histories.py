"""Editing histories of pages: which text each page had when, read from a file or made up, and what is true of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq

FIRST_VISIT = datetime(2026, 5, 1, tzinfo=UTC)
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Version:
    """One row of a history: `text` was the page's from `valid_from` until before `valid_to` (None = still is)."""

    page: str
    valid_from: datetime
    valid_to: datetime | None
    text: str

    def holds_at(self, moment: datetime) -> bool:
        """Whether this is the page's version at an aware moment."""
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)


@dataclass(frozen=True, slots=True)
class Truth:
    """What a visit must find when it compares with an earlier one: names of pages."""

    new: frozenset[str]
    changed: frozenset[str]
    gone: frozenset[str]


def read_history(path: Path) -> list[Version]:
    """The rows of a Parquet file with the columns page, valid_from, valid_to and text."""
    return [Version(**row) for row in pq.read_table(path).to_pylist()]


def current(versions: Iterable[Version], moment: datetime) -> dict[str, Version]:
    """The version of every page that exists at a moment, by page."""
    return {version.page: version for version in versions if version.holds_at(moment)}


def truth_between(versions: Iterable[Version], before: datetime, after: datetime) -> Truth:
    """The true difference of two moments; a page that was edited and edited back has not changed."""
    versions = list(versions)
    old, new = current(versions, before), current(versions, after)
    changed = frozenset(page for page in old.keys() & new.keys() if old[page].text != new[page].text)
    return Truth(frozenset(new.keys() - old.keys()), changed, frozenset(old.keys() - new.keys()))


def visit_moments(visits: int, start: datetime = FIRST_VISIT, every: timedelta = WEEK) -> list[datetime]:
    """When the visits take place, the first one at `start`."""
    return [start + number * every for number in range(visits)]


def synthetic_history(
    pages: int = 40, visits: int = 6, seed: int = 0, start: datetime = FIRST_VISIT, every: timedelta = WEEK
) -> list[Version]:
    """A made-up history for `visit_moments(visits, start, every)`.

    Between any two visits a tenth of the pages is edited (one word, a number, or a paragraph more or less), one page is
    edited and edited back, one appears, and from the second interval on one disappears, which returns two intervals
    later with another text.
    """
    story = _Story(random.Random(seed), pages, start)
    for moment in visit_moments(visits, start, every)[:-1]:
        story.live_through(moment, every)
    return story.versions()


class _Story:
    def __init__(self, chance: random.Random, pages: int, start: datetime) -> None:
        self._chance = chance
        self._intervals = 0
        self._count = 0
        self._open: dict[str, tuple[datetime, str]] = {}
        self._closed: list[Version] = []
        self._away: list[tuple[str, str]] = []
        for _ in range(pages):
            self._appear(start)

    def versions(self) -> list[Version]:
        still = [Version(page, at, None, text) for page, (at, text) in self._open.items()]
        return sorted([*self._closed, *still], key=lambda version: (version.page, version.valid_from))

    def live_through(self, begin: datetime, every: timedelta) -> None:
        """One interval: all edits come after the visit at `begin` and well before the next."""
        self._intervals += 1
        names = self._chance.sample(sorted(self._open), max(1, len(self._open) // 10) + 2)
        leaving, wavering, *edited = names
        for page in edited:
            self._edit(page, self._moment(begin, every, 0.05, 0.9))
        unchanged = self._open[wavering][1]
        self._edit(wavering, self._moment(begin, every, 0.05, 0.4))
        self._replace(wavering, self._moment(begin, every, 0.5, 0.9), unchanged)
        self._appear(self._moment(begin, every, 0.05, 0.9))
        self._leave_and_return(leaving, self._moment(begin, every, 0.05, 0.9))

    def _moment(self, begin: datetime, every: timedelta, earliest: float, latest: float) -> datetime:
        share = self._chance.uniform(earliest, latest)
        return (begin + every * share).replace(microsecond=0)

    def _appear(self, at: datetime) -> None:
        self._count += 1
        page = f"page-{self._count:04d}"
        self._open[page] = (at, _text(self._chance, page))

    def _edit(self, page: str, at: datetime) -> None:
        self._replace(page, at, _edited(self._chance, self._open[page][1]))

    def _replace(self, page: str, at: datetime, text: str) -> None:
        self._close(page, at)
        self._open[page] = (at, text)

    def _close(self, page: str, at: datetime) -> None:
        since, text = self._open.pop(page)
        self._closed.append(Version(page, since, at, text))

    def _leave_and_return(self, leaving: str, at: datetime) -> None:
        if self._intervals > 3:
            page, text = self._away.pop(0)
            self._open[page] = (at, _edited(self._chance, text))
        if self._intervals > 1:
            self._away.append((leaving, self._open[leaving][1]))
            self._close(leaving, at)


_WORDS = (
    "anchor", "balance", "canvas", "decision", "element", "fallback", "gradient", "harness", "interval", "junction",
    "kernel", "lattice", "margin", "notation", "operand", "parcel", "quorum", "register", "segment", "template",
    "update", "vector", "witness", "yield", "accept", "before", "change", "define", "during", "every", "follow",
    "given", "however", "include", "keep", "limit", "measure", "narrow", "often", "permit", "quickly", "return",
    "several", "though", "unless",
)  # fmt: skip


def _sentence(chance: random.Random) -> str:
    words = [chance.choice(_WORDS) for _ in range(chance.randrange(7, 15))]
    words.insert(chance.randrange(1, len(words)), str(chance.randrange(100, 9_999)))
    return " ".join(words).capitalize() + "."


def _paragraph(chance: random.Random) -> str:
    sentences = " ".join(_sentence(chance) for _ in range(chance.randrange(2, 5))).split()
    lines = [" ".join(sentences[n : n + 11]) for n in range(0, len(sentences), 11)]
    return "\n".join(lines)


def _text(chance: random.Random, page: str) -> str:
    title = f"About {page} and the {chance.choice(_WORDS)}"
    blocks = [f"Page: {page}\nTitle: {title}\nStatus: {chance.choice(('Draft', 'Active', 'Final'))}"]
    for number in range(chance.randrange(2, 5)):
        heading = f"{chance.choice(_WORDS).capitalize()} {number + 1}"
        blocks += [f"{heading}\n{'=' * len(heading)}", *(_paragraph(chance) for _ in range(chance.randrange(1, 4)))]
        blocks.append(f"    {chance.choice(_WORDS)} = {chance.choice(_WORDS)}({chance.randrange(100)})")
    return "\n\n".join(blocks) + "\n"


def _edited(chance: random.Random, text: str) -> str:
    """Another text, never the same one."""
    blocks = text.rstrip("\n").split("\n\n")
    kind = chance.randrange(4)
    if kind == 0:
        blocks.insert(chance.randrange(2, len(blocks)), _paragraph(chance))
    elif kind == 1 and len(blocks) > 6:
        del blocks[chance.randrange(2, len(blocks))]
    else:
        blocks = _with_one_word_changed(chance, blocks)
    return "\n\n".join(blocks) + "\n"


def _with_one_word_changed(chance: random.Random, blocks: Sequence[str]) -> list[str]:
    at = chance.choice([n for n, block in enumerate(blocks) if n > 0 and block.count(" ") > 6])
    words = blocks[at].split(" ")
    position = chance.randrange(1, len(words))
    old = words[position]
    words[position] = str(int(old) + 1) if old.isdecimal() else f"{old}s"
    return [*blocks[:at], " ".join(words), *blocks[at + 1 :]]


def by_page(versions: Iterable[Version]) -> Mapping[str, list[Version]]:
    """The versions of every page, oldest first."""
    pages: dict[str, list[Version]] = {}
    for version in sorted(versions, key=lambda version: version.valid_from):
        pages.setdefault(version.page, []).append(version)
    return pages
