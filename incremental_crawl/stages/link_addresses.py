"""The addresses that links mean: in canonical form, within the scope, without what makes no other page."""

from __future__ import annotations

from dataclasses import dataclass

from incremental_crawl.semantics.tracking_params import without_tracking
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.stages.site_run import SiteRun


@dataclass(frozen=True, slots=True)
class Address:
    """Where a link leads. `written` is what a known page may be called; a new one is called `short`."""

    written: str
    short: str


class LinkAddresses:
    """Makes addresses of links by the site's scope."""

    def __init__(self, run: SiteRun) -> None:
        self._rules = run.site.scope_rules
        self._scope = run.site.scope

    def of(self, link: str, base: str) -> Address | None:
        """The address of a link on the page `base`; None where it leads out of the scope or nowhere."""
        try:
            written = canonical_url(link, base, self._scope.strip_params)
        except InvalidUrl:
            return None
        short = without_tracking(written) if self._scope.strip_tracking else written
        if self._rules.contains(short):
            return Address(written if self._rules.contains(written) else short, short)
        return None
