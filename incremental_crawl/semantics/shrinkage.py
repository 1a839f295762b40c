"""When a sitemap that is suddenly small is not believed, and from when on it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

MIN_JUDGED = 20
"""Below this many listed pages no shrinking is called sudden."""
BELIEVED_AFTER_VISITS = 3
BELIEVED_AFTER = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A listing of `before` pages that has shrunk to `now`; seen so since `since` (UTC, aware) in `visits` visits."""

    root: str
    before: int
    now: int
    since: datetime
    visits: int = 1

    @property
    def lost(self) -> float:
        """The share of pages that are missing."""
        return 1 - self.now / self.before

    def seen_again(self, found: Shrunk, limit: float) -> Shrunk:
        """What is known once the listing was `found` small again; one that shrank further begins anew."""
        if found.now < (1 - limit) * self.now:
            return found
        return replace(found, since=self.since, visits=self.visits + 1)

    def believed(self, at: datetime) -> bool:
        """Whether the small listing has stood long enough to be what the site wants to say."""
        return self.visits >= BELIEVED_AFTER_VISITS and at - self.since >= BELIEVED_AFTER


def is_sudden(before: int, leaving: int, now: int, limit: float) -> bool:
    """Whether a listing shrank by more than the share `limit`.

    `before` pages were listed, `leaving` of them are no more although they live, `now` are listed. One that only names
    other pages than before (news) has not shrunk.
    """
    return before >= MIN_JUDGED and leaving > limit * before and now < (1 - limit) * before
