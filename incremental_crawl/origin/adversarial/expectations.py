"""What must be held of a page after each round, written as one word a round.

| word    | after this round a right client holds                                                         |
| ------- | ---------------------------------------------------------------------------------------------- |
| `v1`    | version 1 of this page                                                                          |
| `a.v1`  | version 1 of the page `/a`, to which this one leads                                              |
| `-`     | nothing (never held, or no longer)                                                              |
| `gone`  | nothing: it has reported the page as gone                                                       |
| `moved` | nothing under this address: it has reported that the page moved                                 |
| `v1|v2` | either                                                                                          |
| `v1?`   | that, and whether it reports its arrival is left open                                           |

The last word stands for all later rounds. Events follow from what is held: the first version is `new`, another one
`changed`, one that comes back `restored`; what stays is no event.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

ROUNDS = 6
"""A behaviour is judged over this many rounds."""

FIRST_EDIT = 3
"""The round, counted from 0, from which a page usually has its second version."""

_WORD = re.compile(r"(?:(?P<page>\w*)\.)?(?P<version>v[0-9]+)(?P<open>\??)|(?P<none>-|gone|moved)")


@dataclass(frozen=True, slots=True)
class Holding:
    """One allowed state: a version of a page (`page` None: of this one), or nothing for the reason `ends`."""

    version: str | None
    page: str | None = None
    event_open: bool = False
    ends: str | None = None


Allowed: TypeAlias = tuple[Holding, ...]


@dataclass(frozen=True, slots=True)
class Rounds:
    """The allowed states of one page, round by round."""

    words: tuple[str, ...]
    states: tuple[Allowed, ...]

    @classmethod
    def parse(cls, text: str) -> Rounds:
        """The track that `text` describes. Raises ValueError for a word that is none."""
        words = tuple(text.split())
        if not 0 < len(words) <= ROUNDS:
            raise ValueError(f"{text!r} has no words, or more than {ROUNDS}")
        return cls(words, tuple(tuple(_holding(one) for one in word.split("|")) for word in words))

    def at(self, number: int) -> Allowed:
        """What is allowed after round `number`."""
        return self.states[min(number, len(self.states) - 1)]

    def word(self, number: int) -> str:
        """The word for round `number`."""
        return self.words[min(number, len(self.words) - 1)]

    def outcomes(self) -> tuple[str, ...]:
        """What such a track usually means for this product, in every round."""
        words = [self.word(number) for number in range(ROUNDS)]
        return tuple(_outcome(words[number - 1] if number else None, word) for number, word in enumerate(words))


Track: TypeAlias = Rounds


def _holding(text: str) -> Holding:
    found = _WORD.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no word for what is held")
    if found["none"]:
        return Holding(None, ends=None if found["none"] == "-" else found["none"])
    return Holding(found["version"], found["page"], bool(found["open"]))


def _outcome(before: str | None, word: str) -> str:
    if before is None:
        return "new"
    if word == before:
        return "gone" if word == "gone" else "moved" if word == "moved" else "not_modified"
    if word in ("gone", "moved"):
        return word
    return "restored" if before in ("gone", "moved") else "new" if before == "-" else "changed"
