"""What is remembered about hosts between stages and visits: robots.txt and the pauses they asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from incremental_crawl.storage.state import State


@dataclass(frozen=True, slots=True)
class RobotsNote:
    """A robots.txt as it was last received, with its validators, and the visit that read or revalidated it."""

    origin: str
    visit: int
    body: bytes
    etag: str | None
    last_modified: str | None


def robots(state: State) -> list[RobotsNote]:
    """The robots.txt of every origin; those that this visit has read need not be asked for again."""
    return [RobotsNote(**row) for row in state.dicts("SELECT * FROM robots")]


def keep_robots(state: State, notes: Sequence[RobotsNote]) -> None:
    """Keep robots.txt bodies for the visit's later stages, and for the next visit to revalidate."""
    with state.transaction():
        for note in notes:
            state.run("DELETE FROM robots WHERE origin = ?", [note.origin])
        state.append("robots", notes)


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
