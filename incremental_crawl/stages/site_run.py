"""What every stage is given: one site, one partition's day, and the edges (clock, progress) it may not reach itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Protocol

from incremental_crawl.config.project import Project
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.extraction.rules import ExtractionRules
from incremental_crawl.semantics.cadence import Cadence
from incremental_crawl.semantics.gate import GateLimits
from incremental_crawl.semantics.lifecycle import Moment
from incremental_crawl.semantics.request_headers import RequestHeaders
from incremental_crawl.storage import known_urls, publication
from incremental_crawl.storage.current_records import ColumnKind, RecordColumn, RecordTable
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.state import State, open_state
from incremental_crawl.storage.visits import DEFAULT_OPTIONS, Visit, VisitOptions


class Progress(Protocol):
    """Where a stage says how far it is; a progress bar on a terminal, the run's log in the UI."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` pages (None = not known yet)."""


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class SiteRun:
    """One run of stages over one site for the partition of `day` (UTC)."""

    project: Project
    site: SiteConfig
    day: date
    clock: Callable[[], datetime]
    run_id: str | None = None
    options: VisitOptions = DEFAULT_OPTIONS
    progress: Progress = no_progress
    lock_wait_s: float = 60.0

    @cached_property
    def layout(self) -> SiteLayout:
        """Where the site's files lie."""
        return SiteLayout(self.project.data_dir, self.site.name)

    @cached_property
    def rules(self) -> ExtractionRules:
        """The site's extraction rules, compiled."""
        return ExtractionRules.compile(self.site)

    @cached_property
    def extractor_versions(self) -> tuple[str, ...]:
        """The fingerprints of the rules in force, one per page type."""
        return tuple(self.rules.extractor_version(table.page_type) for table in self.record_tables)

    @cached_property
    def cadence(self) -> Cadence:
        """The site's intervals."""
        own = self.site.cadence
        return Cadence(own.default, own.min, own.max, own.every_run)

    @cached_property
    def gate_limits(self) -> GateLimits:
        """The site's gate."""
        own = self.site.gate
        return GateLimits(own.changed, own.gone, own.failed, own.min_pages)

    @cached_property
    def body_window(self) -> timedelta:
        """How long raw bodies, and plans that nobody decides about, are kept."""
        return timedelta(days=self.site.bodies.keep_days)

    @cached_property
    def request_headers(self) -> RequestHeaders:
        """The headers of every request; validators belong to them, so they are the same for the whole crawl."""
        common = {
            "User-Agent": self.site.politeness.full_user_agent,
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Encoding": "gzip",
        }
        return RequestHeaders(common, self.site.request_headers, self.site.origins)

    @cached_property
    def record_tables(self) -> tuple[RecordTable, ...]:
        """The typed tables of the site's page types, and the one of pages without rules."""
        declared = (
            RecordTable(
                page_type.name,
                tuple(RecordColumn(name, ColumnKind(own.type), own.list) for name, own in page_type.fields.items()),
            )
            for page_type in self.site.extract
        )
        return (*declared, RecordTable("page"))

    @contextmanager
    def state(self, purpose: str) -> Iterator[State]:
        """The site's state under its lock; what an earlier crash left behind is folded first."""
        with open_state(self.layout, purpose, self.clock(), self.lock_wait_s) as state:
            known_urls.fold_leftovers(state)
            publication.remove_orphans(state)
            publication.ensure_empty_files(state, self.record_tables)
            yield state

    def moment(self, visit: Visit, at: datetime) -> Moment:
        """A check made at `at` in `visit`."""
        return Moment(visit.visit, visit.day, at)


@dataclass(frozen=True, slots=True)
class Report:
    """What a stage did: plain numbers, sentences and Markdown tables, shown as metadata of its asset."""

    visit: int | None
    numbers: dict[str, int | float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
