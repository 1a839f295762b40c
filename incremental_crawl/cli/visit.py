"""One visit of one site through the `crawl` job, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from incremental_crawl.cli.errors import FAILED, REFUSALS, WRONG, file_sentence
from incremental_crawl.cli.sites import patiently, project, site_config
from incremental_crawl.config.problems import ConfigError
from incremental_crawl.defs.clock import now
from incremental_crawl.stages.gates import day_to_run
from incremental_crawl.stages.sitemap_urls import SOURCES_TABLE
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.readers import Datasets, DatasetsUnreadable
from incremental_crawl.storage.visits import VisitOptions

# The stage whose numbers are the latest comes first.
_STAGES = ("records", "page_records", "body_snapshots", "revalidation_sweep", "sitemap_urls")
_TOLD_STAGES = ("sitemap_urls", "body_snapshots", "tombstones")
_NOT_TOLD = ("visit", "gate", SOURCES_TABLE)


@dataclass(frozen=True, slots=True)
class Summary:
    """How a visit ended. `not_due` pages were left alone; `next_due` is when the first of them is due (UTC).

    `exit_status` is that of a command that did nothing else: 0, 1 or 2.
    """

    site: str
    exit_status: int
    problem: str | None = None
    run_id: str | None = None
    visit: int | None = None
    known: int = 0
    due: int = 0
    next_due: datetime | None = None
    every_run: bool = False
    counts: dict[str, int | float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def not_due(self) -> int:
        """Pages that were not asked because their next check is later."""
        return max(0, self.known - self.due)

    def as_json(self) -> dict[str, Any]:
        """The object that `crawl --json` writes."""
        return {
            "site": self.site,
            "success": self.exit_status == 0,
            "problem": self.problem,
            "run_id": self.run_id,
            "visit": self.visit,
            "known": self.known,
            "due": self.due,
            "not_due": self.not_due,
            "next_due": self.next_due,
            "every_run": self.every_run,
            "counts": {name.removeprefix("304 ").replace(" ", "_"): count for name, count in self.counts.items()},
            "notes": self.notes,
        }


def visit_site(site: str, options: VisitOptions) -> Summary:
    """Open a visit, or go on with the one that is open; expected failures are in the summary."""
    try:
        return _visited(site, options)
    except ConfigError as error:
        return _summary(site, WRONG, str(error))
    except REFUSALS as refusal:
        return _summary(site, FAILED, str(refusal))
    except OSError as error:
        if error.filename is None:
            raise
        return _summary(site, FAILED, file_sentence(error))


def _visited(site: str, options: VisitOptions) -> Summary:
    every_run = site_config(site).cadence.every_run
    layout = SiteLayout(project().data_dir, site)
    day = patiently(lambda wait_s: day_to_run(layout, now(), wait_s))

    # Dagster takes two seconds to load: only once nothing stands in the way.
    from incremental_crawl.definitions import defs
    from incremental_crawl.defs.launch import launch, visit_config

    config = visit_config(options.every_page, list(options.only_urls), options.page_limit)
    launched = launch(defs, "crawl", site, day, run_config=config)
    counts = _counts(launched.numbers)
    problem = launched.problem or _nothing_read(site, counts, launched.numbers)
    summary = _summary(site, FAILED if problem else 0, problem, counts)
    return replace(
        summary,
        run_id=launched.run_id,
        visit=_visit_number(launched.numbers),
        every_run=every_run,
        notes=_notes(launched.numbers),
    )


def _summary(
    site: str, exit_status: int, problem: str | None, counts: Mapping[str, int | float] = MappingProxyType({})
) -> Summary:
    """With the visit's numbers; where it has none, with those that were published last."""
    own = _published(site)
    held = sum(own.get(name) or 0 for name in ("pages", "gone", "moved"))
    return Summary(
        site=site,
        exit_status=exit_status,
        problem=problem,
        known=int(counts.get("pages known", held)),
        due=int(max(counts.get("due", own.get("due") or 0), counts.get("asked", 0))),
        next_due=own.get("next_due"),
        counts=dict(counts),
    )


def _counts(numbers: dict[str, dict[str, Any]]) -> dict[str, int | float]:
    latest = next((numbers[stage] for stage in _STAGES if stage in numbers), {})
    return {name: value for name, value in latest.items() if isinstance(value, int | float)}


def _published(site: str) -> dict[str, Any]:
    try:
        with Datasets(project().data_dir) as datasets:
            return datasets.site_summaries(now()).get(site, {})
    except DatasetsUnreadable:
        return {}


def _nothing_read(site: str, counts: dict[str, int | float], numbers: dict[str, dict[str, Any]]) -> str | None:
    """A site of which no page and no source could be read has failed, even where too few pages for a gate did."""
    sources = numbers.get("sitemap_urls", {})
    if sources.get("sources failed", 0) < sources.get("sources read", 0):
        return None
    if counts.get("failed", 0) < max(1, counts.get("asked", 0)):
        return None
    return f"nothing of {site} could be read; `incremental-crawl status {site}` shows why"


def _notes(numbers: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {
        name: note
        for stage in _TOLD_STAGES
        for name, note in numbers.get(stage, {}).items()
        if isinstance(note, str) and name not in _NOT_TOLD
    }


def _visit_number(numbers: dict[str, dict[str, Any]]) -> int | None:
    found = next((own["visit"] for own in numbers.values() if "visit" in own), None)
    return None if found is None else int(found)
