"""An origin that serves an editing history as of a moment that the test moves, in any manner the test scripts."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape

from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import HeaderLines, Reply, Request
from incremental_crawl.origin.representation import Representation, answer
from tests.origins import document_html
from tests.origins.histories import Version, current

Validators: TypeAlias = Literal["both", "etag", "date", "none"]
Index: TypeAlias = Literal["plain", "links"]

BEFORE_THE_HISTORY = timedelta(days=30)
_HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a path does instead of, or before, its ordinary answer.

    `status` None: the ordinary answer, after `delay_s` seconds. `times` requests are answered so (None: all).
    """

    status: int | None = None
    location: str | None = None
    body: bytes | None = None
    headers: HeaderLines = ()
    delay_s: float = 0.0
    drop: bool = False
    times: int | None = None


BLOCK_PAGE = Behaviour(
    status=200,
    headers=(("Content-Type", _HTML), ("Cache-Control", "no-store")),
    body=b"<!doctype html><title>Just a moment...</title><h1>Checking your browser</h1>"
    b"<p>Please complete the CAPTCHA to prove that you are human.</p><form class=captcha></form>",
)


class DocumentsOrigin(HttpServer):
    """Serves the versions valid at `moment` on 127.0.0.1, from `start` to `stop` or inside a `with` block.

    Pages are at `/pages/<page>`; besides there are `/` (a fixed text, with links to all pages where `index` is
    "links"), `/sitemap.xml` (with lastmod where `lastmod`) and `/robots.txt`. All attributes below may be changed while
    it runs: `moment` (aware; at first the earliest of the history; also the Date line), `validators`, `noise`,
    `lastmod`, `index`, `compress`. `log` holds every request that was answered.
    """

    def __init__(
        self,
        versions: Iterable[Version],
        validators: Validators = "both",
        noise: bool = True,
        lastmod: bool = True,
        index: Index = "plain",
        compress: bool = True,
        seed: int = 0,
        port: int = 0,
    ) -> None:
        super().__init__(self._respond_as_scripted, port, clock=lambda: self.moment)
        self._versions = tuple(versions)
        self._start = min(version.valid_from for version in self._versions)
        self._chance = random.Random(seed)
        self._scripts: dict[str, list[Behaviour]] = {}
        self._held: tuple[datetime, Mapping[str, Version]] | None = None
        self.moment = self._start
        self.validators: Validators = validators
        self.noise = noise
        self.lastmod = lastmod
        self.index: Index = index
        self.compress = compress

    def url(self, page: str) -> str:
        """The absolute address of a page."""
        return self.base_url + path_of(page)

    def script(self, path: str, *behaviours: Behaviour) -> None:
        """From now on the path shows these one after the other, then its ordinary answer; none: ordinary at once."""
        self._scripts[path] = list(behaviours)

    @property
    def pages(self) -> Mapping[str, Version]:
        """The pages that exist at the moment."""
        moment, held = self.moment, self._held
        if held is None or held[0] != moment:
            held = self._held = (moment, current(self._versions, moment))
        return held[1]

    def last_modified(self, version: Version) -> datetime:
        """When a version came to be; what the history opens with is a month older than the history."""
        return version.valid_from - (BEFORE_THE_HISTORY if version.valid_from == self._start else timedelta())

    def _respond_as_scripted(self, request: Request) -> Reply:
        behaviour = self._next_behaviour(request.path)
        if behaviour.status is None:
            ordinary = self._respond_ordinarily(request)
            return replace(ordinary, delay_s=behaviour.delay_s, drop=behaviour.drop)
        location = () if behaviour.location is None else (("Location", behaviour.location),)
        plain: HeaderLines = () if behaviour.headers else (("Content-Type", _HTML),)
        body = f"<h1>{behaviour.status}</h1>".encode() if behaviour.body is None else behaviour.body
        lines = (*plain, *location, *behaviour.headers)
        return Reply(behaviour.status, lines, body, behaviour.delay_s, behaviour.drop)

    def _next_behaviour(self, path: str) -> Behaviour:
        script = self._scripts.get(path)
        if not script:
            return Behaviour()
        behaviour = script[0]
        if behaviour.times is not None:
            left = behaviour.times - 1
            script[:1] = [replace(behaviour, times=left)] if left > 0 else []
        return behaviour

    def _respond_ordinarily(self, request: Request) -> Reply:
        if request.method not in {"GET", "HEAD"}:
            return Reply(405, (("Allow", "GET, HEAD"),))
        held = self._representation(request.path)
        if held is None:
            return Reply(404, (("Content-Type", _HTML),), self._wrapped("Not found", "<h1>Not found</h1>"))
        return answer(request, held)

    def _representation(self, path: str) -> Representation | None:
        if path == "/":
            return self._with_validators(self._contents(), "Contents", self._start - BEFORE_THE_HISTORY)
        if path == "/robots.txt":
            return Representation(f"User-agent: *\nSitemap: {self.base_url}/sitemap.xml\n".encode(), "text/plain")
        if path == "/sitemap.xml":
            return Representation(self._sitemap(), "application/xml", compressible=self.compress)
        version = self.pages.get(path.removeprefix("/pages/")) if path.startswith("/pages/") else None
        if version is None:
            return None
        article = _article(version.page, version.text)
        return self._with_validators(article, version.page, self.last_modified(version))

    def _with_validators(self, article: str, title: str, last_modified: datetime) -> Representation:
        tagged, dated = self.validators in {"both", "etag"}, self.validators in {"both", "date"}
        return Representation(
            self._wrapped(title, article),
            _HTML,
            entity_tag(article, last_modified) if tagged else None,
            last_modified if dated else None,
            compressible=self.compress,
        )

    def _wrapped(self, title: str, article: str) -> bytes:
        around = document_html.draw(self._chance, tuple(self.pages)) if self.noise else document_html.QUIET
        return document_html.wrap(title, article, around)

    def _contents(self) -> str:
        links = "".join(f'<li><a href="{path_of(page)}">{page}</a></li>' for page in sorted(self.pages))
        return "<h1>Contents</h1><p>All documents, kept with care.</p>" + (
            f"<ul>{links}</ul>" if self.index == "links" else ""
        )

    def _sitemap(self) -> bytes:
        urls = "".join(self._sitemap_entry(version) for _, version in sorted(self.pages.items()))
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
        ).encode()

    def _sitemap_entry(self, version: Version) -> str:
        lastmod = f"<lastmod>{self.last_modified(version).isoformat()}</lastmod>" if self.lastmod else ""
        return f"<url><loc>{escape(self.url(version.page))}</loc>{lastmod}</url>\n"


def path_of(page: str) -> str:
    """The path at which a page is served."""
    return f"/pages/{page}"


def entity_tag(article: str, last_modified: datetime) -> str:
    """A strong tag that changes with every version, as a tag made from size and time would."""
    digest = hashlib.sha256(f"{last_modified.isoformat()} {article}".encode()).hexdigest()
    return f'"{digest[:20]}"'


@lru_cache(maxsize=4096)
def _article(page: str, text: str) -> str:
    return document_html.article(page, text)
