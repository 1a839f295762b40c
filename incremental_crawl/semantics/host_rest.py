"""When a host that blocks is left alone: after twenty blocks in a row it rests for an hour, doubling to a day.

Counted over pages and visits; any good answer of the host starts anew. After a rest one page is asked before the
others: while that one is blocked too, the host goes on resting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from incremental_crawl.semantics.block_signs import BlockKind, BlockSign

BLOCKS_BEFORE_REST = 20
WARY_AFTER = 3
"""From so many blocks in a row on the host is asked for one page at a time, and weak signs count for more."""
FIRST_REST = timedelta(hours=1)
LONGEST_REST = timedelta(days=1)
_MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class HostBlocks:
    """What is known of a host that blocks; instants are UTC.

    `blocks` are those in a row, `signs` those of them that are more than a status of a single page. `since` is the
    first of them, `reason` the last one's sentence; `answered_in` the last visit in which the host answered well.
    """

    host: str
    since: datetime | None = None
    blocks: int = 0
    signs: int = 0
    rests: int = 0
    next_try: datetime | None = None
    kind: BlockKind | None = None
    reason: str | None = None
    answered_in: int = 0
    visit: int = 0

    def blocked(self, sign: BlockSign, at: datetime, visit: int, may_rest: bool = True) -> HostBlocks:
        """After one more block; the host rests from `at` on where it was the last straw and `may_rest` says so.

        Statuses of single pages (403 and the like) count only while nothing else of the host answers in the visit.
        """
        more = replace(
            self,
            since=self.since or at,
            blocks=self.blocks + 1,
            signs=self.signs + (sign.kind is not BlockKind.REFUSED),
            kind=sign.kind,
            reason=sign.sentence,
            visit=visit,
        )
        enough = more.blocks >= BLOCKS_BEFORE_REST and (more.signs > 0 or more.answered_in < visit)
        if not may_rest or not enough or self.rests_at(at):
            return more
        rest = min(FIRST_REST * (1 << min(self.rests, _MOST_DOUBLINGS)), LONGEST_REST)
        return replace(more, rests=self.rests + 1, next_try=at + rest)

    def answered(self, visit: int) -> HostBlocks:
        """After a good answer: nothing of the blocks counts any more."""
        return HostBlocks(self.host, answered_in=visit)

    def rests_at(self, now: datetime) -> bool:
        """Whether the host is not to be asked now."""
        return self.next_try is not None and self.next_try > now

    @property
    def is_wary(self) -> bool:
        """Whether the host is asked for one page at a time."""
        return self.blocks >= WARY_AFTER

    @property
    def is_blocked(self) -> bool:
        """Whether the host is said to be blocked: it rests, or nothing of it was let through in its last visit."""
        return self.next_try is not None or (self.blocks > 0 and self.answered_in < self.visit)
