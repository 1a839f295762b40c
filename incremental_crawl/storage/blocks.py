"""What is known of blocked pages and hosts: by what, since when, how often in a row, and a few bodies to look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from incremental_crawl.semantics.block_signs import BlockKind, BlockSign
from incremental_crawl.semantics.host_rest import HostBlocks
from incremental_crawl.storage.state import State

SAMPLES = 3
LARGEST_SAMPLE = 65_536
STAYS_AFTER_VISITS = 5
STAYS_AFTER = timedelta(days=1)
"""What a host shows in this many visits, and for at least so long, in its pages' place is taken for the page."""


@dataclass(frozen=True, slots=True)
class BlockedPage:
    """A page whose check was blocked, and the digests of what stood in its place."""

    url: str
    host: str
    visit: int
    seen_at: datetime
    kind: BlockKind
    sentence: str
    strong: bool
    body_sha256: str | None = None
    content_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class BlockedSample:
    """An answer that stood in a page's place; `headers` is a JSON list of [name, value]."""

    host: str
    url: str
    seen_at: datetime
    status: int | None
    kind: BlockKind
    sentence: str
    headers: str
    body: bytes


@dataclass(frozen=True, slots=True)
class SeenInstead:
    """An answer that stood in a page's place, without its body."""

    url: str
    seen_at: datetime
    status: int | None
    kind: BlockKind
    sentence: str
    bytes: int


@dataclass(frozen=True, slots=True)
class BlockedHost:
    """A host that lets nothing through: since when, by what, how often in a row, and when it is tried again."""

    host: str
    since: datetime
    kind: BlockKind | None
    reason: str
    blocks: int
    next_try: datetime | None
    last_visit: int
    samples: list[SeenInstead]


def hosts(state: State) -> dict[str, HostBlocks]:
    """What is known of hosts that have blocked."""
    rows = state.dicts("SELECT * FROM host_blocks")
    return {row["host"]: HostBlocks(**row | {"kind": BlockKind(row["kind"]) if row["kind"] else None}) for row in rows}


def keep_hosts(state: State, found: Iterable[HostBlocks]) -> None:
    """Keep what is known of hosts; to be called in a transaction."""
    rows = list(found)
    for own in rows:
        state.run("DELETE FROM host_blocks WHERE host = ?", [own.host])
    state.append("host_blocks", [own for own in rows if own.blocks or own.answered_in])


def known_bodies(state: State) -> dict[tuple[str, str], BlockSign]:
    """(host, digest) of every body that stands in a page's place at present, and what it was."""
    rows = state.rows(
        "SELECT host, digest, any_value(kind), any_value(sentence) FROM "
        "(SELECT host, kind, sentence, unnest([body_sha256, content_sha256]) AS digest FROM blocked_pages) "
        "WHERE digest IS NOT NULL GROUP BY host, digest"
    )
    return {(host, digest): BlockSign(BlockKind(kind), sentence) for host, digest, kind, sentence in rows}


def bodies_that_stay(state: State, visit: int, now: datetime) -> set[tuple[str, str]]:
    """(host, digest) of bodies that have stood there for so long that they are taken for the page from now on."""
    rows = state.rows(
        "SELECT host, digest FROM blocked_bodies WHERE visits + (visit < ?)::INTEGER >= ? AND first_at <= ?",
        [visit, STAYS_AFTER_VISITS, now - STAYS_AFTER],
    )
    return set(rows)


def keep_pages(state: State, pages: Sequence[BlockedPage]) -> None:
    """Keep pages that were found blocked; to be called in a transaction."""
    if not pages:
        return
    with state.bound("blocked_now", state.to_arrow("blocked_pages", pages)):
        state.script("keep_blocked")


def keep_samples(state: State, samples: Sequence[BlockedSample]) -> None:
    """Keep at most three samples per host, the newest; to be called in a transaction."""
    state.append("blocked_samples", samples)
    for host in {sample.host for sample in samples}:
        state.run(
            "DELETE FROM blocked_samples WHERE host = $host AND rowid NOT IN "
            "(SELECT rowid FROM blocked_samples WHERE host = $host ORDER BY seen_at DESC, rowid LIMIT $most)",
            {"host": host, "most": SAMPLES},
        )


def settle(state: State) -> None:
    """Forget what stood in the place of pages that are well again, and mark the hosts that are blocked."""
    with state.transaction():
        state.script("forget_blocked")


def counts(state: State, visit: int) -> list[tuple[str, int, str, str]]:
    """(kind, pages, a sentence, a URL) of what the visit found blocked, most first."""
    return state.rows(
        "SELECT kind, count(*), min(sentence), min(url) FROM blocked_pages WHERE visit = ? GROUP BY kind "
        "ORDER BY count(*) DESC, kind",
        [visit],
    )


def blocked_hosts(state: State) -> list[BlockedHost]:
    """The hosts that are blocked, each with the answers that are kept for a person to look at."""
    found = [own for own in hosts(state).values() if own.is_blocked and own.since is not None]
    samples: dict[str, list[SeenInstead]] = {own.host: [] for own in found}
    for row in state.dicts(
        "SELECT host, url, seen_at, status, kind, sentence, octet_length(body) AS bytes FROM blocked_samples "
        "ORDER BY host, seen_at DESC, url"
    ):
        host = row.pop("host")
        if host in samples:
            samples[host].append(SeenInstead(**row | {"kind": BlockKind(row["kind"])}))
    return [
        BlockedHost(
            own.host, own.since, own.kind, own.reason or "", own.blocks, own.next_try, own.visit, samples[own.host]
        )
        for own in sorted(found, key=lambda own: own.host)
        if own.since is not None
    ]
