"""The project as Dagster sees it: its sites, and the stage run that belongs to a partition."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TypeAlias

import dagster as dg

from incremental_crawl.config.loading import SiteCatalogue, load_sites
from incremental_crawl.config.project import Project
from incremental_crawl.defs.clock import now
from incremental_crawl.defs.dead_runs import hold_as_running
from incremental_crawl.defs.progress import progress
from incremental_crawl.extraction.site_files import usable_site, usable_sites
from incremental_crawl.stages.site_run import SiteRun, no_progress
from incremental_crawl.storage.visits import DEFAULT_OPTIONS, VisitOptions

DAY, SITE = "day", "site"
RunContext: TypeAlias = dg.AssetExecutionContext | dg.AssetCheckExecutionContext


@dataclass(frozen=True, slots=True)
class DayRange:
    """A site's run and the last day that the partitions of the run reach."""

    run: SiteRun
    last_day: date


def project() -> Project:
    """The project's folders and first day, from the environment."""
    return Project.from_environment(os.environ, now().date())


@cache
def catalogue() -> SiteCatalogue:
    """The site files as they were when the code location was loaded."""
    return usable_sites(project().sites_dir)


def site_names() -> list[str]:
    """Every site with a file, also a disabled or broken one: its partition stays."""
    known = catalogue()
    return sorted({*known.sites, *known.broken})


def site_run(
    site: str, day: date, context: RunContext | None = None, options: VisitOptions = DEFAULT_OPTIONS
) -> SiteRun:
    """The stage run of one partition. The site file is read anew. Raises `ConfigError` for a broken one."""
    own = project()
    if context is not None:
        hold_as_running(context.instance, context.run.run_id)
    return SiteRun(
        project=own,
        site=usable_site(own.sites_dir, site),
        day=day,
        clock=now,
        run_id=context.run.run_id if context is not None else None,
        options=options,
        progress=progress(context.log.info) if context is not None else no_progress,
    )


def run_of(context: RunContext, options: VisitOptions = DEFAULT_OPTIONS) -> SiteRun:
    """The stage run of a run that has exactly one partition."""
    ranges = list(ranges_of(context, options))
    if len(ranges) != 1 or ranges[0].run.day != ranges[0].last_day:
        raise dg.Failure("this asset asks the live web: materialize it for one partition (a day and a site) at a time")
    return ranges[0].run


def ranges_of(context: RunContext, options: VisitOptions = DEFAULT_OPTIONS) -> Iterator[DayRange]:
    """The run's partitions as one range of days per site."""
    days: dict[str, list[date]] = {}
    for key in _partition_keys(context):
        day, site = key.split("|", 1)
        days.setdefault(site, []).append(date.fromisoformat(day))
    for site, own in days.items():
        yield DayRange(site_run(site, min(own), context, options), max(own))


def _partition_keys(context: RunContext) -> list[str]:
    """Checks have no partitions of their own: they read the run's tags."""
    if isinstance(context, dg.AssetExecutionContext):
        return list(context.partition_keys)
    tags = context.run.tags
    single = tags.get("dagster/partition")
    if single is not None:
        return [single]
    first, last = tags.get("dagster/asset_partition_range_start"), tags.get("dagster/asset_partition_range_end")
    if first is None or last is None:
        raise dg.Failure(
            "this check reads the partition of its run, and this run has none: materialize its asset, or run the job "
            "resume_after_approval, for a day and a site",
            allow_retries=False,
        )
    first_day, first_site = first.split("|", 1)
    last_day, last_site = last.split("|", 1)
    sites = [site for site in site_names() if first_site <= site <= last_site]
    return [f"{day}|{site}" for site in sites for day in (first_day, last_day)]


def keep_days() -> dict[str, int]:
    """The body window of every site whose file can be read, in days."""
    return {name: site.bodies.keep_days for name, site in load_sites(project().sites_dir).sites.items()}
