"""An origin whose pages are a mapping that the test edits, listed in a sitemap, with strong tags and no noise."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any

from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.origin.representation import Representation, answer

HTML = "text/html; charset=utf-8"
FIRST_DAY = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Shelf(HttpServer):
    """Serves `pages` (target as it is requested -> body); a target without a page answers 404.

    `content_type` is that of every page, `tagged` says whether tags are offered, `down` answers 503 to everything.
    """

    def __init__(self, pages: Mapping[str, str | bytes], tagged: bool = True, content_type: str = HTML) -> None:
        super().__init__(self._respond_from_shelf)
        self.pages: dict[str, str | bytes] = {"/": page("Shelf"), **pages}
        self.tagged = tagged
        self.content_type = content_type
        self.down = False

    def url(self, target: str) -> str:
        """The absolute address of a target."""
        return self.base_url + target

    def body(self, target: str) -> bytes:
        """What a GET of the target carries, without content-coding."""
        content = self.pages[target]
        return content.encode() if isinstance(content, str) else content

    def asked(self, target: str) -> int:
        """How often the target was requested."""
        return sum(entry.path == target for entry in self.log)

    def _respond_from_shelf(self, request: Request) -> Reply:
        if self.down:
            return Reply(503, (("Content-Type", "text/plain"),), b"later")
        if request.target == "/robots.txt":
            return Reply(200, (("Content-Type", "text/plain"),), f"Sitemap: {self.url('/sitemap.xml')}\n".encode())
        if request.target == "/sitemap.xml":
            return Reply(200, (("Content-Type", "application/xml"),), self._sitemap())
        if request.target not in self.pages:
            return Reply(404, (("Content-Type", HTML),), b"<h1>Not found</h1>")
        body = self.body(request.target)
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"' if self.tagged else None
        return answer(request, Representation(body, self.content_type, tag))

    def _sitemap(self) -> bytes:
        urls = "".join(f"<url><loc>{escape(self.url(target))}</loc></url>" for target in self.pages)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()


def page(title: str, body: str = "") -> str:
    """A page with a heading."""
    return f"<!doctype html><title>{title}</title><h1>{title}</h1>{body}"


def product(name: str, price: str, more: str = "") -> str:
    """A product page; the rules of `PRODUCT` read it."""
    return page(name, f'<p class="price">{price}</p><p class="stock">12</p>{more}')


FIELDS: dict[str, Any] = {
    "title": {"css": "h1", "required": True},
    "price": {"css": ".price", "type": "price"},
    "stock": {"css": ".stock", "type": "integer"},
}
PRODUCT: dict[str, Any] = {"name": "product", "match": "/product/*", "fields": FIELDS}
"""The `extract` entry of a product page."""
