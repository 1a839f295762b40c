"""What each client scored, as the page `docs/conformance.md`: written from verdicts, and read back by the tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from incremental_crawl.origin.adversarial import AdversarialOrigin, Behaviour, Kept, Verdict, verdicts

PASSED, HELD, WRONG = "✓", "data", "✗"
"""Marks: nothing was wrong; the right text was held in every round, but something else was wrong; it was not held."""


@dataclass(frozen=True, slots=True)
class Score:
    """A client's marks by the behaviours' names, and what the server counted over all of them."""

    client: str
    version: str
    marks: Mapping[str, str]
    honest_304s: int
    body_bytes: int
    requests: int

    def count(self, *marks: str) -> int:
        """How many behaviours have one of `marks`."""
        return sum(mark in marks for mark in self.marks.values())


def score(client: str, version: str, found: Mapping[str, Verdict], held: Mapping[str, Verdict]) -> Score:
    """The score by all verdicts and by those on the held texts alone.

    The 304s of behaviours whose 304s are false after an edit (`audited`) do not count as honest.
    """
    marks = {
        name: PASSED if one.passed else HELD if held[name].passed else WRONG for name, one in found.items()
    }  # fmt: skip
    return Score(
        client,
        version,
        marks,
        sum(one.honest_304s for one in found.values() if not one.behaviour.audited),
        sum(one.body_bytes for one in found.values()),
        sum(one.requests for one in found.values()),
    )


def held_verdicts(
    origin: AdversarialOrigin, rounds: Sequence[Mapping[str, Kept]], behaviours: Sequence[Behaviour]
) -> dict[str, Verdict]:
    """The verdicts on what was held alone: neither events nor what the server was asked count."""
    texts = [{url: replace(kept, events=None) for url, kept in one.items()} for one in rounds]
    return verdicts(origin, texts, [replace(one, checks=()) for one in behaviours])


def tables(scores: Sequence[Score], behaviours: Sequence[Behaviour]) -> Iterator[str]:
    """The lines of the page's three parts: totals, totals by kind, marks by behaviour."""
    total = len(behaviours)
    yield from ("## Totals", "")
    yield from _table(
        ["client", "version", f"passed, of {total}", "right data held", "honest 304s", "body MB", "requests"],
        (
            [
                one.client,
                one.version,
                f"**{one.count(PASSED)}**",
                str(one.count(PASSED, HELD)),
                f"{one.honest_304s:,}",
                f"{one.body_bytes / 1e6:,.1f}",
                f"{one.requests:,}",
            ]
            for one in scores
        ),
    )
    kinds = [(str(kind), [one.name for one in own]) for kind, own in groupby(behaviours, key=lambda one: one.kind)]
    clients = [one.client for one in scores]
    yield from ("", "## Passed, by kind", "")
    yield from _table(
        ["kind", "behaviours", *clients],
        ([kind.replace("_", " "), str(len(own)), *(str(_passed(one, own)) for one in scores)] for kind, own in kinds),
    )
    yield from ("", "## By behaviour", "")
    yield from _table(
        ["behaviour", *clients], ([f"`{one.name}`", *(mine.marks[one.name] for mine in scores)] for one in behaviours)
    )


def read_totals(page: str) -> dict[str, tuple[int, int]]:
    """Client → behaviours passed, and behaviours with the right data, as the page's first table says."""
    head, rows = _read(page, "client")
    right = head.index("right data held")
    return {row[0]: (int(row[2].strip("*")), int(row[right])) for row in rows}


def read_marks(page: str) -> dict[str, dict[str, str]]:
    """Client → behaviour → mark, as the page's last table says."""
    [_, *clients], rows = _read(page, "behaviour")
    return {client: {row[0].strip("`"): row[at] for row in rows} for at, client in enumerate(clients, 1)}


def _passed(one: Score, names: Sequence[str]) -> int:
    return sum(one.marks[name] == PASSED for name in names)


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join(['---'] * len(head))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _read(page: str, first: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table whose first column is called `first`."""
    for table in re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        if head[0] == first:
            return head, rows
    raise ValueError(f"the page has no table of {first}s")
