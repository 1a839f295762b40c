"""One schedule per site, and the sensor that notices bodies past their window."""

import dagster as dg

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.defs.clock import now
from incremental_crawl.defs.dead_runs import end_dead_runs
from incremental_crawl.defs.jobs import crawl, prune_snapshots
from incremental_crawl.defs.partitions import partition_key
from incremental_crawl.defs.project import catalogue, keep_days, project
from incremental_crawl.stages import prune_snapshots as prune_stage
from incremental_crawl.stages.gates import day_to_run
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.lock import SiteLocked

_BROKEN_CRON = "0 * * * *"


def _schedule(site: SiteConfig, cron: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=f"{site.name}_crawl",
        job=crawl,
        cron_schedule=cron,
        execution_timezone=site.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING if site.schedule_on else dg.DefaultScheduleStatus.STOPPED,
        description=f"Crawls {site.name}; finishes a visit that is still open before a new one is opened.",
    )
    def crawl_on_time(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        end_dead_runs(context.instance)
        try:
            day = day_to_run(SiteLayout(project().data_dir, site.name), now(), wait_s=2)
        except SiteLocked as locked:
            return dg.SkipReason(str(locked))
        return dg.RunRequest(partition_key=partition_key(day, site.name))

    return crawl_on_time


def _broken_schedule(name: str, error: ConfigError) -> dg.ScheduleDefinition:
    """A broken site file takes down its own site only, and its schedule says why at every tick, asked to or not."""

    @dg.schedule(
        name=f"{name}_crawl",
        job=crawl,
        cron_schedule=_BROKEN_CRON,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Broken site file: {error}",
    )
    def refuse(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        raise error

    return refuse


def schedules() -> list[dg.ScheduleDefinition]:
    """The schedules of all enabled sites that have a cron line."""
    known = catalogue()
    working = [_schedule(site, site.schedule) for site in known.sites.values() if site.enabled and site.schedule]
    return [*working, *(_broken_schedule(name, error) for name, error in known.broken.items())]


@dg.sensor(
    job=prune_snapshots,
    minimum_interval_seconds=3600,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Every hour: asks for prune_snapshots while raw bodies past their site's window are left.",
)
def snapshot_retention(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Asks for a pruning while bodies past their window are left; a failed one is asked for again within the hour."""
    found = prune_stage.overdue(project().data_dir, keep_days(), now())
    if not found:
        return dg.SkipReason("no raw body is past its window")
    days = sum(len(own) for own in found.values())
    return dg.RunRequest(run_key=f"prune-{now():%Y-%m-%dT%H}", tags={"incremental_crawl/days": str(days)})
