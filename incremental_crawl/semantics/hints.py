"""How far a sitemap's or a feed's lastmod can be believed: learnt per root source from what its pages turned out to be.

A hint orders the queue and proves nothing. `moved` says that a page's lastmod was another one than at its last check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import sqrt

STAMP_SHARE = 0.8
"""A reading that moves lastmod on more than this share of a root's pages is a stamp and hints at nothing."""
MIN_JUDGED = 20
"""Below this many pages nothing is said of a reading as a whole."""
LEAST_PRECISION = 0.2
"""Hints that are right less often than this are ignored until they are right more often."""
PROVEN = 1.5
"""Moved dates that were changes, fading, before they count in the order: two, or so."""
SAMPLE = 5
"""So many pages of an unproven root are asked first in a visit because their date moved, the longest overdue ones."""
KEPT = 0.9
"""What is left of earlier evidence at every visit that adds some."""
ENOUGH_TOLD = 5
"""Below so much evidence a figure is not told."""


class Reading(StrEnum):
    """What the dates of a root's last reading look like, taken together."""

    PLAIN = "plain"
    NONE = "none"
    STAMP = "stamp"
    ALL_EQUAL = "all_equal"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class ReadingCounts:
    """A root's listing beside what was known: pages listed, with a date, different dates, dates ahead of tomorrow.

    `compared` pages had a date before as well, of which `moved` have another one now.
    """

    root: str
    entries: int
    dated: int
    different: int
    future: int
    compared: int
    moved: int


@dataclass(frozen=True, slots=True)
class HintEvidence:
    """One visit's checks of the pages that a root lists, counted."""

    checked: int = 0
    moved: int = 0
    changed: int = 0
    moved_changed: int = 0


@dataclass(frozen=True, slots=True)
class HintLedger:
    """What is known of one root's hints; a row of the state's `hint_ledger`. The counts fade (see `KEPT`)."""

    root: str
    reading: Reading = Reading.NONE
    entries: int = 0
    dated: int = 0
    moved: float = 0.0
    changed: float = 0.0
    moved_changed: float = 0.0
    checked: float = 0.0

    @property
    def precision(self) -> float:
        """How often a moved lastmod meant a changed page: one half while nothing is known."""
        return (self.moved_changed + 1) / (self.moved + 2)

    @property
    def recall(self) -> float:
        """How often a changed page had a moved lastmod: one half while nothing is known."""
        return (self.moved_changed + 1) / (self.changed + 2)

    @property
    def hints(self) -> bool:
        """Whether a moved lastmod of the last reading can mean anything."""
        return self.reading not in (Reading.STAMP, Reading.ALL_EQUAL, Reading.NONE)

    @property
    def useful(self) -> bool:
        """Whether a moved lastmod brings its page's next check forward; it does until it was wrong too often."""
        return self.hints and self.precision >= LEAST_PRECISION

    @property
    def weight(self) -> float:
        """How much a moved lastmod counts in the order of the queue: its precision, and 0 where it is not better.

        It has to have been right twice, and clearly (by a standard deviation) twice as often as pages change whose date
        stands: one that moves by chance is right as often as pages change anyway.
        """
        standing = (self.changed - self.moved_changed + 1) / (self.checked - self.moved + 2)
        at_least = self.precision - sqrt(self.precision * (1 - self.precision) / (self.moved + 2))
        better = self.moved_changed >= PROVEN and at_least >= 2 * standing
        return self.precision if self.useful and better else 0.0

    @property
    def unproven(self) -> bool:
        """Whether a few pages with a moved lastmod are asked first, to learn what it is worth."""
        return self.useful and self.moved_changed < PROVEN


def read_as(counts: ReadingCounts) -> Reading:
    """What a reading's dates look like."""
    if not counts.dated:
        return Reading.NONE
    if counts.dated >= MIN_JUDGED and counts.different == 1:
        return Reading.ALL_EQUAL
    if counts.compared >= MIN_JUDGED and counts.moved > STAMP_SHARE * counts.compared:
        return Reading.STAMP
    return Reading.FUTURE if 2 * counts.future > counts.dated else Reading.PLAIN


def after_reading(ledger: HintLedger, counts: ReadingCounts) -> HintLedger:
    """The ledger after a root was read."""
    return replace(ledger, reading=read_as(counts), entries=counts.entries, dated=counts.dated)


def learn(ledger: HintLedger, seen: HintEvidence) -> HintLedger:
    """The ledger after a visit's checks; a visit without a moved date and without a change teaches nothing."""
    kept = KEPT if seen.moved or seen.changed else 1.0
    return replace(
        ledger,
        moved=kept * ledger.moved + seen.moved,
        changed=kept * ledger.changed + seen.changed,
        moved_changed=kept * ledger.moved_changed + seen.moved_changed,
        checked=kept * ledger.checked + seen.checked,
    )


def reliability(ledger: HintLedger) -> str:
    """How far the root's lastmod can be believed, in a phrase with its figures."""
    match ledger.reading:
        case Reading.NONE:
            return "no lastmod"
        case Reading.ALL_EQUAL:
            return "ignored: every lastmod is the same"
        case Reading.STAMP:
            return "ignored: nearly every lastmod moved at once, as a build stamp does"
    told = []
    if ledger.moved >= ENOUGH_TOLD:
        told.append(f"{100 * ledger.moved_changed / ledger.moved:.0f} % of moved lastmods were changes")
    if ledger.changed >= ENOUGH_TOLD:
        told.append(f"{100 * ledger.moved_changed / ledger.changed:.0f} % of changes had moved theirs")
    if ledger.reading is Reading.FUTURE:
        told.append("most lie in the future")
    if not ledger.useful:
        told.append("ignored")
    return "; ".join(told) or "too few checks to say"
