"""Which pages' links were taken in, by which rules; and what is known of the URLs that links lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import pyarrow as pa

from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State


@dataclass(frozen=True, slots=True)
class Unread:
    """A held page whose body is kept and whose links were not taken in by the rules in force."""

    url: str
    depth: int
    charset: str | None
    body_visit: int
    body_day: date


def unread(state: State, urls: Sequence[str], rules: Sequence[str]) -> set[str]:
    """Those of `urls` whose links were read by none of `rules`."""
    with state.bound("wanted", _urls(urls)):
        rows = state.rows(
            "SELECT url FROM wanted ANTI JOIN "
            "(SELECT url FROM links_read WHERE list_contains(?::VARCHAR[], rule)) USING (url)",
            [list(rules)],
        )
    return {row[0] for row in rows}


def unread_bodies(state: State, visit: int, rule: str, max_depth: int, chunk: int) -> Iterator[list[Unread]]:
    """Pages to read the links of from their kept bodies, `chunk` at a time; what this visit fetched is left out."""
    after = ""
    while rows := state.rows(
        query("unread_bodies"),
        {"visit": visit, "rule": rule, "max_depth": max_depth, "after": after, "chunk": chunk},
    ):
        after = rows[-1][0]
        yield [Unread(*row) for row in rows]


def mark_read(state: State, rules: Mapping[str, str]) -> None:
    """Note by which rule the links of each page were taken in; to be called in a transaction."""
    if not rules:
        return
    table = pa.table({"url": pa.array(list(rules), pa.string()), "rule": pa.array(list(rules.values()), pa.string())})
    with state.bound("just_read", table):
        state.run("DELETE FROM links_read WHERE url IN (SELECT url FROM just_read)")
        state.run("INSERT INTO links_read SELECT url, rule FROM just_read")


def known_among(state: State, urls: Iterable[str]) -> dict[str, bool]:
    """Those of `urls` that are known, each with whether it is a page that has only ever failed to answer."""
    with state.bound("wanted", _urls(set(urls))):
        rows = state.rows(
            "SELECT url, NOT held AND (failures > 0 OR gone_since IS NOT NULL) FROM current_urls "
            "SEMI JOIN wanted USING (url)"
        )
    return dict(rows)


def name_again(state: State, urls: Sequence[str], now: datetime) -> None:
    """Note that links still lead to these; to be called in a transaction."""
    if not urls:
        return
    with state.bound("named", _urls(urls)):
        state.run("DELETE FROM last_named WHERE url IN (SELECT url FROM named)")
        state.run("INSERT INTO last_named SELECT url, ?::TIMESTAMPTZ FROM named", [now])


def with_stems(state: State, stems: Iterable[str]) -> dict[str, list[str]]:
    """The known URLs that have parameters after one of `stems` (a URL up to its first parameter), by stem."""
    with state.bound("stems", pa.table({"stem": pa.array(list(stems), pa.string())})):
        rows = state.rows(
            "SELECT stem, list(url) FROM "
            "(SELECT url, split_part(split_part(url, '?', 1), ';', 1) AS stem FROM current_urls "
            "WHERE contains(url, '?') OR contains(url, ';')) SEMI JOIN stems USING (stem) GROUP BY stem"
        )
    return dict(rows)


def without_effect(state: State) -> frozenset[tuple[str, str]]:
    """(host, parameter name) of those that pages were seen with often, and that never made another page."""
    return frozenset(state.rows(query("without_effect")))


def new_with_parameters(state: State, since: datetime) -> dict[str, int]:
    """By host, how many URLs with parameters links have added since a moment."""
    return dict(
        state.rows(
            "SELECT host_of(url), count(*) FROM current_urls WHERE first_seen >= ? AND source LIKE 'link:%' "
            "AND (contains(url, '?') OR contains(url, ';')) GROUP BY ALL",
            [since],
        )
    )


def _urls(urls: Iterable[str]) -> pa.Table:
    return pa.table({"url": pa.array(list(urls), pa.string())})
