"""What is remembered about hosts between stages and visits: robots.txt, pauses, and what software answers there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from incremental_crawl.semantics.server_software import Cache, HostSigns, Sign, Software
from incremental_crawl.semantics.strain import HostStrain
from incremental_crawl.storage.state import State

_SIGNS = "signs:"
"""Before a host in the keys of `meta`: what its answers said of their software, as JSON."""


@dataclass(frozen=True, slots=True)
class RobotsNote:
    """A robots.txt as it was last received, with its validators, and the visit that read or revalidated it.

    `read_at` (UTC) is when that was, `representation` the fingerprint of the request headers that it answered.
    """

    origin: str
    visit: int
    body: bytes
    etag: str | None
    last_modified: str | None
    read_at: datetime | None = None
    representation: str | None = None


def robots(state: State) -> list[RobotsNote]:
    """The robots.txt of every origin; those that this visit has read need not be asked for again."""
    return [RobotsNote(**row) for row in state.dicts("SELECT * FROM robots")]


def keep_robots(state: State, notes: Sequence[RobotsNote]) -> None:
    """Keep robots.txt bodies for the visit's later stages, and for the next visit to revalidate."""
    with state.transaction():
        for note in notes:
            state.run("DELETE FROM robots WHERE origin = ?", [note.origin])
        state.append("robots", notes)


def strains(state: State) -> dict[str, HostStrain]:
    """What earlier visits remember of hosts: pauses, also those that are over, and how strained they were."""
    rows = state.rows("SELECT host, not_before, incidents, interval_s FROM host_pauses")
    return {host: HostStrain(not_before, incidents, interval_s) for host, not_before, incidents, interval_s in rows}


def keep_strains(state: State, found: Mapping[str, HostStrain]) -> None:
    """Keep what hosts asked for and how strained they are, across runs."""
    with state.transaction():
        for host, own in found.items():
            state.run("DELETE FROM host_pauses WHERE host = ?", [host])
            if own.not_before is not None or own.incidents:
                row = [host, own.not_before, own.incidents, own.interval_s]
                state.run("INSERT INTO host_pauses VALUES (?, ?, ?, ?)", row)


def signs(state: State) -> dict[str, HostSigns]:
    """What is known of the software of every host (`host:port`)."""
    rows = state.rows('SELECT "key", "value" FROM meta WHERE starts_with("key", ?)', [_SIGNS])
    return {key.removeprefix(_SIGNS): _signs(json.loads(value)) for key, value in rows}


def keep_signs(state: State, found: Mapping[str, HostSigns]) -> None:
    """Keep what was learnt of the software of these hosts."""
    if not found:
        return
    with state.transaction():
        for host, own in found.items():
            value = json.dumps({"server": own.server, "cache": own.cache, "seen": sorted(own.seen)})
            state.run('DELETE FROM meta WHERE "key" = ?', [_SIGNS + host])
            state.run("INSERT INTO meta VALUES (?, ?)", [_SIGNS + host, value])


def _signs(value: dict[str, Any]) -> HostSigns:
    server, cache = value["server"], value["cache"]
    return HostSigns(
        None if server is None else Software(server),
        None if cache is None else Cache(cache),
        frozenset(Sign(own) for own in value["seen"]),
    )
