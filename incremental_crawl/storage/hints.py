"""The hints of sitemaps and feeds in the state: what is known of each root source, and what a visit adds to it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import datetime
from typing import Any

import pyarrow as pa

from incremental_crawl.semantics.hints import (
    SAMPLE,
    HintEvidence,
    HintLedger,
    Reading,
    ReadingCounts,
    after_reading,
    learn,
)
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

_COLUMNS = ", ".join(own.name for own in fields(HintLedger))


def ledgers(state: State) -> dict[str, HintLedger]:
    """What is known of each root's hints."""
    rows = state.dicts(f"SELECT {_COLUMNS} FROM hint_ledger ORDER BY root")
    return {row["root"]: HintLedger(**row | {"reading": Reading(row["reading"])}) for row in rows}


def note_readings(state: State, now: datetime) -> dict[str, ReadingCounts]:
    """Note what the listings' dates look like beside what is known, before they are merged; in a transaction."""
    found = {row["root"]: ReadingCounts(**row) for row in state.dicts(query("count_readings"), {"now": now})}
    if found:
        known = ledgers(state)
        _keep(
            state,
            known | {root: after_reading(known.get(root) or HintLedger(root), own) for root, own in found.items()},
        )
    return found


def learn_from(state: State, visit: int) -> None:
    """Add the visit's checks, once all are decided and before its outbox is emptied; in a transaction."""
    known = ledgers(state)
    if not known:
        return
    seen = {row.pop("root"): HintEvidence(**row) for row in state.dicts(query("count_hints"), {"visit": visit})}
    if seen:
        _keep(state, known | {root: learn(known[root], own) for root, own in seen.items() if root in known})


def bound_weights(state: State) -> AbstractContextManager[None]:
    """What the roots' hints weigh: `hint_weights` (root, weight, hints, useful, sample) for SQL inside the block."""
    known = list(ledgers(state).values())
    names = ["root", "weight", "hints", "useful", "sample"]
    columns: list[pa.Array[Any]] = [
        pa.array([own.root for own in known], pa.string()),
        pa.array([own.weight for own in known], pa.float64()),
        pa.array([own.hints for own in known], pa.bool_()),
        pa.array([own.useful for own in known], pa.bool_()),
        pa.array([SAMPLE if own.unproven else 0 for own in known], pa.int32()),
    ]
    return state.bound("hint_weights", pa.Table.from_arrays(columns, names=names))


def _keep(state: State, known: dict[str, HintLedger]) -> None:
    state.run("DELETE FROM hint_ledger")
    state.append("hint_ledger", list(known.values()))
