"""The lineage: seven assets in data-flow order. Each is one call of the stage of the same name."""

# No `from __future__ import annotations`: Dagster reads the annotations of `config` when an asset is defined.

import dagster as dg

from incremental_crawl.defs.metadata import materialized
from incremental_crawl.defs.partitions import day_by_site
from incremental_crawl.defs.project import ranges_of, run_of
from incremental_crawl.defs.refusals import told_in_a_sentence
from incremental_crawl.defs.visit_config import VisitConfig
from incremental_crawl.stages import body_snapshots as fetch_stage
from incremental_crawl.stages import page_diffs as diff_stage
from incremental_crawl.stages import page_records as record_stage
from incremental_crawl.stages import records as publish_stage
from incremental_crawl.stages import revalidation_sweep as sweep_stage
from incremental_crawl.stages import sitemap_urls as discovery_stage
from incremental_crawl.stages import tombstones as tombstone_stage

GROUP = "crawl"
OFFLINE = dg.BackfillPolicy.single_run()


@dg.asset(group_name=GROUP, partitions_def=day_by_site, kinds={"http"})
@told_in_a_sentence()
def sitemap_urls(context: dg.AssetExecutionContext, config: VisitConfig) -> dg.MaterializeResult[None]:
    """What sitemaps and feeds list, merged into the site's known URLs. Opens the visit."""
    return materialized(discovery_stage.run(run_of(context, config.options())))


@dg.asset(group_name=GROUP, partitions_def=day_by_site, deps=[sitemap_urls], kinds={"http", "duckdb"})
@told_in_a_sentence()
def revalidation_sweep(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """Due pages asked with conditional requests; what may have changed becomes the visit's plan."""
    return materialized(sweep_stage.run(run_of(context)))


@dg.asset(group_name=GROUP, partitions_def=day_by_site, deps=[revalidation_sweep], kinds={"http", "parquet"})
@told_in_a_sentence()
def body_snapshots(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """The plan fetched, extracted and decided: same, changed, new. Raw bodies are kept for the body window."""
    return materialized(fetch_stage.run(run_of(context)))


@dg.asset(
    group_name=GROUP,
    partitions_def=day_by_site,
    deps=[body_snapshots],
    backfill_policy=OFFLINE,
    kinds={"duckdb", "parquet"},
)
@told_in_a_sentence()
def page_records(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """Records made current together with their validators; without an open visit, kept bodies extracted again."""
    return materialized(*(record_stage.run(part.run, part.last_day) for part in ranges_of(context)))


@dg.asset(group_name=GROUP, partitions_def=day_by_site, deps=[body_snapshots], kinds={"http", "parquet"})
@told_in_a_sentence()
def tombstones(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """Pages that are gone: a 404 confirmed by a second request, or a 410."""
    return materialized(tombstone_stage.run(run_of(context)))


@dg.asset(
    group_name=GROUP,
    partitions_def=day_by_site,
    deps=[page_records, tombstones],
    backfill_policy=OFFLINE,
    kinds={"parquet"},
)
@told_in_a_sentence()
def page_diffs(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """The change events: field by field, with a unified diff, both hashes and the evidence."""
    return materialized(*(diff_stage.run(part.run, part.last_day) for part in ranges_of(context)))


@dg.asset(group_name=GROUP, partitions_def=day_by_site, deps=[page_diffs], backfill_policy=OFFLINE, kinds={"parquet"})
@told_in_a_sentence()
def records(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """The current records, one row per live page, and the visit's files: the publication of the visit."""
    return materialized(*(publish_stage.run(part.run, part.last_day) for part in ranges_of(context)))
