"""Links of pages that nobody has to ask again: read from the kept body where they were never taken in.

So it is where `follow_links` or the scope has changed since, or where a limit cut them, for such pages answer 304.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date

from incremental_crawl.extraction.extract import Page
from incremental_crawl.extraction.pool import shared_pool
from incremental_crawl.stages.link_planning import LinkPlanner, ReadPage, links_rule
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import body_files, link_notes
from incremental_crawl.storage.body_files import KeptBody
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.link_notes import Unread
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

_CHUNK = 128


def read_kept(run: SiteRun, visit: Visit, state: State, planner: LinkPlanner) -> None:
    """Plan the links of kept bodies by the rules in force, until all are read or a limit leaves links out."""
    if visit.only_urls:
        return
    rules, start = run.site.scope_rules, frozenset(run.site.start_urls)
    for chunk in link_notes.unread_bodies(state, visit.visit, links_rule(run), run.site.scope.max_depth, _CHUNK):
        pages = [page for page in chunk if page.url in start or rules.contains(page.url)]
        with state.transaction():
            cut = planner.plan(list(_read(run, pages, visit)))
        if cut:
            return


def _read(run: SiteRun, pages: Sequence[Unread], visit: Visit) -> Iterator[ReadPage]:
    kept = [(page, body) for page, body in _bodies(run, pages) if body is not None]
    wanted = (Page(page.url, body.body, body.content_type, page.charset) for page, body in kept)
    extracts = shared_pool().extract_many(wanted, run.rules, want_links=True, want_main_text=False)
    for (page, body), extract in zip(kept, extracts, strict=True):
        headers = tuple((name, value) for name, value in json.loads(body.headers or "[]"))
        yield ReadPage(page.url, page.depth, visit.opened_at, extract, headers)


def _bodies(run: SiteRun, pages: Sequence[Unread]) -> Iterator[tuple[Unread, KeptBody | None]]:
    by_file: dict[tuple[date, int], list[Unread]] = {}
    for page in pages:
        by_file.setdefault((page.body_day, page.body_visit), []).append(page)
    for (day, number), group in by_file.items():
        path = run.layout.visit_file(Dataset.BODY_SNAPSHOTS, day, number)
        found = body_files.read_urls(path, [page.url for page in group])
        yield from ((page, found.get(page.url)) for page in group)
