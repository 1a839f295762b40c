"""Pages of a visit that share an answer, and what is undone when that answer is none of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pyarrow as pa

from incremental_crawl.storage.spool import SpoolRef
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

LEAST_SHARED = 5
SHARED_SHARE = 0.2
"""Fewer pages that share a body, or a smaller share of the visit's pages of the host, are no sign."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A page that shares its body, its record or the target of its redirect (`digest`) with `pages` pages."""

    url: str
    host: str
    digest: str
    pages: int


@dataclass(frozen=True, slots=True)
class Spooled:
    """A fetched page and where its body lies."""

    url: str
    host: str
    status: int | None
    headers: str | None
    ref: SpoolRef


def shared_bodies(state: State, visit: int) -> list[Shared]:
    """Pages that the visit fetched and that suddenly share one body."""
    return _shared(state, "shared_bodies", visit)


def shared_records(state: State, visit: int) -> list[Shared]:
    """Pages that the visit decided and that suddenly share one record."""
    return _shared(state, "shared_records", visit)


def shared_redirects(state: State, visit: int) -> list[Shared]:
    """Pages that are suddenly redirected to one address, which is their `digest`."""
    return _shared(state, "shared_redirects", visit)


def spooled(state: State, visit: int, urls: Sequence[str]) -> list[Spooled]:
    """Where the bodies of fetched pages lie, in order."""
    with _urls(state, urls):
        rows = state.rows(
            "SELECT url, host_of(url), status, headers, spool_file, spool_offset, spool_row FROM plan_now "
            "SEMI JOIN chosen USING (url) WHERE visit = ? AND state = 'fetched' ORDER BY url",
            [visit],
        )
    return [Spooled(url, host, status, headers, SpoolRef(*ref)) for url, host, status, headers, *ref in rows]


def drop_decisions(state: State, visit: int, urls: Sequence[str]) -> None:
    """Drop what the visit planned and proposed for pages that turned out to be blocked; in a transaction."""
    with _urls(state, urls):
        for table in ("plan", "proposals"):
            state.run(f"DELETE FROM {table} USING chosen c WHERE {table}.visit = ? AND {table}.url = c.url", [visit])


def drop_targets(state: State, visit: int, targets: Sequence[str]) -> None:
    """Let go of pages that only blocked redirects led to; known ones are looked at on their own. In a transaction."""
    unknown = (
        "NOT EXISTS (SELECT 1 FROM current_urls k WHERE k.url = c.url) AND NOT EXISTS "
        "(SELECT 1 FROM plan_now m WHERE m.visit = $visit AND m.state = 'moved' AND m.moved_to = c.url)"
    )
    if not targets:
        return
    with _urls(state, targets):
        for table in ("plan", "proposals"):
            state.run(
                f"DELETE FROM {table} USING (SELECT url FROM chosen c WHERE {unknown}) c "
                f"WHERE {table}.visit = $visit AND {table}.url = c.url",
                {"visit": visit},
            )
            state.run(
                f"UPDATE {table} SET moved_from = (SELECT min(m.url) FROM plan_now m WHERE m.visit = $visit "
                f"AND m.state = 'moved' AND m.moved_to = {table}.url) FROM chosen c "
                f"WHERE {table}.visit = $visit AND {table}.url = c.url AND {table}.moved_from IS NOT NULL",
                {"visit": visit},
            )


def overrule(state: State, visit: int, sentences: Mapping[str, str]) -> None:
    """Say of pages' last answers in the visit that they were blocked, and why; to be called in a transaction."""
    told = pa.table(
        {
            "url": pa.array(list(sentences), pa.string()),
            "sentence": pa.array(list(sentences.values()), pa.string()),
        }
    )
    with state.bound("told", told):
        state.run(
            "UPDATE outbox_observations SET outcome = 'blocked', content_sha256 = NULL, error = t.sentence FROM told t "
            "WHERE outbox_observations.visit = $visit AND outbox_observations.url = t.url "
            "AND outbox_observations.outcome IN ('modified', 'moved') "
            "AND outbox_observations.purpose IN ('sweep', 'fetch', 'retry', 'redirect')",
            {"visit": visit},
        )


def _shared(state: State, name: str, visit: int) -> list[Shared]:
    parameters = {"visit": visit, "least": LEAST_SHARED, "share": SHARED_SHARE}
    return [Shared(*row) for row in state.rows(query(name), parameters)]


def _urls(state: State, urls: Sequence[str]) -> AbstractContextManager[None]:
    return state.bound("chosen", pa.table({"url": pa.array(list(urls), pa.string())}))
