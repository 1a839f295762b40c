"""Reading the datasets: an in-memory DuckDB with a view for each. Never opens a state file, never locks a crawl."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

_GROWING = ("body_snapshots", "page_records", "page_diffs", "tombstones", "observations")
_COPIES = ("pages", "hosts")
_RECORDS = "records/site=*/type=*/records.parquet"


class UnknownSite(Exception):
    """No dataset holds anything of the site."""


class QueryFailed(Exception):
    """A query of a person's was wrong; the message is the engine's."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which change events are wanted; None is no restriction. `since` is an instant of observation."""

    site: str | None = None
    since: datetime | None = None
    after: str | None = None
    kind: str | None = None
    field: str | None = None
    corrections: bool = False
    run_id: str | None = None


class Datasets:
    """Views over the Parquet files as they are at this moment."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._con = duckdb.connect()
        self._con.execute("SET TimeZone = 'UTC'")
        self.views = [name for name in (*_GROWING, *_COPIES) if self._view(name)]
        if self._has(_RECORDS):
            self._con.execute(
                f"CREATE VIEW records AS SELECT * FROM read_parquet('{self._glob(_RECORDS)}', "
                "union_by_name = true, hive_partitioning = true)"
            )
            self.views.append("records")

    def __enter__(self) -> Datasets:
        return self

    def __exit__(self, *exc: object) -> None:
        self._con.close()

    def query(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of a person's query. Raises `QueryFailed`."""
        try:
            result = self._con.execute(sql)
            names = [column[0] for column in result.description or []]
            return names, result.fetchall()
        except duckdb.Error as error:
            raise QueryFailed(str(error)) from None

    def events(self, wanted: EventFilter) -> pa.Table:
        """Change events in the order of their ids, published ones only."""
        conditions, values = ["true"], {}
        for name, condition in _CONDITIONS.items():
            value = getattr(wanted, name)
            if value is not None:
                conditions.append(condition)
                values[name] = value
        if not wanted.corrections and wanted.kind != "corrected":
            conditions.append("kind <> 'corrected'")
        if "page_diffs" not in self.views:
            return pa.table({})
        table: pa.Table = self._con.sql(
            f"SELECT * EXCLUDE (day) FROM page_diffs WHERE {' AND '.join(conditions)} ORDER BY event_id",
            params=values or None,
        ).to_arrow_table()
        return table

    def site_summaries(self, now: datetime) -> list[dict[str, Any]]:
        """One row per site: pages, due, gone, moved, stale, failing, next due time, last check."""
        if "pages" not in self.views:
            return []
        table = self._con.sql(_SUMMARIES, params={"now": now}).to_arrow_table()
        return table.to_pylist()  # type: ignore[no-any-return]

    def hosts(self, site: str) -> list[dict[str, Any]]:
        """The site's hosts with their learned mode, 304 ratio and verdict."""
        if "hosts" not in self.views:
            return []
        table = self._con.sql(_HOSTS, params={"site": site}).to_arrow_table()
        return table.to_pylist()  # type: ignore[no-any-return]

    def failing(self, site: str, limit: int) -> list[dict[str, Any]]:
        """Pages whose last checks failed, worst first, with the last error that was observed."""
        if "pages" not in self.views:
            return []
        table = self._con.sql(_FAILING, params={"site": site, "limit": limit}).to_arrow_table()
        return table.to_pylist()  # type: ignore[no-any-return]

    def _view(self, name: str) -> bool:
        pattern = f"{name}/site=*/day=*/*.parquet" if name in _GROWING else f"{name}/site=*/{name}.parquet"
        if not self._has(pattern):
            return False
        self._con.execute(
            f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{self._glob(pattern)}', hive_partitioning = true, "
            "hive_types_autocast = false)"
        )
        return True

    def _has(self, pattern: str) -> bool:
        return next(self._root.glob(pattern), None) is not None

    def _glob(self, pattern: str) -> str:
        return str(self._root / pattern).replace("'", "''")


_CONDITIONS = {
    "site": "site = $site",
    "since": "observed_at >= $since",
    "after": "event_id > $after",
    "kind": "kind = $kind",
    "run_id": "run_id = $run_id",
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
ORDER BY count(*) FILTER (failures > 0) / count(*) DESC, site
"""

_HOSTS = """
SELECT host, mode, conditional_requests, not_modified, same_hash, audits,
    CASE WHEN not_modified + same_hash > 0 THEN round(not_modified / (not_modified + same_hash), 3) END AS ratio_304,
    blocked_since, not_before, verdict
FROM hosts WHERE site = $site ORDER BY host
"""

_FAILING = """
SELECT p.url, p.failures, p.next_due,
    (SELECT arg_max(coalesce(o.error, 'status ' || o.status), o.observed_at) FROM observations o
     WHERE o.site = p.site AND o.url = p.url) AS error
FROM pages p WHERE p.site = $site AND p.failures > 0 ORDER BY p.failures DESC, p.url LIMIT $limit
"""
