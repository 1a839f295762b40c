"""Publication: the outbox and the spool become one Parquet file per dataset and visit, the state's copies are swapped.

Every step can be repeated: files are exports of rows that stay in the state until all of them are in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from incremental_crawl.semantics.trust import Ledger
from incremental_crawl.storage import body_files, hints, ledger, spool, visits
from incremental_crawl.storage.current_records import RecordTable, write_records
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.parquet import copy
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

_EXPORTS = {
    Dataset.OBSERVATIONS: ("outbox_observations", "* EXCLUDE (observation)", "observation", None),
    Dataset.PAGE_RECORDS: ("outbox_page_records", "*", "url, item_key", "url, item_key"),
    Dataset.TOMBSTONES: ("outbox_tombstones", "*", "url", "url"),
    Dataset.PAGE_DIFFS: ("outbox_page_diffs", "*", "event_id", "event_id"),
}
"""Dataset → its outbox table, the exported columns, their order, and the key of a row in the visit's file (None: the
file is written once)."""
_NEVER_REWRITTEN = frozenset({Dataset.PAGE_DIFFS})
"""Where a row that the visit's file holds already stands; elsewhere the outbox has the newer one (a re-parse)."""


def ensure_empty_files(state: State, tables: Sequence[RecordTable]) -> None:
    """Write what makes every dataset readable from the site's first visit on: zero rows, the full schema."""
    for dataset, (table, columns, _, _) in _EXPORTS.items():
        path = state.layout.empty_file(dataset)
        if not path.exists():
            copy(state, f"SELECT {columns} FROM {table} LIMIT 0", path)
    body_files.ensure_empty_file(state.layout.empty_file(Dataset.BODY_SNAPSHOTS))
    copies = (state.layout.pages_file, state.layout.hosts_file, state.layout.records_file("page"))
    if not all(path.exists() for path in copies):
        write_copies(state)
        write_records(state, tables)


def begin(state: State, visit: Visit, now: datetime, groups: Sequence[Ledger], hosts: Sequence[ledger.HostRow]) -> None:
    """Mark the visit as being published; what it taught about hosts and hints takes effect in the same transaction."""
    with state.transaction():
        ledger.keep(state, groups, hosts)
        hints.learn_from(state, visit.visit)
        state.run("UPDATE outbox_page_diffs SET published_at = ? WHERE visit = ?", [now, visit.visit])
        state.run("UPDATE visits SET status = 'publishing', published_at = ? WHERE visit = ?", [now, visit.visit])
    reached(DurableStep.PUBLISHING_MARKED)


def finish(state: State, visit: Visit, tables: Sequence[RecordTable]) -> dict[Dataset, Path]:
    """Write a publishing visit's files and close it; returns the files that hold rows."""
    written = _write_visit(state, visit)
    bodies = state.layout.visit_file(Dataset.BODY_SNAPSHOTS, visit.day, visit.visit)
    if body_files.export(state, visit.visit, bodies):
        written[Dataset.BODY_SNAPSHOTS] = bodies
    write_copies(state)
    write_records(state, tables)
    with state.transaction():
        _empty_outbox(state, visit.visit)
        for table in ("plan", "proposals", "suspects"):
            state.run(f"DELETE FROM {table} WHERE visit = ?", [visit.visit])
        state.run("UPDATE visits SET status = 'closed' WHERE visit = ?", [visit.visit])
    reached(DurableStep.OUTBOX_EMPTIED)
    state.checkpoint()
    spool.remove_visit(state.layout.spool, visit.visit)
    reached(DurableStep.SPOOL_REMOVED)
    return written


def publish_again(state: State, ended: Sequence[Visit], now: datetime, tables: Sequence[RecordTable]) -> None:
    """Merge what a re-parse left in the outbox into the files of closed visits, then swap the current files.

    While a visit is under way its own publication swaps these: until then they would show half of it.
    """
    for visit in ended:
        state.run(
            "UPDATE outbox_page_diffs SET published_at = ? WHERE visit = ? AND published_at IS NULL", [now, visit.visit]
        )
        _write_visit(state, visit)
    if visits.current(state) is None:
        write_copies(state)
        write_records(state, tables)
    with state.transaction():
        for visit in ended:
            _empty_outbox(state, visit.visit)
    reached(DurableStep.OUTBOX_EMPTIED)
    state.checkpoint()


def remove_orphans(state: State) -> None:
    """Remove spool files of visits that are closed, which a crash after publication left behind."""
    open_visits = {row[0] for row in state.rows("SELECT visit FROM visits WHERE status NOT IN ('closed', 'rejected')")}
    for path in state.layout.spool.glob("visit-*-*.arrows"):
        if int(path.name.split("-")[1]) not in open_visits:
            path.unlink(missing_ok=True)


def _write_visit(state: State, visit: Visit) -> dict[Dataset, Path]:
    written = {}
    for dataset, (table, columns, order, key) in _EXPORTS.items():
        if not state.value(f"SELECT count(*) FROM {table} WHERE visit = ?", [visit.visit]):
            continue
        path = state.layout.visit_file(dataset, visit.day, visit.visit)
        rows = f"SELECT {columns} FROM {table} WHERE visit = {visit.visit} ORDER BY {order}"
        if key is not None and path.exists():
            rows = _merged(path, table, key, order, visit.visit, dataset in _NEVER_REWRITTEN)
        copy(state, rows, path)
        written[dataset] = path
    return written


def _merged(path: Path, table: str, key: str, order: str, visit: int, published_stand: bool) -> str:
    same = " AND ".join(f"n.{name.strip()} IS NOT DISTINCT FROM f.{name.strip()}" for name in key.split(","))
    held = f"SELECT * FROM read_parquet('{_quoted(path)}', hive_partitioning = false)"
    fresh = f"SELECT * FROM {table} WHERE visit = {visit}"
    stands, rest = (held, fresh) if published_stand else (fresh, held)
    rest = f"SELECT f.* FROM ({rest}) f WHERE NOT EXISTS (SELECT 1 FROM ({stands}) n WHERE {same})"
    columns = f"SELECT * FROM ({held}) LIMIT 0"
    return f"SELECT * FROM (({columns}) UNION ALL BY NAME {stands} UNION ALL BY NAME {rest}) ORDER BY {order}"


def forget_bodies(state: State, before: date) -> None:
    """Take the paths of bodies of days earlier than `before` out of the published pages, and touch nothing else."""
    path = state.layout.pages_file
    if not path.exists():
        return
    pages = f"read_parquet('{_quoted(path)}', hive_partitioning = false)"
    day = "split_part(body_path, '/day=', 2)[1:10]"
    if state.value(f"SELECT count(*) FROM {pages} WHERE {day} < '{before}'"):
        kept = f"CASE WHEN {day} >= '{before}' THEN body_path END AS body_path"
        copy(state, f"SELECT * REPLACE ({kept}) FROM {pages}", path)


def write_copies(state: State) -> None:
    """Swap in the published copies of the state's pages and hosts."""
    copy(state, "SELECT * FROM pages ORDER BY url", state.layout.pages_file)
    copy(state, "SELECT * FROM hosts_now ORDER BY host", state.layout.hosts_file)


def _empty_outbox(state: State, visit: int) -> None:
    for table, _, _, _ in _EXPORTS.values():
        state.run(f"DELETE FROM {table} WHERE visit = ?", [visit])


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
