"""The plan of a visit: what its sweep wants fetched, what was fetched, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import pyarrow as pa

from incremental_crawl.storage.rows import PlanRow, PlanState, Proposal, Reason, Suspect, SuspectState
from incremental_crawl.storage.state import State

_COLUMNS = tuple(field.name for field in fields(PlanRow))
_COLUMN_LIST = ", ".join(f'"{name}"' for name in _COLUMNS)
_PROPOSAL_OWN = (
    "seq outcome evidence moved_from observation compared keep_body observed_at record old_record main_text lines "
    "paths visit"
).split()


def next_seq(state: State, visit: int) -> int:
    """A number above every sequence and observation number that the visit has used."""
    return int(
        state.value(
            "SELECT 1 + greatest("
            "coalesce((SELECT max(seq) FROM journal), 0), coalesce((SELECT max(seq) FROM plan WHERE visit = $v), 0), "
            "coalesce((SELECT max(seq) FROM proposals WHERE visit = $v), 0), "
            "coalesce((SELECT max(seq) FROM suspects WHERE visit = $v), 0), "
            "coalesce((SELECT max(observation) FROM outbox_observations WHERE visit = $v), 0))",
            {"v": visit},
        )
    )


def plan_unconditional(state: State, visit: int, first_seq: int) -> int:
    """Plan every due page that the sweep cannot ask conditionally; returns how many."""
    state.run(
        "INSERT INTO plan BY NAME SELECT $visit::INTEGER AS visit, $seq + position AS seq, url, reason, "
        "'todo' AS state, depth, source FROM due_split WHERE reason IS NOT NULL",
        {"visit": visit, "seq": first_seq},
    )
    return int(state.value("SELECT coalesce(max(position), 0) FROM due_split WHERE reason IS NOT NULL"))


def plan_audit(state: State, visit: int, share: float, raised: Mapping[tuple[str, str], float], first_seq: int) -> None:
    """Draw `share` of the pages that this visit just had answered 304, but never none while there are any.

    `raised` are the shares of path groups (host, path group) that are drawn apart from the others.
    """
    if share <= 0:
        return
    apart = pa.table(
        {
            "host": pa.array([host for host, _ in raised], pa.string()),
            "path_group": pa.array([group for _, group in raised], pa.string()),
            "share": pa.array(list(raised.values()), pa.float64()),
        }
    )
    with state.bound("raised", apart):
        state.script("plan_audit", {"visit": visit, "seq": first_seq, "share": share})


def append(state: State, rows: list[PlanRow]) -> None:
    """Append plan rows; the newest row of a URL wins."""
    state.append("plan", rows)


def todo(state: State, visit: int, chunk: int) -> list[PlanRow]:
    """The next planned URLs that have not been asked, in plan order."""
    return _rows(
        state, "visit = ? AND state = 'todo' ORDER BY reason IN ('audit', 'recheck'), seq LIMIT ?", [visit, chunk]
    )


def undecided(state: State, visit: int, chunk: int) -> list[PlanRow]:
    """Fetched pages without a decision, in spool order."""
    return _rows(
        state,
        "visit = $v AND state = 'fetched' AND NOT EXISTS "
        "(SELECT 1 FROM proposals p WHERE p.visit = $v AND p.url = plan_now.url AND p.seq > plan_now.seq) "
        "ORDER BY spool_file, spool_offset, spool_row LIMIT $n",
        {"v": visit, "n": chunk},
    )


def sources_of(state: State, visit: int) -> dict[str, str]:
    """Target → source of the permanent redirects that the visit has met; one source where several led there."""
    return dict(
        state.rows(
            "SELECT moved_to, min(url) FROM plan_now WHERE visit = ? AND state = 'moved' GROUP BY moved_to", [visit]
        )
    )


def open_requests(state: State, visit: int) -> int:
    """How many planned URLs still have to be asked."""
    return int(state.value("SELECT count(*) FROM plan_now WHERE visit = ? AND state = 'todo'", [visit]))


def planned(state: State, visit: int) -> int:
    """How many URLs the visit's plan holds."""
    return int(state.value("SELECT count(*) FROM plan_now WHERE visit = ? AND state <> 'moved'", [visit]))


def carry_over(state: State, visit: int) -> None:
    """What was planned and not fetched comes first in the next visit; to be called in a transaction."""
    state.run(
        "UPDATE known_urls SET priority = 9 FROM plan_now p "
        "WHERE p.visit = ? AND p.state = 'todo' AND p.reason <> 'audit' AND p.url = known_urls.url",
        [visit],
    )


def append_proposals(state: State, proposals: Sequence[Proposal]) -> None:
    """Append decided pages; nothing of them is current before page_records folds them."""
    if not proposals:
        return
    schema = state.schema("proposals")
    own = [pa.array([getattr(row, name) for row in proposals], schema.field(name).type) for name in _PROPOSAL_OWN]
    pages = state.to_arrow("known_urls", [row.page for row in proposals])
    names = [*_PROPOSAL_OWN, *pages.schema.names]
    state.append("proposals", pa.Table.from_arrays([*own, *pages.columns], names=names))


def suspects(state: State, visit: int) -> list[Suspect]:
    """Pages that answered 404 or 410 and about which nothing is decided."""
    rows = state.dicts(
        "SELECT visit, seq, url, status, first_at, state FROM suspects_now "
        "WHERE visit = ? AND state IN ('suspect', 'certain') ORDER BY seq",
        [visit],
    )
    return [Suspect(**row | {"state": SuspectState(row["state"])}) for row in rows]


def by_reason(state: State, visit: int) -> dict[str, int]:
    """How many planned URLs there are for each reason."""
    rows = state.rows(
        "SELECT reason, count(*) FROM plan_now WHERE visit = ? AND state <> 'moved' GROUP BY ALL ORDER BY ALL", [visit]
    )
    return dict(rows)


def changed_samples(state: State, visit: int, limit: int) -> list[tuple[str, str, str, str]]:
    """(url, page type, old record, new record) of some pages that the visit found changed."""
    return state.rows(
        "SELECT p.url, p.page_type, coalesce(p.old_record, h.record), p.record FROM proposals p "
        "JOIN held_records h USING (url) WHERE p.visit = ? AND p.outcome = 'changed' ORDER BY p.seq LIMIT ?",
        [visit, limit],
    )


def sample_urls(state: State, visit: int, limit: int) -> list[str]:
    """Some of the planned addresses."""
    rows = state.rows(
        "SELECT url FROM plan_now WHERE visit = ? ORDER BY reason <> 'modified', seq LIMIT ?", [visit, limit]
    )
    return [row[0] for row in rows]


def _rows(state: State, condition: str, parameters: Sequence[Any] | dict[str, Any]) -> list[PlanRow]:
    rows = state.dicts(f"SELECT {_COLUMN_LIST} FROM plan_now WHERE {condition}", parameters)
    return [PlanRow(**row | {"reason": Reason(row["reason"]), "state": PlanState(row["state"])}) for row in rows]
