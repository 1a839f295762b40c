"""Where the reading of sources begins: what the site file lists, what robots.txt names, or else the usual places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url, origin_of
from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.stages.source_walk import Lead, SourceWalk
from incremental_crawl.storage import discovery
from incremental_crawl.storage.discovery import FoundBy, SitemapRoot, Source
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

USUAL_PLACES = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/sitemap.txt",
    "/wp-sitemap.xml",
    "/sitemap/sitemap.xml",
    "/sitemaps.xml",
)
"""Tried in this order until one holds a sitemap."""
GUESS_AGAIN_AFTER = timedelta(days=7)
"""A usual place that held no sitemap is not asked at every visit."""


class SourceRoots:
    """Finds the roots of a visit and reads them; `warnings` says by robots.txt what of it is not used."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._asker = asker
        self._walk = SourceWalk(run, visit, state, asker)
        self.warnings: dict[str, str] = {}

    async def read(self) -> list[Source]:
        """Everything that was read."""
        site = self._run.site
        feeds = [Lead.start(url, "feed", FoundBy.SITE_FILE) for url in site.feeds]
        if isinstance(site.sitemaps, tuple):
            await self._walk.follow(Lead.start(url, "sitemap", FoundBy.SITE_FILE) for url in site.sitemaps)
        elif site.sitemaps == "auto":
            await self._automatic()
        await self._walk.follow(feeds)
        await self._tell_not_heeded()
        return self._walk.read

    async def _automatic(self) -> None:
        """What robots.txt of each origin names is read first, and the usual places of those that name nothing after it.

        Where robots.txt cannot be read, the last visit's roots stay in force, so that nothing is unlisted.
        """
        silent = []
        for origin in dict.fromkeys(origin_of(url) for url in self._run.site.start_urls):
            rules = await self._asker.robots_rules(origin + "/")
            if isinstance(rules, str):
                self.warnings[f"{origin}/robots.txt"] = rules
                await self._walk.follow(self._read_last())
            elif usable := self._usable(rules.sitemaps, origin):
                await self._walk.follow(Lead.start(url, "sitemap", FoundBy.ROBOTS) for url in usable)
            else:
                silent.append(origin)
        for origin in silent:
            await self._places(origin)

    async def _tell_not_heeded(self) -> None:
        """Warn where a robots.txt that was read just now asks what is not kept to the letter."""
        for origin in self._asker.exchange.robots_received:
            rules = await self._asker.robots_rules(f"{origin}/")
            if isinstance(rules, RobotsRules) and (told := rules.not_heeded(self._run.site.politeness.user_agent)):
                url = f"{origin}/robots.txt"
                self.warnings[url] = "; ".join([*filter(None, [self.warnings.get(url)]), *told])

    def _usable(self, named: Iterable[str], origin: str) -> list[str]:
        """The sitemaps of `Sitemap:` lines in canonical form; what is none is a warning."""
        found, odd = list[str](), list[str]()
        for text in named:
            try:
                url = canonical_url(text, origin + "/")
            except InvalidUrl:
                url = ""
            if url in ("", f"{origin}/robots.txt"):
                odd.append(text)
            else:
                found.append(url)
        if odd:
            shown = ", ".join(repr(text[:200]) for text in odd[:3])
            more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
            self.warnings[f"{origin}/robots.txt"] = f"names as a sitemap what is none: {shown}{more}"
        return list(dict.fromkeys(found))

    async def _places(self, origin: str) -> None:
        """Ask where sitemaps usually are, first where one was before, until one is found or the host says no more."""
        for url in self._candidates(origin):
            read = await self._walk.follow([Lead.start(url, "sitemap", FoundBy.PLACE)])
            if any(source.found for source in read) or (read and read[0].hindered):
                return

    def _candidates(self, origin: str) -> Iterator[str]:
        known = {root.source.url: root for root in discovery.sitemap_roots(self._state)}
        held = [source for source in self._last(known.values()) if source.sha256 is not None]
        yield from (source.url for source in sorted(held, key=lambda source: not source.found))
        own = [_beside(url) for url in self._run.site.start_urls if origin_of(url) == origin]
        for url in dict.fromkeys([*own, *(origin + place for place in USUAL_PLACES)]):
            if url not in known or _is_due(known[url], self._visit.opened_at):
                yield url

    def _read_last(self) -> list[Lead]:
        last = self._last(discovery.sitemap_roots(self._state))
        return [Lead.start(source.url, source.kind, source.found_by or FoundBy.ROBOTS) for source in last]

    def _last(self, roots: Iterable[SitemapRoot]) -> list[Source]:
        """Those that the last visit before this one read."""
        before = [root.source for root in roots if root.source.visit < self._visit.visit]
        latest = max((source.visit for source in before), default=None)
        return [source for source in before if source.visit == latest]


def _beside(start_url: str) -> str:
    """Where the sitemap of a part of a host would be: in the folder of its start page."""
    return canonical_url("sitemap.xml", start_url)


def _is_due(root: SitemapRoot, now: datetime) -> bool:
    """Whether a place is to be asked again; one that held a sitemap before always is."""
    return not root.source.is_guess or root.source.hindered or now - root.read_at >= GUESS_AGAIN_AFTER
