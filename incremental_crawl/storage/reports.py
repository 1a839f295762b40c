"""What a visit came to, counted in SQL from what is stored, so that a resumed visit counts like an undisturbed one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State


@dataclass(frozen=True, slots=True)
class VisitCounts:
    """A visit's summary; `bytes_full` is what downloading every live page once would have cost."""

    known: int
    live: int
    due: int
    asked: int
    requests: int
    not_modified: int
    same_hash: int
    changed: int
    new: int
    rebaselined: int
    restored: int
    moved: int
    gone: int
    failed: int
    audits: int
    false_304: int
    bytes_received: int
    bytes_full: int
    next_due: datetime | None

    @property
    def bytes_saved(self) -> int:
        """What was not downloaded, compared with downloading every live page."""
        return max(0, self.bytes_full - self.bytes_received)

    @property
    def saved_percent(self) -> float:
        """The share of a full crawl that was not downloaded, in per cent."""
        return 100.0 * self.bytes_saved / self.bytes_full if self.bytes_full else 0.0

    def numbers(self) -> dict[str, int | float]:
        """The counts by name, for metadata."""
        return {
            "pages known": self.known,
            "pages live": self.live,
            "due": self.due,
            "asked": self.asked,
            "requests": self.requests,
            "304 not modified": self.not_modified,
            "same hash": self.same_hash,
            "changed": self.changed,
            "new": self.new,
            "rebaselined": self.rebaselined,
            "restored": self.restored,
            "moved": self.moved,
            "gone": self.gone,
            "failed": self.failed,
            "audits": self.audits,
            "false 304": self.false_304,
            "bytes received": self.bytes_received,
            "bytes saved": self.bytes_saved,
            "saved percent": round(self.saved_percent, 1),
        }


AFTER_THE_SWEEP = ("same hash", "changed", "new", "rebaselined", "restored", "moved", "gone", "audits", "false 304")
"""What a sweep cannot know yet: zeros of these would be plotted as if they were counted."""


def count_visit(state: State, visit: int) -> VisitCounts:
    """Count the visit; to be asked before its outbox is emptied."""
    return VisitCounts(*state.rows(query("count_visit"), {"visit": visit})[0])


def spent(state: State, visit: int) -> tuple[int, int]:
    """Requests sent and bytes received in the visit so far; what robots.txt refused was not sent and took no time."""
    row = state.rows(
        "SELECT count(*) FILTER (status IS NOT NULL OR elapsed_ms > 0), coalesce(sum(bytes), 0)::BIGINT "
        "FROM outbox_observations WHERE visit = ?",
        [visit],
    )[0]
    return row[0], row[1]


def keep_observations(state: State, observations: Sequence[Observation]) -> None:
    """Append observations that belong to no page."""
    state.append("outbox_observations", observations)
