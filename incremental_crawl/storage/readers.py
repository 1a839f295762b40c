"""Reading the datasets: an in-memory DuckDB with a view for each. Never opens a state file, never locks a crawl."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

_GROWING = ("page_records", "page_diffs", "tombstones", "observations", "body_snapshots")
_COPIES = ("pages", "hosts")
_GLOBS = {
    "records": "records/site=*/type=*/records.parquet",
    **{name: f"{name}/site=*/{name}.parquet" for name in _COPIES},
    **{name: f"{name}/site=*/day=*/*.parquet" for name in _GROWING},
}
_EVENTS_AT_A_TIME = 500


class QueryFailed(Exception):
    """A query of a person's was wrong; the message is the engine's."""


class DatasetsUnreadable(Exception):
    """A file of the datasets cannot be read; the message names it."""


class UnknownEvent(Exception):
    """No published event has this id."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which change events are wanted; None is no restriction. `since` is an instant of observation.

    `after` is the id of the event that was taken last: the events that were published after it are wanted.
    """

    site: str | None = None
    since: datetime | None = None
    after: str | None = None
    kind: str | None = None
    field: str | None = None
    corrections: bool = False
    visit: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a statement came to; without names it has no rows to show."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Datasets:
    """Views over the Parquet files as they are at this moment."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._con = duckdb.connect()
        self._con.execute("SET TimeZone = 'UTC'")
        self.views = [name for name in _GLOBS if self._view(name)]

    def __enter__(self) -> Datasets:
        return self

    def __exit__(self, *exc: object) -> None:
        self._con.close()

    @property
    def sites(self) -> list[str]:
        """The sites that have data."""
        found = {path.name.removeprefix("site=") for path in self._root.glob("*/site=*")}
        return sorted(found)

    def answers(self, text: str) -> Iterator[Answer]:
        """The answer of each statement of a person's, one after the other. Raises `QueryFailed`."""
        try:
            for statement in self._con.extract_statements(text):
                result = self._con.execute(statement)
                names = tuple(column[0] for column in result.description or [])
                yield Answer(names, result.fetchall() if names else [])
        except duckdb.Error as error:
            raise QueryFailed(self._explained(str(error))) from None

    def events(self, wanted: EventFilter) -> Iterator[dict[str, Any]]:
        """Published change events in the order of publication, then of their ids. Raises `UnknownEvent`."""
        if "page_diffs" not in self.views:
            return
        conditions, values = ["true"], dict[str, Any]()
        for name, condition in _CONDITIONS.items():
            value = getattr(wanted, name)
            if value is not None:
                conditions.append(condition)
                values[name] = value
        if not wanted.corrections and wanted.kind != "corrected":
            conditions.append("kind <> 'corrected'")
        if wanted.after is not None:
            conditions.append("(published_at, event_id) > ($published_at, $after)")
            values |= {"after": wanted.after, "published_at": self._published_at(wanted.after)}
        with _readable():
            found = self._con.sql(
                f"SELECT * EXCLUDE (day) FROM page_diffs WHERE {' AND '.join(conditions)} "
                "ORDER BY published_at, event_id",
                params=values or None,
            )
            for batch in found.to_arrow_reader(_EVENTS_AT_A_TIME):
                yield from batch.to_pylist()

    def _published_at(self, event_id: str) -> datetime:
        found = self._rows("page_diffs", "SELECT published_at FROM page_diffs WHERE event_id = $id", id=event_id)
        if not found:
            raise UnknownEvent(event_id)
        return found[0]["published_at"]  # type: ignore[no-any-return]

    def site_summaries(self, now: datetime) -> dict[str, dict[str, Any]]:
        """By site: pages, due, gone, moved, stale, failing, next due time, last check, blocked since."""
        found: dict[str, dict[str, Any]] = {site: {} for site in self.sites}
        for view, query in (("pages", _SUMMARIES), ("hosts", _BLOCKED)):
            parameters = {"now": now} if "$now" in query else {}
            for row in self._rows(view, query, **parameters):
                found.setdefault(row.pop("site"), {}).update(row)
        return found

    def hosts(self, site: str) -> list[dict[str, Any]]:
        """The site's hosts with their learned mode, 304 ratio and verdict."""
        return self._rows("hosts", _HOSTS, site=site)

    def failing(self, site: str, limit: int) -> list[dict[str, Any]]:
        """URLs whose last checks failed, worst first, with the error that was observed last."""
        return self._rows("observations", _FAILING, site=site, limit=limit) if "pages" in self.views else []

    def _rows(self, view: str, query: str, **parameters: Any) -> list[dict[str, Any]]:
        if view not in self.views:
            return []
        with _readable():
            return self._con.sql(query, params=parameters or None).to_arrow_table().to_pylist()  # type: ignore[no-any-return]

    def _view(self, name: str) -> bool:
        if next(self._root.glob(_GLOBS[name]), None) is None:
            return False
        union = ", union_by_name = true" if name == "records" else ""
        with _readable():
            self._con.execute(
                f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{self._files(name)}', hive_partitioning = true, "
                f"hive_types_autocast = false{union})"
            )
        return True

    def _files(self, name: str) -> str:
        return f"{glob.escape(str(self._root))}/{_GLOBS[name]}".replace("'", "''")

    def _explained(self, error: str) -> str:
        """A missing view is no riddle where nothing was crawled yet."""
        missing = [name for name in _GLOBS if f"Table with name {name} does not exist" in error]
        return f"{error.splitlines()[0]}\nno data yet under {self._root}: crawl a site first" if missing else error


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise DatasetsUnreadable(f"the datasets cannot be read: {error}") from None


_CONDITIONS = {
    "site": "site = $site",
    "since": "observed_at >= $since",
    "kind": "kind = $kind",
    "visit": "visit = $visit",
    "field": "list_contains([f.name FOR f IN fields], $field)",
}

_SUMMARIES = """
SELECT site, count(*) FILTER (gone_since IS NULL AND redirect_to IS NULL) AS pages,
    count(*) FILTER (next_due <= $now AND gone_since IS NULL AND redirect_to IS NULL) AS due,
    count(*) FILTER (gone_since IS NOT NULL) AS gone, count(*) FILTER (redirect_to IS NOT NULL) AS moved,
    count(*) FILTER (stale) AS stale, count(*) FILTER (failures > 0) AS failing,
    min(next_due) FILTER (next_due > $now) AS next_due, max(last_checked) AS last_checked,
    max(last_changed) AS last_changed
FROM pages GROUP BY site
"""

_BLOCKED = "SELECT site, min(blocked_since) AS blocked_since FROM hosts GROUP BY site"

_HOSTS = """
SELECT host, mode, conditional_requests, not_modified, same_hash, audits,
    CASE WHEN not_modified + same_hash > 0 THEN round(not_modified / (not_modified + same_hash), 3) END AS ratio_304,
    blocked_since, not_before, incidents, interval_s, verdict
FROM hosts WHERE site = $site ORDER BY host
"""

# Pages that are held count their failures; an address that never became a page is known by its last visit's answer.
_FAILING = """
WITH last AS (
    SELECT url, arg_max(outcome, observed_at) AS outcome, max(visit) AS visit,
        arg_max(coalesce(error, 'status ' || status), observed_at) AS error
    FROM observations WHERE site = $site AND purpose NOT IN ('robots', 'sitemap', 'mask', 'probe') GROUP BY url)
SELECT url, p.failures, p.next_due, l.error
FROM last l LEFT JOIN (SELECT * FROM pages WHERE site = $site) p USING (url)
WHERE p.failures > 0 OR (p.url IS NULL AND l.visit = (SELECT max(visit) FROM last)
    AND l.outcome IN ('incomplete', 'empty', 'blocked', 'refused', 'retry_later', 'error'))
ORDER BY p.failures DESC NULLS LAST, url LIMIT $limit
"""
