"""What is remembered about hosts between stages and visits: robots.txt and the pauses they asked for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from incremental_crawl.storage.state import State


def robots(state: State, visit: int) -> dict[str, bytes]:
    """robots.txt bodies that this visit has read, by origin; a new visit asks again."""
    return dict(state.rows("SELECT origin, body FROM robots WHERE visit = ?", [visit]))


def keep_robots(state: State, visit: int, bodies: Mapping[str, bytes]) -> None:
    """Keep robots.txt bodies for the visit's later stages."""
    with state.transaction():
        for origin, body in bodies.items():
            state.run("DELETE FROM robots WHERE origin = ?", [origin])
            state.run("INSERT INTO robots VALUES (?, ?, ?)", [origin, visit, body])


def pauses(state: State, now: datetime) -> dict[str, datetime]:
    """Hosts that asked to be left alone until a later moment than `now`."""
    return dict(state.rows("SELECT host, not_before FROM hosts WHERE not_before > ?", [now]))


def keep_pauses(state: State, until: Mapping[str, datetime]) -> None:
    """Keep what Retry-After asked for, across runs."""
    for host, moment in until.items():
        state.run(
            "INSERT INTO hosts BY NAME SELECT $host AS host, 'both' AS mode, 0 AS conditional_requests, "
            "0 AS not_modified, "
            "0 AS same_hash, 0 AS audits, true AS etag_trusted, true AS last_modified_trusted, false AS head_trusted, "
            "'no conditional request about an unchanged page has been answered yet' AS verdict, "
            "0 AS recent_not_modified, 0 AS recent_same_hash WHERE $host NOT IN (SELECT host FROM hosts)",
            {"host": host},
        )
        state.run("UPDATE hosts SET not_before = ? WHERE host = ?", [moment, host])
