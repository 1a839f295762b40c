"""Stage 7: publish. The visit's rows become Parquet files, the current records and the state's copies are swapped."""

from __future__ import annotations

from datetime import date

from incremental_crawl.stages.learning import learn_hosts
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.storage import blocks, growth, publication, reports, visits
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit, VisitStatus

STAGE = "records"


def run(run: SiteRun, last_day: date | None = None) -> Report:
    """Publish the day's visit, and whatever ended visits still have to publish (re-parses, rejected plans)."""
    with run.state(STAGE) as state:
        visit = visits.open_on(state, run.day) if last_day in (None, run.day) else None
        if visit is not None and visit.status is VisitStatus.OPEN:
            visits.under_way(state, run.day, "page_diffs")
            _begin(run, visit, state)
        report = Report(None) if visit is None else _finish(run, visit, state)
        if visit is None or visits.unpublished(state):
            publish_ended(run, state)
        return report


def publish_ended(run: SiteRun, state: State) -> None:
    """Publish what ended visits left in the outbox, and swap the current files."""
    publication.publish_again(state, visits.unpublished(state), run.clock(), run.record_tables)


def _begin(run: SiteRun, visit: Visit, state: State) -> None:
    with state.transaction():
        growth.forget(state, visit.opened_at - run.site.scope.forget_after)
        visits.keep_summary(state, visit.visit, reports.count_visit(state, visit.visit).numbers())
    groups, hosts = learn_hosts(run, visit, state)
    publication.begin(state, visit, run.clock(), groups, hosts)


def _finish(run: SiteRun, visit: Visit, state: State) -> Report:
    blocks.settle(state)
    written = publication.finish(state, visit, run.record_tables)
    files = {dataset.value: str(path.relative_to(run.project.data_dir)) for dataset, path in written.items()}
    return Report(visit.visit, visits.summary(state, visit.visit), files)
