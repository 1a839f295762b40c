"""A site on a real server: visits by the stages themselves, requests counted in the server's log."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.crawl.visiting import CrawledSite, local_site
from tests.servers.document_root import PATHS, DocumentRoot
from tests.servers.real_server import RealServer, Served

DAY = timedelta(days=1)
HOUR_S = 3600.0
FIELDS = [{"name": "guide", "match": "/**", "fields": {"word": "h1", "rows": {"css": "p", "list": True}}}]
QUIET = {"revalidation": {"audit_share": 0.0}, "main_text": "none", "extract": FIELDS}
_SOURCES = ("/robots.txt", "/sitemap.xml")


@dataclass
class Crawled:
    """A site that crawls `server`, a day later at each visit; `documents` lie behind it, maybe on another server."""

    folder: Path
    server: RealServer
    documents: DocumentRoot
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        site = local_site(self.server.base_url + "/", **{**QUIET, **self.settings})
        self.site = CrawledSite(self.folder, site, datetime.now(UTC))
        self.visits: list[list[Served]] = []

    def visit(self) -> list[Served]:
        """One visit; returns the requests for pages, in the order of the server's log."""
        before = len(self.server.log())
        self.site.now += DAY
        self.site.visit()
        seen = [entry for entry in self.server.log()[before:] if entry.path not in _SOURCES]
        self.visits.append(seen)
        return seen

    def events(self, visit: int | None = None) -> list[tuple[str, str]]:
        """(kind, path) of the events of a visit, the last one if not told."""
        return self.site.events(visit or len(self.visits))

    @property
    def host(self) -> dict[str, Any]:
        """The published row of the host."""
        columns = [name for name, *_ in self.site.query("DESCRIBE SELECT * FROM {hosts}")]
        (row,) = self.site.query(f"SELECT * FROM {{hosts}} WHERE host = '{self.server.host}'")
        return dict(zip(columns, row, strict=True))

    @property
    def verdict(self) -> str:
        """What is said of the host."""
        return str(self.host["verdict"])

    def outcomes(self, path: str) -> list[str]:
        """The outcomes of the last visit's requests for a page."""
        rows = self.site.query(
            f"SELECT outcome FROM {{observations}} WHERE visit = {len(self.visits)} "
            f"AND url = '{self.server.base_url}{path}'"
        )
        return [row[0] for row in rows]

    def word(self, path: str) -> str:
        """The word of a page, as the current record has it."""
        ((word,),) = self.site.query(f"SELECT word FROM {{records}} WHERE url = '{self.server.base_url}{path}'")
        return str(word).removeprefix("The word is ")


def asked(requests: list[Served], path: str) -> list[Served]:
    """The requests for one page."""
    return [entry for entry in requests if entry.path == path]


def answers(requests: list[Served]) -> dict[str, list[int]]:
    """The statuses of each page's requests."""
    found: dict[str, list[int]] = {}
    for entry in requests:
        found.setdefault(entry.path, []).append(entry.status)
    return found


def each_page(status: int) -> dict[str, list[int]]:
    """What `answers` gives where each page was asked for once and answered with `status`."""
    return {path: [status] for path in PATHS}


def named(verdict: str) -> set[str]:
    """The ways that a verdict names in brackets, as docs/servers.md has them."""
    return set(re.findall(r"\(([0-9A-Z-]+)\)", verdict))


def seconds_ago(seconds: float) -> float:
    """A whole second of the server's own clock, for the time of a file."""
    return float(int(time.time() - seconds))
