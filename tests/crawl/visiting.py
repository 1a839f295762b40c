"""A site in a folder of its own, crawled stage by stage at moments that the test chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import yaml

from incremental_crawl.config.loading import load_site
from incremental_crawl.config.project import Project
from incremental_crawl.stages import (
    body_snapshots,
    page_diffs,
    page_records,
    records,
    revalidation_sweep,
    sitemap_urls,
    tombstones,
)
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.state import State, open_state
from incremental_crawl.storage.visits import DEFAULT_OPTIONS, VisitOptions

STAGES: tuple[Callable[[SiteRun], Report], ...] = (
    sitemap_urls.run,
    revalidation_sweep.run,
    body_snapshots.run,
    page_records.run,
    tombstones.run,
    page_diffs.run,
    records.run,
)
NAME = "site"


@dataclass
class CrawledSite:
    """A site whose file is made of `settings`; every visit happens at the moment it is told."""

    folder: Path
    settings: dict[str, Any]
    now: datetime = datetime(2026, 5, 1, 12, tzinfo=UTC)
    reports: dict[str, Report] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.write(self.settings)

    @property
    def data(self) -> Path:
        """The data root."""
        return self.folder / "data"

    @property
    def layout(self) -> SiteLayout:
        """Where the site's files lie."""
        return SiteLayout(self.data, NAME)

    def write(self, settings: dict[str, Any]) -> None:
        """Write the site file anew."""
        sites = self.folder / "sites"
        sites.mkdir(parents=True, exist_ok=True)
        (sites / f"{NAME}.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")

    def run(self, options: VisitOptions = DEFAULT_OPTIONS, day: datetime | None = None) -> SiteRun:
        """What the stages are given at the present moment."""
        project = Project(self.folder / "sites", self.data, self.now.date())
        site = load_site(self.folder / "sites", NAME)
        return SiteRun(project, site, (day or self.now).date(), lambda: self.now, "run", options, lock_wait_s=1)

    def visit(
        self,
        moment: datetime | None = None,
        options: VisitOptions = DEFAULT_OPTIONS,
        stages: Sequence[Callable[[SiteRun], Report]] = STAGES,
    ) -> dict[str, int | float]:
        """One visit, all stages; returns the numbers of the last."""
        self.now = moment or self.now
        run = self.run(options)
        report = Report(None)
        for stage in stages:
            self.reports[stage.__module__.rsplit(".", 1)[-1]] = report = stage(run)
        return report.numbers

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a query over the datasets; `{page_diffs}` and so on stand for their globs."""
        globs = {
            name: f"read_parquet('{self.data}/{name}/*/*/*.parquet', union_by_name = true)"
            for name in ("body_snapshots", "page_records", "page_diffs", "tombstones", "observations", "records")
        }
        globs |= {name: f"read_parquet('{self.data}/{name}/*/*.parquet')" for name in ("pages", "hosts")}
        with _reader().cursor() as con:
            con.execute("SET TimeZone = 'UTC'")
            return con.execute(sql.format(**globs)).fetchall()

    def writing(self) -> AbstractContextManager[State]:
        """The open state, to be changed by hand."""
        return open_state(self.layout, "test", self.now, 1)

    def state(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a query over the state."""
        with open_state(self.layout, "test", self.now, 1) as state:
            return state.rows(sql)

    def events(self, visit: int | None = None) -> list[tuple[str, str]]:
        """(kind, path) of the published events, of one visit or all, sorted."""
        which = f"WHERE visit = {visit}" if visit is not None else ""
        rows = self.query(
            f"SELECT kind, regexp_replace(url, '^[^/]*//[^/]*', '') FROM {{page_diffs}} {which} ORDER BY ALL"
        )
        return [(kind, path) for kind, path in rows]


@cache
def _reader() -> duckdb.DuckDBPyConnection:
    """One engine for all queries: to start one takes longer than to ask it."""
    return duckdb.connect(config={"enable_external_file_cache": False})


def local_site(start: str, **settings: Any) -> dict[str, Any]:
    """Settings of a site on loopback without any rate limit."""
    return {
        "start_urls": [start],
        "allow_private_hosts": True,
        "cadence": "every_run",
        "politeness": {"requests_per_second": None},
        "gate": {"confirm_gone_after": "0s"},
        **settings,
    }
