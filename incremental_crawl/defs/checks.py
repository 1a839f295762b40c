"""The blocking gates: where they fail, the run stops until a person approves or rejects the plan."""

import dagster as dg

from incremental_crawl.defs.assets import page_records, revalidation_sweep
from incremental_crawl.defs.metadata import checked, combined
from incremental_crawl.defs.project import ranges_of, run_of
from incremental_crawl.defs.refusals import told_in_a_sentence
from incremental_crawl.stages.gates import gate_report


@dg.asset_check(asset=revalidation_sweep, blocking=True)
@told_in_a_sentence()
def churn_within_limit(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """The sweep's numbers look like changed pages, not like a changed site."""
    return checked(gate_report(run_of(context), "revalidation_sweep"))


@dg.asset_check(asset=page_records, blocking=True)
@told_in_a_sentence()
def changes_within_limit(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """The digests say the same of the pages that only a digest can judge."""
    return checked(combined([gate_report(part.run, "page_records") for part in ranges_of(context)]))
