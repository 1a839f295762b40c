"""A state file of an older release is rewritten in the schema of this one; the old file stays beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from incremental_crawl.storage.durable import sync_directory
from incremental_crawl.storage.engine import quoted
from incremental_crawl.storage.sql import query


def migrate(path: Path, found: int, wanted: int) -> Path:
    """Rewrite the state file at `path` from schema version `found` to `wanted`; returns where the old file now is.

    Columns that both versions have are copied, new ones start as they do in a new state. The new file takes the place
    of the old one only when it is complete, so a crash on the way loses nothing. The site's lock has to be held.
    """
    kept, fresh = path.with_name(f"{path.name}.v{found}"), path.with_name(f".{path.name}.tmp")
    for leftover in (fresh, fresh.with_name(f"{fresh.name}.wal")):
        leftover.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as old:
        old.execute("CHECKPOINT")
    with duckdb.connect(str(fresh)) as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute(query("schema"))
        con.execute(f"ATTACH '{quoted(path)}' AS older (READ_ONLY)")
        for table, columns in _common_columns(con).items():
            names = ", ".join(f'"{name}"' for name in columns)
            con.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM older."{table}"')
        for statement in (own for version in range(found, wanted) for own in _LATER.get(version, ())):
            con.execute(statement)
        con.execute("""UPDATE meta SET "value" = ? WHERE "key" = 'schema_version'""", [str(wanted)])
        con.execute("DETACH older")
        con.execute("CHECKPOINT")
    if not kept.exists():
        try:
            kept.hardlink_to(path)
        except OSError:  # not every file system has links
            shutil.copy2(path, kept)
    fresh.replace(path)
    sync_directory(path.parent)
    return kept


_LATER = {
    1: (
        "INSERT INTO host_pauses SELECT host, not_before, 0, 0 FROM older.hosts WHERE not_before IS NOT NULL",
        (
            "INSERT INTO ledger BY NAME SELECT host, '/' AS path_group, 'both' AS mode, 'none' AS cause, "
            "'none' AS suspected, 0 AS suspected_visits, conditional_requests AS conditional, not_modified, "
            "same_hash AS same_record, 0 AS recent_not_modified, 0 AS recent_same_record, 0 AS flips, 0 AS unasked, "
            "0 AS bodies, 0 AS bare, audits, 0 AS clean_audits, 0 AS false_304, 0 AS distrusted, 0 AS head_agreed, "
            "0 AS head_disagreed FROM older.hosts"
        ),
    ),
    2: ("UPDATE known_urls SET checked_lastmod = lastmod WHERE held",),
}
"""What a version kept elsewhere than the next one does."""


def _common_columns(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    rows = con.execute(
        "SELECT n.table_name, n.column_name FROM duckdb_columns() n "
        "JOIN duckdb_columns() o ON o.database_name = 'older' AND o.table_name = n.table_name "
        "AND o.column_name = n.column_name "
        "JOIN duckdb_tables() t ON t.database_name = current_database() AND t.table_name = n.table_name "
        "WHERE n.database_name = current_database() ORDER BY n.table_name, n.column_index"
    ).fetchall()
    common: dict[str, list[str]] = {}
    for table, column in rows:
        common.setdefault(table, []).append(column)
    return common
