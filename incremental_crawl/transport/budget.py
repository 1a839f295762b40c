"""What one visit may still spend: requests, bytes received, time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class BudgetSpent(Exception):
    """Raised before a request is sent that the visit cannot pay for any more; the page was not asked."""


class HostResting(BudgetSpent):
    """Raised before a request to a host that wants to be left alone for longer than a visit waits."""


@dataclass(slots=True)
class Budget:
    """Limits of one visit; None is no limit. `deadline` is a moment of `time.monotonic()`, in seconds."""

    requests: int | None = None
    bytes: int | None = None
    deadline: float | None = None
    requests_spent: int = field(default=0, init=False)
    bytes_spent: int = field(default=0, init=False)

    def spend(self, requests: int = 0, bytes: int = 0) -> None:  # noqa: A002
        """Charge requests sent and bytes received; charging more than is left is allowed and leaves nothing."""
        self.requests_spent += requests
        self.bytes_spent += bytes

    def left(self) -> bool:
        """Whether one more request may be sent now."""
        return self.spent_on() is None

    def spent_on(self) -> str | None:
        """The site file's key of the limit that is reached, None while something of each is left."""
        if self.requests is not None and self.requests_spent >= self.requests:
            return "requests_per_visit"
        if self.bytes is not None and self.bytes_spent >= self.bytes:
            return "bytes_per_visit"
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time_per_visit"
        return None

    @property
    def requests_left(self) -> int | None:
        """How many more requests may be sent, None where they are not limited."""
        return None if self.requests is None else max(0, self.requests - self.requests_spent)
