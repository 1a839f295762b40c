"""When a URL is asked again: plain intervals between `min` and `max`, doubling where a page fails or is gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST_RETRY = timedelta(minutes=15)
_MAX_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class Cadence:
    """The intervals of a site; with `every_run` every URL is due in every visit."""

    default: timedelta
    minimum: timedelta
    maximum: timedelta
    every_run: bool = False

    def after_check(self, now: datetime) -> datetime:
        """The next check of a page that answered."""
        return now if self.every_run else now + self._clip(self.default)

    def after_failure(self, now: datetime, failures: int, not_before: datetime | None = None) -> datetime:
        """The next try after `failures` consecutive failed checks; never before a Retry-After."""
        wait = min(_doubled(FIRST_RETRY, failures - 1), self.default)
        due = now if self.every_run else now + wait
        return max(due, not_before) if not_before is not None else due

    def after_gone(self, now: datetime, checks: int) -> datetime:
        """The next probe of a gone page that was found gone `checks` times in a row."""
        return now if self.every_run else now + min(_doubled(self.default, checks - 1), self.maximum)

    def after_moved(self, now: datetime) -> datetime:
        """The next look at the source of a permanent redirect."""
        return now if self.every_run else now + self.maximum

    def brought_forward(self, last_checked: datetime | None, due: datetime, now: datetime) -> datetime:
        """The due time once a hint (a moved lastmod, a new listing) says "now", never sooner than `minimum`."""
        earliest = now if last_checked is None else last_checked + self.minimum
        return min(due, max(now, earliest))

    def _clip(self, interval: timedelta) -> timedelta:
        return max(self.minimum, min(interval, self.maximum))


def _doubled(interval: timedelta, times: int) -> timedelta:
    return interval * (1 << max(0, min(times, _MAX_DOUBLINGS)))
