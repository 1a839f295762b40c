"""The jobs: the whole crawl, the offline re-parse, the way on from a gate, and body retention."""

import dagster as dg

from incremental_crawl.defs import assets
from incremental_crawl.defs.assets import GROUP
from incremental_crawl.defs.checks import churn_within_limit
from incremental_crawl.defs.clock import now
from incremental_crawl.defs.dead_runs import hold_as_running
from incremental_crawl.defs.project import keep_days, project
from incremental_crawl.stages import prune_snapshots as prune_stage

crawl = dg.define_asset_job("crawl", dg.AssetSelection.groups(GROUP), description="One visit of a site, all stages.")

reparse = dg.define_asset_job(
    "reparse",
    dg.AssetSelection.assets(assets.page_records, assets.page_diffs, assets.records),
    description="Extract the kept bodies of past days again. Sends no request.",
)

resume_after_approval = dg.define_asset_job(
    "resume_after_approval",
    dg.AssetSelection.assets(
        assets.body_snapshots, assets.page_records, assets.tombstones, assets.page_diffs, assets.records
    )
    | dg.AssetSelection.checks(churn_within_limit),
    description="Go on with an approved plan, without sweeping again.",
)


@dg.op
def prune(context: dg.OpExecutionContext) -> None:
    """Drop raw bodies that are past their site's body window."""
    hold_as_running(context.instance, context.run_id)
    report = prune_stage.run(project().data_dir, keep_days(), now())
    for pruned in report.pruned:
        context.log.info(f"{pruned.site}: {pruned.bodies} bodies of {len(pruned.days)} days, {pruned.bytes} bytes")
    for sentence in report.in_use.values():
        context.log.warning(f"not pruned: {sentence}")
    context.add_output_metadata(
        {"bodies": sum(one.bodies for one in report.pruned), "bytes": sum(one.bytes for one in report.pruned)}
    )


@dg.job(description="Body retention for every site: records and hashes stay.")
def prune_snapshots() -> None:
    """Prune every site."""
    prune()
