"""Whether a 304 was false: what is asked about an audited page that differs, and what the answers come to.

A server is accused last. Noise, an edit under way and one that came after the 304 explain the difference first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from incremental_crawl.semantics.decision import Judgement
from incremental_crawl.semantics.outcome import Outcome

STEADY_LOADS = 16
"""So many loads after the repeated 304 have to repeat the difference: what shows at every other load does so by chance
once in 65,536 times."""
MOST_FAILED = 2
"""So many of an audit's further loads may fail."""


class Question(StrEnum):
    """What has to be asked before anything can be said."""

    LOAD = "load"
    CONDITION = "condition"


class Verdict(StrEnum):
    """What an audit came to.

    `TRUE`: nothing speaks against the 304. `PUT_OFF`: the page's loads contradict each other, or it could not be asked;
    nothing is decided. `RACE`: it changed after the 304. `UNPROVEN`: it changed, and whether before the 304 was not
    looked into. `FALSE_304`: it had changed and was answered 304 all the same.
    """

    TRUE = "true"
    PUT_OFF = "put_off"
    RACE = "race"
    UNPROVEN = "unproven"
    FALSE_304 = "false_304"


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is known of one audited page.

    `differs` says that another record was found than the one that is held, `places` in which places; those that read
    otherwise in a further load are left out. `loads` and `steady` count these loads before and after the condition was
    `repeated`, `failed` those that brought nothing. One that is `spared` is not followed up any further.
    """

    differs: bool
    places: frozenset[int] = frozenset()
    loads: int = 0
    repeated: Outcome | None = None
    steady: int = 0
    failed: int = 0
    spared: bool = False

    def loaded(self, moved: frozenset[int] | None) -> Inquiry:
        """After one more load that reads otherwise in these places; None: it failed."""
        if moved is None:
            return replace(self, failed=self.failed + 1)
        before = self.repeated is None
        places, loads, steady = self.places - moved, self.loads + before, self.steady + (not before)
        return replace(self, places=places, loads=loads, steady=steady)

    def answered(self, outcome: Outcome) -> Inquiry:
        """After the condition that was answered 304 was sent again, and what the answer meant."""
        return replace(self, repeated=outcome)


def begin(judgement: Judgement, places: frozenset[int], pairs: int) -> Inquiry:
    """The inquiry into an audited page as it was judged: where it differs, and how many further loads that took."""
    if judgement.outcome is Outcome.RETRY_LATER:
        return Inquiry(True)
    return Inquiry(judgement.outcome is Outcome.CHANGED, places, pairs)


def weigh(inquiry: Inquiry) -> Verdict | Question:
    """The verdict, or what has to be asked first.

    One load tells noise from change, then the repeated condition tells a race from a lie. Where it is answered 304 once
    more the page is loaded on: noise with few faces shows the same one twice by chance, and an edit may have been
    undone before the condition came.
    """
    if not inquiry.differs:
        return Verdict.TRUE
    if not inquiry.places or inquiry.failed > MOST_FAILED:
        return Verdict.PUT_OFF
    match inquiry.repeated:
        case None:
            return Question.CONDITION if inquiry.loads else Question.LOAD
        case Outcome.MODIFIED:
            return Verdict.RACE
        case Outcome.NOT_MODIFIED if inquiry.spared:
            return Verdict.UNPROVEN
        case Outcome.NOT_MODIFIED:
            return Verdict.FALSE_304 if inquiry.steady >= STEADY_LOADS else Question.LOAD
        case _:
            return Verdict.PUT_OFF
