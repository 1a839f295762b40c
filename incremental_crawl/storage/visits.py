"""Visits: numbered passes over the site, their stages, and the gate that a person opens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any

from incremental_crawl.storage.durable import DurableStep, reached
from incremental_crawl.storage.state import State


class VisitStatus(StrEnum):
    """Where a visit stands."""

    OPEN = "open"
    WAITING = "waiting"
    PUBLISHING = "publishing"
    CLOSED = "closed"
    REJECTED = "rejected"


class VisitRefused(Exception):
    """A visit cannot be opened or continued for this day; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class VisitOptions:
    """What a person asked of a new visit: every page, only some URLs, at most so many pages."""

    every_page: bool = False
    only_urls: tuple[str, ...] = ()
    page_limit: int | None = None


DEFAULT_OPTIONS = VisitOptions()


@dataclass(frozen=True, slots=True)
class Visit:
    """A row of `visits`."""

    visit: int
    day: date
    opened_at: datetime
    status: VisitStatus
    every_page: bool
    only_urls: tuple[str, ...]
    page_limit: int | None
    due: int | None
    gate_stage: str | None
    gate_reason: str | None
    gate_incomplete: bool
    approved_at: datetime | None
    published_at: datetime | None
    run_id: str | None

    @property
    def approved(self) -> bool:
        """Whether a person let the visit through its gate."""
        return self.approved_at is not None


_COLUMNS = (
    "visit, day, opened_at, status, every_page, only_urls, page_limit, due, gate_stage, gate_reason, "
    "gate_incomplete, approved_at, published_at, run_id"
)


def enter(state: State, day: date, now: datetime, options: VisitOptions, run_id: str | None) -> Visit:
    """The open visit of `day`, or a new one if `day` is today (UTC). Raises `VisitRefused`.

    Visits end in the order in which they were opened; a visit that waits for a person is out of the way.
    """
    unfinished = current(state)
    if unfinished is not None:
        if unfinished.day != day:
            raise VisitRefused(
                f"visit {unfinished.visit} of {unfinished.day} is not finished: run the partition "
                f"{unfinished.day}|{state.layout.site} first (`incremental-crawl crawl {state.layout.site}` does)"
            )
        return unfinished
    if day != now.date():
        raise VisitRefused(
            f"a new visit can only be opened for today ({now.date()}), not for {day}: what the web said that day is "
            f"past; `incremental-crawl reparse {state.layout.site} --from {day}` extracts that day's kept bodies again"
        )
    return _open(state, day, now, options, run_id)


def current(state: State) -> Visit | None:
    """The visit that is under way (at most one), whatever its day."""
    return _one(state, "status IN ('open', 'publishing')")


def open_on(state: State, day: date) -> Visit | None:
    """The visit under way for `day`."""
    return _one(state, "status IN ('open', 'publishing') AND day = ?", [day])


def under_way(state: State, day: date, after: str) -> Visit:
    """The visit of `day` that has finished the stage `after`. Raises `VisitRefused` saying what has to come first."""
    visit = open_on(state, day)
    site = state.layout.site
    if visit is None:
        stopped = waiting_on(state, day)
        if stopped is not None:
            raise VisitRefused(
                f"visit {stopped.visit} waits for a person: {stopped.gate_reason}; look at "
                f"`incremental-crawl review {site}`, then approve or reject it"
            )
        raise VisitRefused(f"no visit of {day} is open for {site}: `incremental-crawl crawl {site}` opens one")
    if not stage_done(state, visit.visit, after):
        raise VisitRefused(f"visit {visit.visit} of {day} has not finished {after}: materialize that first")
    return visit


def waiting(state: State) -> list[Visit]:
    """Visits whose gate is closed, oldest first."""
    return _many(state, "status = 'waiting'")


def waiting_on(state: State, day: date) -> Visit | None:
    """The newest visit of `day` whose gate is closed."""
    return _one(state, "status = 'waiting' AND day = ?", [day])


def latest(state: State) -> Visit | None:
    """The newest visit, whatever its status."""
    return _one(state, "true")


def latest_on(state: State, day: date) -> Visit | None:
    """The newest visit that was opened on `day`."""
    return _one(state, "day = ?", [day])


def closed_between(state: State, first: date, last: date) -> list[Visit]:
    """Published visits of the days `first` to `last`, oldest first."""
    return _many(state, "status = 'closed' AND day BETWEEN ? AND ?", [first, last])


def by_number(state: State, number: int) -> Visit:
    """The visit with this number. Raises `LookupError`."""
    visit = _one(state, "visit = ?", [number])
    if visit is None:
        raise LookupError(f"there is no visit {number}")
    return visit


def keep_summary(state: State, visit: int, numbers: Mapping[str, int | float]) -> None:
    """Keep the visit's numbers; the outbox they are counted from is emptied by publication."""
    state.run("UPDATE visits SET summary = ? WHERE visit = ?", [json.dumps(dict(numbers)), visit])


def summary(state: State, visit: int) -> dict[str, int | float]:
    """The numbers of a published visit; empty before."""
    kept = state.value("SELECT summary FROM visits WHERE visit = ?", [visit])
    return json.loads(kept) if kept else {}


def stage_done(state: State, visit: int, stage: str) -> bool:
    """Whether the visit has finished `stage`."""
    return bool(state.value("SELECT count(*) FROM visit_stages WHERE visit = ? AND stage = ?", [visit, stage]))


def mark_stage(state: State, visit: int, stage: str, now: datetime) -> None:
    """Note that a stage is finished; to be called in the transaction that finishes it."""
    state.run("INSERT INTO visit_stages VALUES (?, ?, ?)", [visit, stage, now])


def set_due(state: State, visit: int, due: int) -> None:
    """Keep the number of pages that were due when the sweep began."""
    state.run("UPDATE visits SET due = coalesce(due, ?) WHERE visit = ?", [due, visit])


def close_gate(state: State, visit: int, stage: str, reason: str, incomplete: bool) -> None:
    """Stop the visit until a person decides."""
    state.run(
        "UPDATE visits SET status = 'waiting', gate_stage = ?, gate_reason = ?, gate_incomplete = ? WHERE visit = ?",
        [stage, reason, incomplete, visit],
    )


def approve(state: State, visit: int, now: datetime) -> None:
    """Let a waiting visit go on; it is open again."""
    state.run("UPDATE visits SET status = 'open', approved_at = ? WHERE visit = ?", [now, visit])


def reject(state: State, visit: Visit, due_again: datetime) -> None:
    """Drop a waiting plan: records and validators stay, its pages are due again at `due_again`.

    What the visit observed stays in the outbox to be published; its proposals and suspects are dropped.
    """
    with state.transaction():
        state.run(
            "UPDATE known_urls SET next_due = $due, last_visit = $v FROM "
            "(SELECT url FROM plan_now WHERE visit = $v AND reason <> 'audit' "
            "UNION SELECT url FROM suspects WHERE visit = $v) p WHERE p.url = known_urls.url",
            {"due": due_again, "v": visit.visit},
        )
        for table in ("proposals", "suspects", "plan"):
            state.run(f"DELETE FROM {table} WHERE visit = ?", [visit.visit])
        state.run("UPDATE visits SET status = 'rejected', approved_at = NULL WHERE visit = ?", [visit.visit])


def add_busy(state: State, visit: int, seconds: float) -> None:
    """Add time that a stage spent asking."""
    state.run("UPDATE visits SET busy_s = busy_s + ? WHERE visit = ?", [seconds, visit])


def busy_s(state: State, visit: int) -> float:
    """Seconds that the visit's stages have spent asking so far."""
    return float(state.value("SELECT busy_s FROM visits WHERE visit = ?", [visit]))


def superseded(state: State) -> list[Visit]:
    """Waiting visits that only failed: no version, no move and no page that vanished is there to decide about."""
    return _many(
        state,
        "status = 'waiting' AND gate_incomplete "
        "AND NOT EXISTS (SELECT 1 FROM plan_now p WHERE p.visit = visits.visit AND p.reason <> 'audit' "
        "AND (p.state = 'moved' OR p.state = 'fetched' AND NOT EXISTS "
        "(SELECT 1 FROM proposals d WHERE d.visit = p.visit AND d.url = p.url AND d.record IS NULL))) "
        "AND NOT EXISTS (SELECT 1 FROM suspects s WHERE s.visit = visits.visit)",
    )


def unpublished(state: State) -> list[Visit]:
    """Ended visits that still have rows in the outbox: rejected plans and re-parses."""
    return _many(
        state,
        "status IN ('closed', 'rejected') AND visit IN (SELECT visit FROM outbox_observations "
        "UNION ALL SELECT visit FROM outbox_page_records UNION ALL SELECT visit FROM outbox_page_diffs "
        "UNION ALL SELECT visit FROM outbox_tombstones)",
    )


def expired(state: State, now: datetime, keep: timedelta) -> list[Visit]:
    """Waiting visits older than the body window, which nobody decided about."""
    return [visit for visit in waiting(state) if visit.opened_at + keep < now]


def _open(state: State, day: date, now: datetime, options: VisitOptions, run_id: str | None) -> Visit:
    number = (state.value("SELECT max(visit) FROM visits") or 0) + 1
    state.run(
        "INSERT INTO visits (visit, day, opened_at, status, every_page, only_urls, page_limit, run_id) "
        "VALUES (?, ?, ?, 'open', ?, ?, ?, ?)",
        [number, day, now, options.every_page, list(options.only_urls), options.page_limit, run_id],
    )
    reached(DurableStep.VISIT_OPENED)
    return by_number(state, number)


def _one(state: State, condition: str, parameters: list[Any] | None = None) -> Visit | None:
    found = _many(state, condition, parameters)
    return found[-1] if found else None


def _many(state: State, condition: str, parameters: list[Any] | None = None) -> list[Visit]:
    rows = state.dicts(f"SELECT {_COLUMNS} FROM visits WHERE {condition} ORDER BY visit", parameters or [])
    return [Visit(**row | {"status": VisitStatus(row["status"]), "only_urls": tuple(row["only_urls"])}) for row in rows]
