"""How a host is treated that says it is overloaded: longer pauses, fewer requests at once, more time between them.

What it says concerns the host, not the page that happened to be asked (RFC 6585 §4, RFC 9110 §15.6.4). Each incident
doubles the pause and the interval and halves the concurrency; a row of answers forgives the last incident.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(hours=1)
FORGIVEN_AFTER = 10
"""So many answers in a row take the last incident back."""
LEAST_INTERVAL_S = 0.05
"""The interval that is doubled where the site file sets no rate."""
LONGEST_INTERVAL_S = 60.0
_MOST_INCIDENTS = 16


@dataclass(frozen=True, slots=True)
class Strain:
    """Incidents that are not forgiven yet, and the answers in a row since the last of them."""

    incidents: int = 0
    answers: int = 0

    def refused(self) -> Strain:
        """After one more incident."""
        return Strain(min(self.incidents + 1, _MOST_INCIDENTS))

    def answered(self) -> Strain:
        """After an answer that shows no strain."""
        if not self.incidents:
            return self
        if self.answers + 1 < FORGIVEN_AFTER:
            return Strain(self.incidents, self.answers + 1)
        return Strain(self.incidents - 1)

    def concurrency(self, allowed: int) -> int:
        """How many of `allowed` requests may be in flight."""
        return max(1, allowed >> self.incidents)

    def interval_s(self, usual_s: float) -> float:
        """Seconds between two requests where `usual_s` would be kept otherwise; never fewer than these."""
        if not self.incidents:
            return usual_s
        raised = max(usual_s, LEAST_INTERVAL_S) * (1 << self.incidents)
        return max(usual_s, min(raised, LONGEST_INTERVAL_S))

    def pause(self, chance: float) -> timedelta:
        """How long the host is left alone where it does not say so itself; `chance` (0 to 1) adds up to a half.

        A second after the first incident, doubling up to an hour, so that many crawlers do not come back together.
        """
        doubled = FIRST_PAUSE * (1 << (max(self.incidents, 1) - 1))
        return min(doubled, LONGEST_PAUSE) * (1 + chance / 2)


@dataclass(frozen=True, slots=True)
class HostStrain:
    """What is remembered of a host between visits: until when it is left alone (UTC), and how strained it is.

    `interval_s` are the seconds kept between two requests to it, for people to read.
    """

    not_before: datetime | None = None
    incidents: int = 0
    interval_s: float = 0.0
