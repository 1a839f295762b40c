"""Everything that Dagster loads, in data-flow order."""

from __future__ import annotations

import dagster as dg

from incremental_crawl.defs import assets, checks, jobs
from incremental_crawl.defs.automation import schedules, snapshot_retention

defs = dg.Definitions(
    assets=[
        assets.sitemap_urls,
        assets.revalidation_sweep,
        assets.body_snapshots,
        assets.page_records,
        assets.tombstones,
        assets.page_diffs,
        assets.records,
    ],
    asset_checks=[
        checks.sources_readable,
        checks.churn_within_limit,
        checks.audit_agrees_with_304,
        checks.not_blocked,
        checks.page_limit_reached,
        checks.changes_within_limit,
        checks.validators_trustworthy,
    ],
    jobs=[jobs.crawl, jobs.reparse, jobs.resume_after_approval, jobs.prune_snapshots],
    schedules=schedules(),
    sensors=[snapshot_retention],
    executor=dg.in_process_executor,
)
