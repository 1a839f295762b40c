"""How a site's known URLs grow and shrink: what was left out of them, and what is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

MAX_PAGES = "max_pages"
MAX_NEW = "max_new_per_visit"
LINKS = "links"
LISTINGS = "listings"
_KEPT_VISITS = 10


@dataclass(frozen=True, slots=True)
class LeftOut:
    """URLs that a visit found in `links` or `listings` and did not take in.

    `reason` is `max_pages`, `max_new_per_visit` or the name of a trap; `example` is one of them.
    """

    found_in: str
    reason: str
    left_count: int
    example: str | None = None


def note_left_out(state: State, visit: int, rows: Sequence[LeftOut]) -> None:
    """Count what was left out; to be called in a transaction."""
    if rows:
        state.run("DELETE FROM left_out WHERE visit <= ?", [visit - _KEPT_VISITS])
    for row in rows:
        state.run(
            "INSERT INTO left_out VALUES (?, ?, ?, ?, ?)",
            [visit, row.found_in, row.reason, row.left_count, row.example],
        )


def left_out(state: State, visit: int) -> list[LeftOut]:
    """What the visit left out, by where it was found and why."""
    rows = state.rows(
        "SELECT found_in, reason, sum(left_count)::BIGINT, any_value(example) FROM left_out WHERE visit = ? "
        "GROUP BY ALL ORDER BY ALL",
        [visit],
    )
    return [LeftOut(*row) for row in rows]


def forget(state: State, before: datetime) -> int:
    """Drop URLs that nothing has listed, linked or answered since `before`; returns how many. In a transaction.

    Only those that were asked and of which no record was ever made. A link counts as long as the page it was found on
    is live and unchanged since, for that page is not read again. Redirects, their targets and start URLs stay.
    """
    forgotten = state.arrow(query("forgotten"), {"before": before})
    if forgotten.num_rows:
        with state.bound("forgotten", forgotten):
            for table in ("known_urls", "last_named", "links_read"):
                state.run(f"DELETE FROM {table} WHERE url IN (SELECT url FROM forgotten)")
    return forgotten.num_rows
