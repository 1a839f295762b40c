"""When a URL is asked again: plain intervals between `min` and `max`, doubling where a page fails or is gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST_RETRY = timedelta(minutes=15)
_MOST_DOUBLINGS = 64
LONGEST_INTERVAL = timedelta(days=36_525)
"""A century stands for "never": a due time stays within what dates can say."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """The intervals of a site; with `every_run` every URL is due in every visit."""

    default: timedelta
    minimum: timedelta
    maximum: timedelta
    every_run: bool = False

    def after_check(self, now: datetime) -> datetime:
        """The next check of a page that answered."""
        return self._in(max(self.minimum, min(self.default, self.maximum)), now)

    def after_failure(self, now: datetime, failures: int, not_before: datetime | None = None) -> datetime:
        """The next try after `failures` consecutive failed checks; never before a Retry-After."""
        due = self._in(_doubled(FIRST_RETRY, failures - 1, self.default), now)
        return max(due, not_before) if not_before is not None else due

    def after_gone(self, now: datetime, checks: int) -> datetime:
        """The next probe of a gone page that was found gone `checks` times in a row."""
        return self._in(_doubled(self.default, checks - 1, self.maximum), now)

    def after_moved(self, now: datetime) -> datetime:
        """The next look at the source of a permanent redirect."""
        return self._in(self.maximum, now)

    def _in(self, wait: timedelta, now: datetime) -> datetime:
        return now if self.every_run else now + min(wait, LONGEST_INTERVAL)


def _doubled(interval: timedelta, times: int, most: timedelta) -> timedelta:
    """`interval` doubled `times` times, `most` where that is more."""
    factor = 1 << max(0, min(times, _MOST_DOUBLINGS))
    # Divided, not multiplied: no interval can hold a million years.
    return most if most // factor < interval else interval * factor
