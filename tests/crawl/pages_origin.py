"""An origin whose pages a test puts up one by one, and a site that crawls it on the same clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import HeaderLines, Reply, Request
from incremental_crawl.origin.request_log import LoggedRequest
from incremental_crawl.stages.site_run import Report, SiteRun
from incremental_crawl.stages.source_roots import USUAL_PLACES
from incremental_crawl.storage.visits import DEFAULT_OPTIONS, VisitOptions
from tests.crawl.visiting import STAGES, CrawledSite, local_site

Answer: TypeAlias = Callable[[Request], Reply]

HTML = ("Content-Type", "text/html; charset=utf-8")
OLD_DATE = "Mon, 05 Jan 2026 10:00:00 GMT"
DAY = timedelta(days=1)
QUIET = {"revalidation": {"audit_share": 0.0}, "main_text": "none", "sitemaps": "auto"}


def html(text: str, inside: str = "") -> bytes:
    """A page of one paragraph."""
    return f"<!doctype html><title>{text}</title><main><p>{text}</p>{inside}</main>".encode()


def page(text: str, etag: str | None = None, last_modified: str | None = None, *more: tuple[str, str]) -> Answer:
    """A page that answers 304 where the very validators come back that it sends."""
    return sending(html(text), etag, last_modified, *more)


def sending(body: bytes, etag: str | None = None, last_modified: str | None = None, *more: tuple[str, str]) -> Answer:
    """Like `page`, with a body of any kind."""
    tag: HeaderLines = () if etag is None else (("ETag", etag),)
    date: HeaderLines = () if last_modified is None else (("Last-Modified", last_modified),)

    def answered(request: Request) -> Reply:
        given, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        same = given == etag if given is not None else since is not None and since == last_modified
        if same:
            return Reply(304, (*tag, *date))
        kind = () if any(name == "Content-Type" for name, _ in more) else (HTML,)
        return Reply(200, (*kind, *tag, *date, *more), body)

    return answered


def status(code: int, *lines: tuple[str, str], body: bytes | None = None) -> Answer:
    """Always this status."""
    return lambda _: Reply(code, (HTML, *lines), html(f"status {code}") if body is None else body)


def redirect(code: int, location: str) -> Answer:
    """Always a redirect to `location`."""
    return status(code, ("Location", location))


def not_modified(*lines: tuple[str, str]) -> Answer:
    """A 304, whatever was asked."""
    return lambda _: Reply(304, lines)


def late(seconds: float) -> Answer:
    """An answer that comes too late."""
    return lambda _: Reply(200, (HTML,), html("too late"), delay_s=seconds)


def dropped(_: Request) -> Reply:
    """No answer at all: the connection is closed."""
    return Reply(200, drop=True)


def in_turn(*answers: Answer) -> Answer:
    """One answer after the other; the last one stays."""
    left = list(answers)

    def answered(request: Request) -> Reply:
        return (left.pop(0) if len(left) > 1 else left[0])(request)

    return answered


def unless_no_cache(cached: Answer, fresh: Answer) -> Answer:
    """A cache that is passed only by `Cache-Control: no-cache`."""
    return lambda request: (fresh if request.headers.get("cache-control") == "no-cache" else cached)(request)


class PagesOrigin(HttpServer):
    """Serves `pages` by path (with its query); `/robots.txt` and `/sitemap.xml` are made unless they are put up too.

    The sitemap lists `listed` (path → lastmod); where that is None, all pages but `/`.
    """

    def __init__(self, pages: dict[str, Answer] | None = None) -> None:
        super().__init__(self._answered, clock=lambda: self.moment)
        self.moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
        self.pages: dict[str, Answer] = {"/": page("Start", '"start"', OLD_DATE), **(pages or {})}
        self.listed: dict[str, str | None] | None = None

    def _answered(self, request: Request) -> Reply:
        own = self.pages.get(request.target)
        if own is not None:
            return own(request)
        if request.path == "/sitemap.xml":
            return Reply(200, (("Content-Type", "application/xml"),), self.sitemap())
        return Reply(404, (HTML,), html("Not found"))

    def sitemap(self) -> bytes:
        """The sitemap as it is now."""
        made = dict.fromkeys(path for path in self.pages if path not in ("/", "/robots.txt", "/sitemap.xml"))
        return urlset(
            {self.base_url + path: lastmod for path, lastmod in (made if self.listed is None else self.listed).items()}
        )


def urlset(entries: dict[str, str | None]) -> bytes:
    """A sitemap of absolute URLs with their lastmod."""
    rows = "".join(
        f"<url><loc>{escape(url)}</loc>{f'<lastmod>{lastmod}</lastmod>' if lastmod else ''}</url>"
        for url, lastmod in entries.items()
    )
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()


class Scene:
    """An origin and the site that crawls it; both see the same time, which only `visit` moves."""

    def __init__(self, folder: Path, origin: PagesOrigin, **settings: Any) -> None:
        self.origin = origin
        self.site = CrawledSite(folder, local_site(origin.base_url + "/", **{**QUIET, **settings}))
        self._log_before: list[int] = []

    def configure(self, **settings: Any) -> None:
        """Change keys of the site file."""
        self.site.settings = {**self.site.settings, **settings}
        self.site.write(self.site.settings)

    def visit(
        self,
        later: timedelta = DAY,
        options: VisitOptions = DEFAULT_OPTIONS,
        stages: Sequence[Callable[[SiteRun], Report]] = STAGES,
    ) -> dict[str, int | float]:
        """One visit, `later` than the last; returns the numbers of its last stage."""
        self.wait(later)
        self._log_before.append(len(self.origin.log))
        return self.site.visit(options=options, stages=stages)

    def wait(self, later: timedelta) -> None:
        """Let time pass."""
        self.site.now += later
        self.origin.moment = self.site.now

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.site.now

    def url(self, path: str) -> str:
        """The absolute address of a path."""
        return self.origin.base_url + path

    def asked(self, path: str | None = None, visit: int | None = None) -> list[LoggedRequest]:
        """What a visit (the last one) asked for, by the server's own log; robots.txt and usual sitemaps left out."""
        began = self._log_before[-1 if visit is None else visit - 1]
        ended = self._log_before[visit] if visit is not None and visit < len(self._log_before) else None
        requests = list(self.origin.log)[began:ended]
        pages = [entry for entry in requests if entry.path not in ("/robots.txt", *USUAL_PLACES)]
        return [entry for entry in pages if path in (None, entry.path)]

    def asked_for_anything(self) -> list[LoggedRequest]:
        """Everything that the last visit asked for, robots.txt and sitemaps included."""
        return list(self.origin.log)[self._log_before[-1] :]

    def asked_paths(self) -> set[str]:
        """The paths of `asked`."""
        return {entry.path for entry in self.asked()}

    def row(self, path: str) -> dict[str, Any]:
        """The published row of a page; KeyError where there is none."""
        return self.rows()[path]

    def rows(self) -> dict[str, dict[str, Any]]:
        """The published rows of `pages` by path."""
        columns = [row[0] for row in self.site.query("DESCRIBE SELECT * FROM {pages}")]
        rows = [dict(zip(columns, row, strict=True)) for row in self.site.query("SELECT * FROM {pages}")]
        return {row["url"].removeprefix(self.origin.base_url): row for row in rows}

    def known(self, path: str, column: str) -> Any:
        """A column of the state's row of any known URL."""
        rows = self.site.state(f"SELECT {column} FROM current_urls WHERE url = '{self.url(path)}'")
        return rows[0][0] if rows else None

    def texts(self) -> dict[str, str]:
        """The current records of pages without rules, by path."""
        rows = self.site.query("SELECT url, text FROM {records}")
        return {url.removeprefix(self.origin.base_url): text for url, text in rows}

    def events(self, visit: int | None = None) -> list[tuple[str, str]]:
        """(kind, path) of the published events, sorted."""
        return self.site.events(visit)

    def observed(self, path: str, visit: int, column: str = "outcome") -> list[Any]:
        """A column of the visit's observations of a path, in order."""
        rows = self.site.query(
            f"SELECT {column} FROM {{observations}} WHERE url = '{self.url(path)}' AND visit = {visit}"
        )
        return [row[0] for row in rows]

    def event(self, path: str, visit: int) -> dict[str, Any]:
        """The one event of a path in a visit."""
        names = "kind, old_sha256, new_sha256, moved_to, evidence, diff, fields, old_lastmod, new_lastmod"
        (row,) = self.site.query(
            f"SELECT {names} FROM {{page_diffs}} WHERE url = '{self.url(path)}' AND visit = {visit}"
        )
        return dict(zip(names.split(", "), row, strict=True))
