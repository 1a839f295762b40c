"""What a change of the rules means for records that are held: stale, or only of a type with another name."""

from __future__ import annotations

from dataclasses import replace

from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import known_urls, page_types
from incremental_crawl.storage.page_types import HeldRules
from incremental_crawl.storage.state import State


def apply(run: SiteRun, state: State) -> None:
    """Mark records that other rules made as stale, and those that the rules in force made again as not.

    A record whose rules are the same under another page type's name takes that name. All pages are gone through only
    once after each change of the rules.
    """
    fingerprint = _fingerprint(run)
    if page_types.applied(state) == fingerprint:
        known_urls.mark_stale(state, run.extractor_versions)
        return
    differing = [now for chunk in page_types.held(state) for page in chunk if (now := _in_force(run, page)) != page]
    page_types.assign(state, differing, fingerprint)


def _in_force(run: SiteRun, page: HeldRules) -> HeldRules:
    page_type = run.rules.page_type_for(page.url)
    if run.rules.extractor_version(page_type) == page.extractor_version:
        return replace(page, page_type=page_type, stale=False)
    return replace(page, stale=True)


def _fingerprint(run: SiteRun) -> str:
    kinds = [[kind.name, kind.match.text if kind.match else ""] for kind in run.rules.page_types]
    return sha256_text(canonical_json([kinds, list(run.extractor_versions)]))
