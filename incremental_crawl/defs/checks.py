"""The checks. Where a blocking gate fails, the run stops until a person decides; the others warn."""

import dagster as dg

from incremental_crawl.defs.assets import body_snapshots, page_records, records, revalidation_sweep, sitemap_urls
from incremental_crawl.defs.metadata import checked, combined
from incremental_crawl.defs.project import ranges_of, run_of
from incremental_crawl.defs.refusals import told_in_a_sentence
from incremental_crawl.stages.block_reports import blocked_report
from incremental_crawl.stages.gates import gate_report
from incremental_crawl.stages.limit_reports import page_limit_report
from incremental_crawl.stages.source_reports import sources_report
from incremental_crawl.stages.trust_reports import audit_report, validators_report


@dg.asset_check(asset=sitemap_urls)
@told_in_a_sentence()
def sources_readable(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """Sitemaps and feeds could be read, list pages of the site, and none has shrunk suddenly."""
    return checked(sources_report(run_of(context)), dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset=revalidation_sweep, blocking=True)
@told_in_a_sentence()
def churn_within_limit(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """The sweep's numbers look like changed pages, not like a changed site."""
    return checked(gate_report(run_of(context), "revalidation_sweep"))


@dg.asset_check(asset=body_snapshots)
@told_in_a_sentence()
def page_limit_reached(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """No limit left out URLs that were found; red where one did."""
    return checked(page_limit_report(run_of(context)))


@dg.asset_check(asset=page_records, blocking=True)
@told_in_a_sentence()
def changes_within_limit(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """The digests say the same of the pages that only a digest can judge."""
    return checked(combined([gate_report(part.run, "page_records") for part in ranges_of(context)]))


@dg.asset_check(asset=body_snapshots)
@told_in_a_sentence()
def audit_agrees_with_304(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """Pages that were answered 304 and fetched all the same had not changed."""
    return checked(audit_report(run_of(context)), dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset=body_snapshots)
@told_in_a_sentence()
def not_blocked(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """No challenge, consent, login or maintenance page stood in the pages' place."""
    return checked(blocked_report(run_of(context)), dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset=records)
@told_in_a_sentence()
def validators_trustworthy(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """Every host's ETag and Last-Modified can be believed as they come."""
    reports = [validators_report(part.run) for part in ranges_of(context)]
    return checked(combined(reports), dg.AssetCheckSeverity.WARN)
