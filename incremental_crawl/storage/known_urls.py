"""The known URLs of a site: what is due, what was journalled, and the fold that makes it current."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime

import pyarrow as pa

from incremental_crawl.semantics.head_requests import HEAD_BYTES, HEAD_PROBES
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.trust import TrustMode
from incremental_crawl.storage import hints
from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.rows import Due, HeldRecord, Journalled
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

_COLUMNS = tuple(field.name for field in fields(PageState))
_COLUMN_LIST = ", ".join(_COLUMNS)
_NO_LIMIT = 2**62
_CHUNK = 10_000
_NEVER_ASKED = (
    "false AS held, false AS listed, false AS weak_date, false AS stale, 0 AS body_bytes, 0 AS gone_checks, "
    "0 AS failures, 0 AS last_visit, 0 AS last_audit, 0 AS priority, false AS unpaired_change"
)


def add_given(state: State, urls: Sequence[str], source: str, now: datetime) -> None:
    """Make URLs known that a person gave (`start`: in the site file, `asked`: by hand); known ones stay as they are."""
    if urls:
        state.run(
            f"INSERT INTO known_urls BY NAME SELECT *, {_NEVER_ASKED} FROM ("
            "SELECT unnest($urls::VARCHAR[]) AS url, $source AS source, 0 AS depth, $now::TIMESTAMPTZ AS first_seen) g "
            "WHERE g.url NOT IN (SELECT url FROM known_urls)",
            {"urls": list(dict.fromkeys(urls)), "source": source, "now": now},
        )


def add_links(state: State, found: Sequence[tuple[str, str, int, datetime]]) -> None:
    """Make URLs known that nobody knew: each with its source, its depth, and when it was found."""
    if not found:
        return
    names = ("url", "source", "depth", "first_seen")
    kinds = (pa.string(), pa.string(), pa.int32(), pa.timestamp("us", tz="UTC"))
    columns = [pa.array(list(column), kind) for column, kind in zip(zip(*found, strict=True), kinds, strict=True)]
    with state.bound("found_links", pa.Table.from_arrays(columns, names=list(names))):
        state.run(f"INSERT INTO known_urls BY NAME SELECT *, {_NEVER_ASKED} FROM found_links")


def select_due(
    state: State,
    visit: Visit,
    now: datetime,
    representations: Mapping[str, str],
    links_rules: Sequence[str] = (),
    max_depth: int = 0,
) -> int:
    """Work out what is due in this visit; returns how many pages. They stay readable until the state is closed.

    `representations` are the fingerprints in force by origin, under "" that of all other origins: pages whose
    validators belong to others are asked without a condition. So are pages above `max_depth` whose links were read by
    none of `links_rules` and whose body is not kept; without rules no links are wanted.
    """
    limit = _NO_LIMIT if visit.page_limit is None else max(0, visit.page_limit - _taken(state, visit))
    _choose(state, visit, now, visit.only_urls, limit)
    prints = {"origins": list(representations), "representations": list(representations.values())}
    parameters = {"visit": visit.visit, "now": now, "head_probes": HEAD_PROBES, "head_bytes": HEAD_BYTES}
    links = {"links_rules": list(links_rules), "max_depth": max_depth}
    state.script("split_due", parameters | prints | links)
    return int(state.value("SELECT count(*) FROM due_split"))


def leave_out(state: State, in_scope: Callable[[str], bool]) -> None:
    """Keep known URLs that the scope in force leaves out from being due, until the state is closed."""
    state.run("CREATE OR REPLACE TEMP TABLE outside (url VARCHAR)")
    for batch in state.arrow("SELECT url FROM current_urls").to_batches(_CHUNK):
        outside = [url for url in map(str, batch.column(0).to_pylist()) if not in_scope(url)]
        state.append("outside", pa.table({"url": pa.array(outside, pa.string())}))


def count_due(state: State, visit: Visit, now: datetime) -> int:
    """How many pages are due in this visit, those included that its options leave for later."""
    _choose(state, visit, now, (), _NO_LIMIT)
    return int(state.value("SELECT count(*) FROM due_now"))


def _choose(state: State, visit: Visit, now: datetime, only_urls: Sequence[str], page_limit: int) -> None:
    parameters = {"visit": visit.visit, "now": now, "every_page": visit.every_page}
    with hints.bound_weights(state):
        state.script("select_due", parameters | {"only_urls": list(only_urls), "page_limit": page_limit})


def _taken(state: State, visit: Visit) -> int:
    """Pages that the visit has asked or planned already (after a crash)."""
    return int(
        state.value(
            "SELECT count(DISTINCT url) FROM (SELECT url FROM current_urls WHERE last_visit = $v "
            "UNION ALL SELECT url FROM plan WHERE visit = $v AND reason <> 'audit' "
            "UNION ALL SELECT url FROM suspects WHERE visit = $v)",
            {"v": visit.visit},
        )
    )


def due_conditionally(state: State, chunk: int = 1000) -> Iterator[list[Due]]:
    """The due pages that the sweep asks, in order, `chunk` at a time."""
    after = 0
    while True:
        rows = state.arrow(
            f"SELECT position, mode, {_COLUMN_LIST} FROM due_split WHERE reason IS NULL AND position > ? "
            "ORDER BY position LIMIT ?",
            [after, chunk],
        )
        if not rows.num_rows:
            return
        after = rows.column("position")[-1].as_py()
        yield [
            Due(page, TrustMode(mode))
            for page, mode in zip(_pages(rows), map(str, rows["mode"].to_pylist()), strict=True)
        ]


def by_url(state: State, urls: Sequence[str]) -> dict[str, PageState]:
    """The current rows of `urls`, by URL; unknown ones are missing."""
    with state.bound("wanted", pa.table({"url": pa.array(list(set(urls)), pa.string())})):
        rows = state.arrow(f"SELECT {_COLUMN_LIST} FROM current_urls SEMI JOIN wanted USING (url)")
    return {page.url: page for page in _pages(rows)}


def held_by_url(state: State, urls: Sequence[str]) -> dict[str, HeldRecord]:
    """The held records of `urls`, by URL."""
    with state.bound("wanted", pa.table({"url": pa.array(list(set(urls)), pa.string())})):
        rows = state.rows(
            "SELECT url, page_type, record, lines, paths, content_sha256, extractor_version "
            "FROM held_records SEMI JOIN wanted USING (url) WHERE item_key IS NULL"
        )
    return {
        row[0]: HeldRecord(row[0], row[1], row[2], tuple(row[3] or ()), tuple(row[4] or ()), row[5], row[6])
        for row in rows
    }


def count(state: State) -> int:
    """How many URLs are known, held or not."""
    return int(state.value("SELECT count(*) FROM known_urls"))


def journal(state: State, rows: Sequence[Journalled]) -> None:
    """Append successor rows; they count at once through `current_urls`."""
    if rows:
        pages = state.to_arrow("known_urls", [row.page for row in rows])
        state.append("journal", pages.add_column(0, "seq", pa.array([row.seq for row in rows], pa.int64())))


def fold(state: State) -> None:
    """Make the journal current; to be called inside a transaction."""
    state.script("fold_journal")


def fold_leftovers(state: State) -> None:
    """Fold what an interrupted stage left in the journal."""
    if state.value("SELECT count(*) FROM journal"):
        with state.transaction():
            fold(state)
        reached(DurableStep.JOURNAL_FOLDED)


def mark_stale(state: State, current_versions: Sequence[str]) -> None:
    """Mark records that other rules made than those in force."""
    state.run(
        "UPDATE known_urls SET stale = true "
        "WHERE held AND NOT stale AND NOT list_contains(?::VARCHAR[], extractor_version)",
        [list(current_versions)],
    )


def _pages(rows: pa.Table) -> list[PageState]:
    columns = [rows.column(name).to_pylist() for name in _COLUMNS]
    return [PageState(*values) for values in zip(*columns, strict=True)]
