"""What sitemaps and feeds list: read source by source, merged into the known URLs once per visit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

STAMP_SHARE = 0.8
"""A reading that moves lastmod on more than this share of the pages is a stamp and hints at nothing."""
MIN_JUDGED = 20
"""Below this many listed pages neither a stamp nor a shrinking is called."""


@dataclass(frozen=True, slots=True)
class Source:
    """A sitemap or feed as it was last read. `entries` counts pages, `children` are the sitemaps of an index.

    `scope` is the fingerprint of the scope that decided which entries were kept.
    """

    url: str
    visit: int
    kind: str
    status: int | None
    etag: str | None
    last_modified: str | None
    sha256: str | None
    entries: int
    children: tuple[str, ...]
    problem: str | None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What one visit's reading changed."""

    new: int
    unlisted: int
    hinted: int
    shrunk: bool
    stamped: bool
    dropped: int


def source(state: State, url: str) -> Source | None:
    """The source as it was last read, or None."""
    columns = "url, visit, kind, status, etag, last_modified, sha256, entries, children, problem, scope"
    rows = state.dicts(f"SELECT {columns} FROM sources WHERE url = ?", [url])
    return Source(**rows[0] | {"children": tuple(rows[0]["children"])}) if rows else None


def read_before(state: State, visit: int) -> list[str]:
    """The sources that the last visit before `visit` read."""
    rows = state.rows("SELECT url FROM sources WHERE visit = (SELECT max(visit) FROM sources WHERE visit < ?)", [visit])
    return [row[0] for row in rows]


def store(
    state: State, read: Source, listed: pa.Table | None, complete: bool, observations: Sequence[Observation]
) -> None:
    """Keep a reading in one transaction.

    `listed` (url, lastmod) replaces the source's listing, None keeps it. A reading that is not `complete` only adds:
    what is missing from half a sitemap proves nothing.
    """
    with state.transaction():
        state.run("DELETE FROM sources WHERE url = ?", [read.url])
        state.append("sources", [read])
        if listed is not None:
            with state.bound("listed", listed):
                anew = "true" if complete else "url IN (SELECT url FROM listed)"
                state.run(f"DELETE FROM listings WHERE source = ? AND {anew}", [read.url])
            state.append(
                "listings", listed.add_column(0, "source", pa.array([read.url] * listed.num_rows, pa.string()))
            )
        state.append("outbox_observations", observations)


def has_yielded(state: State, start_urls: Sequence[str]) -> bool:
    """Whether sitemaps and feeds have ever listed anything beyond the start URLs."""
    return bool(
        state.value(
            "SELECT count(*) FROM known_urls WHERE (listed OR source LIKE 'sitemap:%' OR source LIKE 'feed:%') "
            "AND NOT list_contains(?::VARCHAR[], url)",
            [list(start_urls)],
        )
    )


def merge(
    state: State, visit: int, now: datetime, minimum: timedelta, shrink_limit: float, max_pages: int
) -> MergeReport:
    """Bring the listings into the known URLs; to be called inside a transaction.

    New entries join the frontier as far as `max_pages` allows, moved lastmod values bring pages forward, a gone page
    that is listed anew is due at once. Where the listing shrank by more than `shrink_limit`, nothing is unlisted.
    """
    state.run("DELETE FROM listings WHERE source NOT IN (SELECT url FROM sources WHERE visit = ?)", [visit])
    counts = _counts(state)
    shrunk = counts["before"] >= MIN_JUDGED and counts["kept"] < (1 - shrink_limit) * counts["before"]
    stamped = counts["both"] >= MIN_JUDGED and counts["moved"] > STAMP_SHARE * counts["both"]
    room = max(0, max_pages - int(state.value("SELECT count(*) FROM known_urls")))
    state.script(
        "merge_listings",
        {"now": now, "minimum": minimum, "keep_listed": shrunk, "hints": not stamped, "room": room},
    )
    hinted = 0 if stamped else counts["moved"]
    new = min(room, counts["new"])
    unlisted = 0 if shrunk else counts["before"] - counts["kept"]
    return MergeReport(new, unlisted, hinted, shrunk, stamped, counts["new"] - new)


def _counts(state: State) -> dict[str, Any]:
    return state.dicts(query("count_listings"))[0]
