"""The trust ledger: what is known of each host's validators by path group, and what a visit's answers add to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from incremental_crawl.semantics.trust import Evidence, Ledger, Signature, TrustMode
from incremental_crawl.storage.rows import Reason
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

MOST_GROUPS = 64
"""So many path groups of a host are kept apart; the others share one ledger."""
OTHERS = "*"

_COLUMNS = ", ".join(own.name for own in fields(Ledger))


@dataclass(frozen=True, slots=True)
class HostRow:
    """What `hosts` says of a host about its validators."""

    host: str
    mode: str
    conditional_requests: int
    not_modified: int
    same_hash: int
    audits: int
    etag_trusted: bool
    last_modified_trusted: bool
    head_trusted: bool
    verdict: str


def all_groups(state: State) -> list[Ledger]:
    """Every ledger of the site."""
    return [_ledger(row) for row in state.dicts(f"SELECT {_COLUMNS} FROM ledger ORDER BY host, path_group")]


def of_urls(state: State, urls: Sequence[str]) -> dict[str, Ledger]:
    """The ledgers that speak for known URLs; those without one are missing."""
    with state.bound("wanted", pa.table({"url": pa.array(list(set(urls)), pa.string())})):
        rows = state.dicts("SELECT url, own.* FROM trust_of_urls SEMI JOIN wanted USING (url)")
    return {row.pop("url"): _ledger(row) for row in rows}


def evidence(state: State, visit: int) -> dict[tuple[str, str], Evidence]:
    """What the visit's answers say so far, by host and path group."""
    found = {}
    for row in state.dicts(query("count_evidence"), {"visit": visit, "most_groups": MOST_GROUPS}):
        key = row.pop("host"), row.pop("path_group")
        found[key] = Evidence(**row)
    return found


def has_accusations(state: State, visit: int) -> bool:
    """Whether the visit proved a 304, or a HEAD, to be false."""
    return bool(
        state.value(
            "SELECT count(*) FROM outbox_observations "
            "WHERE visit = ? AND purpose = 'confirm' AND outcome = 'not_modified'",
            [visit],
        )
    )


def keep(state: State, groups: Sequence[Ledger], hosts: Sequence[HostRow]) -> None:
    """Replace the ledgers and what `hosts` says of them; to be called inside a transaction."""
    state.run("DELETE FROM ledger")
    state.append("ledger", list(groups))
    if hosts:
        names = [own.name for own in fields(HostRow)]
        rows = pa.table({name: [getattr(host, name) for host in hosts] for name in names})
        with state.bound("host_rows", rows):
            state.script("roll_up_hosts")


def confirmed_by_head(state: State, visit: int, urls: Sequence[str]) -> frozenset[str]:
    """Those of `urls` that this visit's sweep took for unchanged because of a HEAD."""
    with state.bound("wanted", pa.table({"url": pa.array(list(set(urls)), pa.string())})):
        rows = state.rows(
            "SELECT DISTINCT url FROM outbox_observations SEMI JOIN wanted USING (url) "
            "WHERE visit = ? AND purpose = 'sweep' AND method = 'HEAD' AND outcome = 'not_modified'",
            [visit],
        )
    return frozenset(url for (url,) in rows)


def plan_recheck(state: State, visit: int, groups: Sequence[tuple[str, str]], first_seq: int) -> None:
    """Plan every live page of distrusted path groups that this visit has not fetched: their 304s confirmed nothing."""
    wanted = pa.table({"host": [host for host, _ in groups], "path_group": [group for _, group in groups]})
    with state.bound("distrusted", wanted):
        state.script("plan_recheck", {"visit": visit, "seq": first_seq, "reason": Reason.RECHECK.value})


def _ledger(row: dict[str, Any]) -> Ledger:
    causes = {name: Signature(row[name]) for name in ("cause", "suspected")}
    return Ledger(**row | causes | {"mode": TrustMode(row["mode"])})
