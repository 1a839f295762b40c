"""What sitemaps and feeds list: read source by source, merged into the known URLs once per visit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import pyarrow as pa

from incremental_crawl.storage import hints
from incremental_crawl.storage.listing_guard import Guarded, guard
from incremental_crawl.storage.rows import Observation
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State


class FoundBy(StrEnum):
    """How a source came to be read."""

    SITE_FILE = "site file"
    ROBOTS = "robots.txt"
    PLACE = "usual place"
    INDEX = "index"


NAMED = frozenset({FoundBy.SITE_FILE, FoundBy.ROBOTS})
"""How a source is found that somebody vouches for."""


@dataclass(frozen=True, slots=True)
class Source:
    """A sitemap or feed as it was last read. `entries` counts pages, `children` are the sitemaps of an index.

    `problem` says why this visit could not read it, `warnings` what was wrong in the content that is held, and
    `complete` whether that was read to its end. `scope` is the fingerprint of the scope that decided which entries were
    kept; `root` the source with which reading began; validators belong to `hop_url` where redirects led there.
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
    root: str | None = None
    found_by: FoundBy | None = None
    hop_url: str | None = None
    warnings: str | None = None
    complete: bool = True

    @property
    def found(self) -> bool:
        """Whether this visit read it and it is a sitemap or a feed."""
        return self.problem is None and self.sha256 is not None

    @property
    def is_guess(self) -> bool:
        """Whether it is a usual place where no sitemap ever was: that it holds none is no fault."""
        return self.found_by == FoundBy.PLACE and self.sha256 is None

    @property
    def hindered(self) -> bool:
        """Whether the host could not answer at all, which says nothing about this source."""
        return self.problem is not None and (self.status is None or self.status == 429 or self.status >= 500)


@dataclass(frozen=True, slots=True)
class ListingCounts:
    """Of one source: entries that are pages of the site, those of them with a lastmod, and those that were new."""

    entries: int
    dated: int
    new: int


@dataclass(frozen=True, slots=True)
class SitemapRoot:
    """A sitemap that robots.txt named or that was looked for in a usual place, as it was last read."""

    source: Source
    read_at: datetime


_FIELDS = tuple(field.name for field in fields(Source))
_SOURCE_COLUMNS = ", ".join(_FIELDS)


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What one visit's reading changed."""

    new: int
    unlisted: int
    hinted: int
    dropped: int
    guarded: Guarded


def source(state: State, url: str) -> Source | None:
    """The source as it was last read, or None."""
    rows = _sources(state, "url = ?", [url])
    return rows[0] if rows else None


def _sources(state: State, condition: str, parameters: Sequence[Any] = ()) -> list[Source]:
    rows = state.dicts(f"SELECT {_SOURCE_COLUMNS} FROM sources WHERE {condition}", parameters)
    return [_source(row) for row in rows]


def _source(row: dict[str, Any]) -> Source:
    found_by = row["found_by"]
    return Source(**row | {"children": tuple(row["children"]), "found_by": FoundBy(found_by) if found_by else None})


def read_in(state: State, visit: int) -> list[Source]:
    """The sources that were last read in this visit."""
    return _sources(state, "visit = ?", [visit])


def read_last(state: State) -> list[Source]:
    """The sources that were read by the last visit that read any."""
    return _sources(state, "visit = (SELECT max(visit) FROM sources)")


def sitemap_roots(state: State) -> list[SitemapRoot]:
    """The sitemaps with which reading ever began by itself, the site file's left out, the newest reading of each.

    In a state of an older release nobody knows how sources were found: there all count.
    """
    found = f"SELECT {_SOURCE_COLUMNS} FROM sources WHERE coalesce(found_by, '') NOT IN ('site file', 'index')"
    rows = state.dicts(f"SELECT s.*, v.opened_at AS read_at FROM ({found}) s JOIN visits v USING (visit)")
    return [SitemapRoot(_source({name: row[name] for name in _FIELDS}), row["read_at"]) for row in rows]


def listing_counts(state: State, opened_at: datetime) -> dict[str, ListingCounts]:
    """By source what it lists after the merge of the visit that was opened at `opened_at`."""
    rows = state.rows(
        "SELECT source, entries, dated, coalesce(new, 0) "
        "FROM (SELECT source, count(*) AS entries, count(lastmod) AS dated FROM listings GROUP BY source) "
        "LEFT JOIN (SELECT substr(source, instr(source, ':') + 1) AS source, count(*) AS new FROM known_urls "
        "WHERE first_seen = ? AND listed GROUP BY source) USING (source)",
        [opened_at],
    )
    return {row[0]: ListingCounts(*row[1:]) for row in rows}


def unknown_by_source(state: State) -> list[tuple[str, int]]:
    """How many listed URLs of each source are not known, most first: those that `max_pages` left out."""
    rows = state.rows(
        "SELECT source, count(*) FROM listings ANTI JOIN known_urls USING (url) GROUP BY source ORDER BY 2 DESC, 1"
    )
    return [(row[0], row[1]) for row in rows]


def note_problem(state: State, url: str, problem: str) -> None:
    """Say of a source that was read why what it names could not be."""
    state.run("UPDATE sources SET problem = ? WHERE url = ?", [problem, url])


def store(
    state: State, read: Source, listed: pa.Table | None, complete: bool, observations: Sequence[Observation]
) -> None:
    """Keep a reading in one transaction.

    `listed` (url, lastmod, changefreq, priority; each URL once) replaces the source's listing, None keeps it. Only what
    differs is written. A reading that is not `complete` only adds: what is missing from half a sitemap proves nothing.
    """
    with state.transaction():
        state.run("DELETE FROM sources WHERE url = ?", [read.url])
        state.append("sources", [read])
        if listed is not None:
            with state.bound("listed", listed):
                state.script("replace_listing", {"source": read.url, "complete": complete})
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
    state: State,
    visit: int,
    now: datetime,
    minimum: timedelta,
    shrink_limit: float,
    max_pages: int,
    in_scope: Callable[[str], bool],
) -> MergeReport:
    """Bring the listings into the known URLs; to be called inside a transaction.

    New entries join the frontier as far as `max_pages` allows, moved lastmod values bring pages forward, a gone page
    that is listed anew is due at once. What a listing lost that shrank by more than `shrink_limit` stays listed.
    """
    state.run("DELETE FROM listings WHERE source NOT IN (SELECT url FROM sources WHERE visit = ?)", [visit])
    state.script("compare_listings")
    counts = _counts(state)
    guarded = guard(state, visit, now, shrink_limit, in_scope)
    readings = hints.note_readings(state, now)
    room = max(0, max_pages - int(state.value("SELECT count(*) FROM known_urls")))
    new = min(room, counts["new"])
    left_out = _first_left_out(state, room) if new < counts["new"] else None
    kept = int(state.value("SELECT count(*) FROM kept_listed"))
    with hints.bound_weights(state):
        state.script("merge_listings", {"now": now, "minimum": minimum, "first_left_out": left_out})
    known = hints.ledgers(state)
    hinted = sum(own.moved for root, own in readings.items() if known[root].useful)
    return MergeReport(new, counts["unlisted"] - kept, hinted, counts["new"] - new, guarded)


def _first_left_out(state: State, room: int) -> int:
    """The row of the listings where new URLs no longer fit: those that come before it are taken in."""
    new = "SELECT place FROM compared WHERE known IS NULL AND place = first_place ORDER BY place"
    return int(state.value(f"{new} LIMIT 1 OFFSET ?", [room]))


def _counts(state: State) -> dict[str, Any]:
    return state.dicts(query("count_listings"))[0]
