"""The catalogue as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from incremental_crawl.origin.adversarial.behaviour import Behaviour, Kind

TITLES = {
    Kind.VALIDATORS: "Validators of every shape",
    Kind.CONDITIONS: "Validators that cannot be relied on",
    Kind.NOT_MODIFIED: "304",
    Kind.HEAD: "HEAD",
    Kind.FRAMING: "Framing",
    Kind.NETWORK: "Connections",
    Kind.ENCODING: "Content codings",
    Kind.CHARSET: "Character encodings",
    Kind.REDIRECTS: "Redirects",
    Kind.ROBOTS: "robots.txt",
    Kind.URLS: "Addresses",
    Kind.POLITENESS: "Overload",
    Kind.DISAPPEARANCE: "Disappearance",
    Kind.BLOCKED: "Answers that are not the page",
    Kind.NOISE: "Noise",
}
_HEAD = ("behaviour", "the server", "the right answer", "outcomes", "authority")


def markdown(behaviours: Sequence[Behaviour]) -> str:
    """A section with a table for each kind."""
    sections = []
    for kind, own in groupby(behaviours, key=lambda one: one.kind):
        rows = [_row(one) for one in own]
        sections.append("\n".join([f"### {TITLES[kind]}", "", _line(_HEAD), _line(["---"] * len(_HEAD)), *rows, ""]))
    return "\n".join(sections)


def _row(one: Behaviour) -> str:
    outcomes = told(one.outcomes) + (" (audited)" if one.audited else "")
    cells = (f"`{one.name}`", one.summary, one.right, outcomes, one.authority)
    return _line([cell.replace("|", "\\|") for cell in cells])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def told(outcomes: Iterable[str]) -> str:
    """The outcomes round by round, equal ones counted: `new, not_modified ×2, changed`."""
    words = []
    for outcome, same in groupby(outcomes):
        count = len(list(same))
        words.append(outcome.replace("|", " or ") + (f" ×{count}" if count > 1 else ""))
    return ", ".join(words)
