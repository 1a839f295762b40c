"""The state file of one site: opened under the site's lock, one connection, one writer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from incremental_crawl.storage.engine import attached
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.lock import SiteLocked, site_lock
from incremental_crawl.storage.migration import migrate
from incremental_crawl.storage.sql import query

SCHEMA_VERSION = 3
_POLL_S = 0.25
_SCHEMAS: dict[str, pa.Schema] = {}
"""The schemas of tables that were asked for: the same in every state of this release."""


class StateTooNew(Exception):
    """The state file was written by a newer release."""


class StateUnusable(Exception):
    """The state file cannot be opened; the message says why."""


class State:
    """An open state. All SQL runs here, on one connection; rows come and go as Arrow tables."""

    def __init__(self, con: duckdb.DuckDBPyConnection, layout: SiteLayout) -> None:
        self._con = con
        self.layout = layout

    def run(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> None:
        """Execute a statement and drop its result."""
        self._con.execute(sql, parameters).fetchall()

    def script(self, name: str, parameters: dict[str, Any] | None = None) -> None:
        """Run the statements of `<name>.sql`, each with the parameters that it names."""
        given = parameters or {}
        for statement in self._con.extract_statements(query(name)):
            self._con.execute(statement, {key: given[key] for key in statement.named_parameters}).fetchall()

    def rows(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """The result as tuples; for small results only."""
        return self._con.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """The first column of the first row, or None."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    def arrow(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> pa.Table:
        """The result as one Arrow table."""
        table: pa.Table = self._con.sql(sql, params=parameters or None).to_arrow_table()
        return table

    def dicts(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[dict[str, Any]]:
        """The result as one dict per row; for small results only."""
        result = self._con.execute(sql, parameters)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def append(self, table: str, rows: pa.Table | Sequence[Any]) -> None:
        """Append an Arrow table, or objects with an attribute per column, to `table`."""
        batch = rows if isinstance(rows, pa.Table) else self.to_arrow(table, rows)
        if batch.num_rows:
            with self.bound("batch_to_append", batch):
                self.run(f'INSERT INTO "{table}" BY NAME SELECT * FROM batch_to_append')

    def to_arrow(self, table: str, rows: Sequence[Any]) -> pa.Table:
        """Objects with an attribute per column of `table`, column by column, as an Arrow table of its schema."""
        schema = self.schema(table)
        columns = [pa.array(list(map(attrgetter(field.name), rows)), field.type) for field in schema]
        return pa.Table.from_arrays(columns, schema=schema)

    def schema(self, table: str) -> pa.Schema:
        """The Arrow schema of a table or view."""
        if table not in _SCHEMAS:
            _SCHEMAS[table] = self.arrow(f'SELECT * FROM "{table}" LIMIT 0').schema
        return _SCHEMAS[table]

    @contextmanager
    def bound(self, name: str, table: pa.Table) -> Iterator[None]:
        """Make an Arrow table visible to SQL under `name` inside the block."""
        self._con.register(name, table)
        try:
            yield
        finally:
            self._con.unregister(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: committed at the end of the block, rolled back on any error."""
        self._con.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._con.execute("ROLLBACK")
            raise
        self._con.execute("COMMIT")

    def checkpoint(self) -> None:
        """Write the log into the file."""
        self.run("CHECKPOINT")

    def meta(self, key: str) -> str | None:
        """A value of the `meta` table."""
        return self.value('SELECT "value" FROM meta WHERE "key" = ?', [key])  # type: ignore[no-any-return]

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the `meta` table."""
        with self.transaction():
            self.run('DELETE FROM meta WHERE "key" = ?', [key])
            self.run("INSERT INTO meta VALUES (?, ?)", [key, value])


@contextmanager
def open_state(layout: SiteLayout, purpose: str, now: datetime, wait_s: float = 60.0) -> Iterator[State]:
    """Open (or create) the site's state under its lock.

    Waits at most `wait_s` seconds for the lock and for a reader that keeps the file open. A file of an older release is
    migrated first. Raises `SiteLocked` naming the holder, and `StateTooNew` where a newer release wrote the file.
    """
    with site_lock(layout.lock_file, purpose, now, wait_s), ExitStack() as opened:
        con = _attach(layout.state_file, wait_s, opened)
        found = _schema_version(con)
        if found is not None and found < SCHEMA_VERSION:
            opened.close()
            migrate(layout.state_file, found, SCHEMA_VERSION)
            con = _attach(layout.state_file, wait_s, opened)
        state = State(con, layout)
        _ensure_schema(state, found)
        yield state


def _attach(path: Path, wait_s: float, opened: ExitStack) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return opened.enter_context(attached(path))
        except duckdb.IOException as error:
            if "could not set lock" not in str(error).lower():
                raise StateUnusable(f"{path} cannot be opened: {error}") from None
            if time.monotonic() >= deadline:
                raise SiteLocked(_reader_sentence(path, str(error))) from None
        time.sleep(_POLL_S)


def _reader_sentence(path: Path, detail: str) -> str:
    return (
        f"{path} is kept open by another program ({detail.splitlines()[0]}); close it there: "
        "readers use the Parquet datasets or `incremental-crawl sql`"
    )


def _schema_version(con: duckdb.DuckDBPyConnection) -> int | None:
    """The schema version of an open file, None where it is new."""
    try:
        rows = con.execute("""SELECT "value" FROM meta WHERE "key" = 'schema_version'""").fetchall()
    except duckdb.CatalogException:
        return None
    return int(rows[0][0]) if rows else 0


def _ensure_schema(state: State, found: int | None) -> None:
    if found is None:
        with state.transaction():
            state.script("schema")
            state.run(
                "INSERT INTO meta VALUES ('schema_version', ?), ('site', ?), ('first_kept_day', '1970-01-01')",
                [str(SCHEMA_VERSION), state.layout.site],
            )
    elif found > SCHEMA_VERSION:
        raise StateTooNew(
            f"{state.layout.state_file} has schema_version {found}, this release reads up to {SCHEMA_VERSION}: "
            "install the newer release that wrote it"
        )
