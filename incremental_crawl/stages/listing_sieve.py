"""What a sitemap or a feed lists of the site: its entries in canonical form, sifted by the scope, as an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from incremental_crawl.semantics.plain_urls import marked, plain_on
from incremental_crawl.semantics.sitemap_content import Entries
from incremental_crawl.semantics.tracking_params import NAMES, SESSION_NAMES
from incremental_crawl.stages.link_addresses import LinkAddresses
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import link_notes
from incremental_crawl.storage.state import State

_Column: TypeAlias = "pa.Array[Any]"
_HINTS: list[pa.Field[Any]] = [pa.field("changefreq", pa.string()), pa.field("priority", pa.float64())]
_SCHEMA = pa.schema([pa.field("url", pa.string()), pa.field("lastmod", pa.string()), *_HINTS])
_COLUMNS = _SCHEMA.names
NOTHING = _SCHEMA.empty_table()


class ListingSieve:
    """Sifts the entries of one document after the other by the site's scope."""

    def __init__(self, run: SiteRun, state: State) -> None:
        scope = run.site.scope
        self._state = state
        self._addresses = LinkAddresses(run)
        self._rules = run.site.scope_rules
        self._plain = plain_on(self._rules.hosts)
        own = marked(scope.strip_params, ignore_case=False)
        built_in = marked((*NAMES, *SESSION_NAMES), ignore_case=True) if scope.strip_tracking else None
        self._marked = [each for each in (own, built_in) if each is not None]

    def sifted(self, entries: Entries, base: str) -> pa.Table:
        """The entries that belong to the site, in order; `base` is the URL of the document."""
        urls = pa.array(entries.urls, pa.string())
        plain = self._are_plain(urls)
        others = pc.invert(plain)
        urls = pc.replace_with_mask(urls, others, pa.array(self._others(urls.filter(others), base), pa.string()))
        if self._rules.include or self._rules.exclude:
            urls = pc.if_else(self._admitted(urls), urls, None)
        columns = (urls, entries.lastmods, entries.changefreqs, entries.priorities)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, _SCHEMA.types, strict=True)]
        return pa.Table.from_arrays(arrays, schema=_SCHEMA).filter(urls.is_valid())

    def _admitted(self, urls: _Column) -> _Column:
        return pa.array([url is not None and self._rules.admits(url) for url in urls.to_pylist()], pa.bool_())

    def _are_plain(self, urls: _Column) -> _Column:
        """Which of the addresses are canonical, on a host of the site, and keep all of their parameters."""
        if self._plain is None:
            return pa.repeat(pa.scalar(False), len(urls))
        plain = pc.match_substring_regex(urls, self._plain)
        for expression in self._marked:
            plain = pc.and_not(plain, pc.match_substring_regex(urls, expression))
        return plain

    def _others(self, urls: _Column, base: str) -> list[str | None]:
        """The addresses one by one, None for those that are not the site's; a known page keeps the name it has."""
        found = [self._addresses.of(str(url), base) for url in urls.to_pylist()]
        doubtful = [each.written for each in found if each is not None and each.written != each.short]
        known = link_notes.known_among(self._state, doubtful) if doubtful else {}
        return [each.written if each and each.written in known else each.short if each else None for each in found]


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """The entries of a document, each URL once: of several the first value of each column counts."""
    listed = pa.concat_tables([NOTHING, *tables])
    if pc.count_distinct(listed["url"]).as_py() == listed.num_rows:
        return listed
    further = _COLUMNS[1:]
    once = listed.group_by("url", use_threads=False).aggregate([(name, "first") for name in further])
    return once.rename_columns([name.removesuffix("_first") for name in once.column_names]).select(_COLUMNS)
