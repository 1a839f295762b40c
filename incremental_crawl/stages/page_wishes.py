"""What pages ask of crawlers, as far as the site file heeds it: links not to follow, pages not to keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from incremental_crawl.extraction.extract import Extract
from incremental_crawl.semantics.answers import Headers
from incremental_crawl.semantics.robots_directives import header_directives
from incremental_crawl.stages.cases import Case
from incremental_crawl.stages.link_addresses import LinkAddresses
from incremental_crawl.stages.site_run import SiteRun

_NOT_KEPT = "the page says noindex"


class PageWishes:
    """Heeds meta robots, X-Robots-Tag and canonical links by `scope.meta_robots` and `scope.canonical`.

    A page stands back for its canonical one only in a visit that `follows` links and takes that one in.
    """

    def __init__(self, run: SiteRun, follows: bool) -> None:
        self._follows = follows
        self._scope = run.site.scope
        self._agent = run.site.politeness.user_agent
        self._start = frozenset(run.site.start_urls)
        self._addresses = LinkAddresses(run)

    def sift(self, cases: Iterable[Case]) -> None:
        """Mark the pages that are to give no record; what is held of them stays."""
        for case in cases:
            if case.blocked is None:
                case.refused = self._refusal(case)

    def links(self, extract: Extract, headers: Headers) -> Sequence[str]:
        """The links of a page that may be followed, absolute, in page order."""
        found = extract.links
        if self._scope.meta_robots == "ignore":
            return (*found.open, *found.discouraged)
        if extract.nofollow or "nofollow" in self._directives(headers):
            return ()
        return found.open

    def _refusal(self, case: Case) -> str | None:
        if self._scope.meta_robots == "all":
            said = case.found is not None and case.found.noindex
            if said or "noindex" in self._directives(case.headers):
                return _NOT_KEPT
        prefers = self._follows and self._scope.canonical == "prefer"
        if prefers and case.found is not None and case.found.canonical_link:
            case.canonical = self._preferred(case, case.found.canonical_link)
            if case.canonical is not None:
                return f"found by a link, and its canonical page is {case.canonical}"
        return None

    def _preferred(self, case: Case, named: str) -> str | None:
        """The page to hold instead. A home page is named by pages that have none of their own."""
        if case.page.held or case.page.listed or not case.row.source.startswith("link:"):
            return None
        address = self._addresses.of(named, case.row.url)
        if address is None or address.short == case.row.url or address.short in self._start:
            return None
        return None if urlsplit(address.short).path == "/" and "?" not in address.short else address.short

    def _directives(self, headers: Headers) -> frozenset[str]:
        return header_directives((value for name, value in headers if name.lower() == "x-robots-tag"), self._agent)
