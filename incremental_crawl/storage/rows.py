"""Rows that the stages hand to the state; the attributes are the columns of the tables of the same name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from incremental_crawl.semantics.events import EventKind
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.trust import TrustMode
from incremental_crawl.storage.spool import SpoolRef


class Reason(StrEnum):
    """Why a plan wants a URL fetched."""

    NEW = "new"
    MODIFIED = "modified"
    HASH_CHECK = "hash_check"
    AUDIT = "audit"
    STALE_RECORD = "stale_record"
    RETRY = "retry"
    RECHECK = "recheck"


class PlanState(StrEnum):
    """How far a planned URL has come."""

    TODO = "todo"
    FETCHED = "fetched"
    FAILED = "failed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Observation:
    """One request and its answer; a row of the observations dataset."""

    observation: int
    url: str
    visit: int
    observed_at: datetime
    purpose: str
    method: str
    conditional: bool
    etag_sent: str | None
    last_modified_sent: str | None
    status: int | None
    etag: str | None
    last_modified: str | None
    outcome: Outcome
    bytes: int
    elapsed_ms: float
    body_sha256: str | None = None
    content_sha256: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A URL of the visit's plan. `headers` is a JSON list of [name, value] of the answer that is spooled."""

    visit: int
    seq: int
    url: str
    reason: Reason
    state: PlanState
    depth: int
    source: str
    moved_from: str | None = None
    moved_to: str | None = None
    observation: int | None = None
    fetched_at: datetime | None = None
    status: int | None = None
    headers: str | None = None
    length_unverified: bool = False
    hop_url: str | None = None
    representation: str | None = None
    body_sha256: str | None = None
    body_bytes: int | None = None
    spool_file: str | None = None
    spool_offset: int | None = None
    spool_row: int | None = None

    @property
    def spool_ref(self) -> SpoolRef:
        """Where the body lies. Raises `ValueError` for a row that was not fetched."""
        if self.spool_file is None or self.spool_offset is None or self.spool_row is None:
            raise ValueError(f"{self.url} has no spooled body")
        return SpoolRef(self.spool_file, self.spool_offset, self.spool_row)


@dataclass(frozen=True, slots=True)
class Due:
    """A page that the sweep asks, and what the ledger lets it send: a hash-only page is asked by HEAD."""

    page: PageState
    mode: TrustMode


@dataclass(frozen=True, slots=True)
class Journalled:
    """A successor row of known_urls with its place in the order of writing."""

    seq: int
    page: PageState


@dataclass(frozen=True, slots=True)
class Proposal:
    """A decided page: the successor row and, for a new version, the record that goes with it."""

    seq: int
    visit: int
    outcome: Outcome | EventKind
    evidence: str
    page: PageState
    observed_at: datetime
    compared: bool
    keep_body: bool
    observation: int | None = None
    moved_from: str | None = None
    record: str | None = None
    old_record: str | None = None
    main_text: str | None = None
    lines: tuple[str, ...] | None = None
    paths: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """The record that a page's checks are compared with."""

    url: str
    page_type: str
    record: str
    lines: tuple[str, ...]
    paths: tuple[int, ...]
    content_sha256: str
    extractor_version: str


class SuspectState(StrEnum):
    """What is known about a page that answered 404 or 410."""

    SUSPECT = "suspect"
    CERTAIN = "certain"
    GONE = "gone"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A page that answered 404 (to be confirmed) or 410 (certain)."""

    visit: int
    seq: int
    url: str
    status: int
    first_at: datetime
    state: SuspectState


@dataclass(frozen=True, slots=True)
class RecordVersion:
    """A row of the page_records dataset."""

    url: str
    item_key: str | None
    page_type: str
    observed_at: datetime
    visit: int
    content_sha256: str
    extractor_version: str
    record: str
    main_text: str | None


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the page_diffs dataset; `published_at` is set when the visit is published."""

    event_id: str
    url: str
    item_key: str | None
    page_type: str | None
    kind: str
    observed_at: datetime
    visit: int
    run_id: str | None
    old_sha256: str | None
    new_sha256: str | None
    old_lastmod: str | None
    new_lastmod: str | None
    moved_to: str | None
    evidence: str
    extractor_version: str | None
    diff: str
    fields: tuple[Mapping[str, Any], ...]
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """An event that page_diffs still has to write, with the records it is about."""

    visit: int
    url: str
    item_key: str | None
    page_type: str | None
    kind: str
    observed_at: datetime
    old_sha256: str | None
    new_sha256: str | None
    old_record: str | None
    new_record: str | None
    old_lastmod: str | None
    new_lastmod: str | None
    moved_to: str | None
    evidence: str
    extractor_version: str | None
