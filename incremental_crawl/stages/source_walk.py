"""Reading sitemaps and feeds: from where reading begins to the last sitemap of an index, each once, within limits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from incremental_crawl.stages.asking import Asker
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.stages.source_reading import SourceReader
from incremental_crawl.storage import discovery
from incremental_crawl.storage.discovery import FoundBy, Source
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

MAX_DEPTH = 5
"""How many indexes may stand above a sitemap."""
MAX_SOURCES = 10_000
_STAGE = "sitemap_urls"


@dataclass(frozen=True, slots=True)
class Lead:
    """A source that is to be read: `root` is where reading began, `depth` the number of indexes above it."""

    url: str
    kind: str
    found_by: FoundBy
    root: str
    depth: int = 0

    @classmethod
    def start(cls, url: str, kind: str, found_by: FoundBy) -> Lead:
        """A lead with which reading begins."""
        return cls(url, kind, found_by, url)

    def below(self, url: str) -> Lead:
        """A sitemap that the index at this lead lists."""
        return replace(self, url=url, found_by=FoundBy.INDEX, depth=self.depth + 1)


class SourceWalk:
    """One visit's reading of sources; `read` are those that were read so far, in order."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, asker: Asker) -> None:
        self._run = run
        self._state = state
        self._reader = SourceReader(run, visit, state, asker)
        self.read: list[Source] = []

    async def follow(self, leads: Iterable[Lead]) -> list[Source]:
        """Read `leads` and what they list, indexes before their children, breadth first; returns what was read now."""
        first = len(self.read)
        queue = deque(leads)
        while queue and len(self.read) < MAX_SOURCES:
            lead = queue.popleft()
            if self._reader.was_asked(lead.url):
                continue
            source = await self._reader.read(lead.url, lead.kind, lead.root, lead.found_by)
            if lead.depth < MAX_DEPTH:
                queue.extend(lead.below(child) for child in source.children)
            elif source.children:
                source = self._left_out(source, f"its sitemaps are more than {MAX_DEPTH} indexes deep: not read")
            self.read.append(source)
            self._run.progress(_STAGE, len(self.read), len(self.read) + len(queue))
        for root in {lead.root for lead in queue}:
            self._cut_off(root)
        return self.read[first:]

    def _cut_off(self, root: str) -> None:
        """Say of a root that sources below it were left out."""
        for at, source in enumerate(self.read):
            if source.url == root:
                self.read[at] = self._left_out(source, f"more than {MAX_SOURCES} sitemaps: the rest is not read")

    def _left_out(self, source: Source, problem: str) -> Source:
        discovery.note_problem(self._state, source.url, problem)
        return replace(source, problem=problem)
