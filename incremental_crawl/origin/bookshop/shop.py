"""The bookshop as a server: every address of the world at the current step, honest about what has not changed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from incremental_crawl.origin.bookshop import feeds, noise, pages, style
from incremental_crawl.origin.bookshop.world import OPENED_AT, BookState, World
from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.origin.representation import Representation, answer
from incremental_crawl.origin.request_log import RequestLog

DEFAULT_PORT = 8765

TEXT_PAGES = {
    "/about": (
        "About us",
        (
            "The shop opened in a former sail loft, and some of the shelves still smell of tar.",
            "We keep about two hundred titles. When one leaves, another one takes its place.",
            "Ask us anything; we have usually read it, and if not, we will say so.",
        ),
    ),
    "/delivery": (
        "Delivery",
        (
            "Orders that reach us before noon leave on the same day, wrapped in brown paper.",
            "Within the county a parcel is free of charge. Elsewhere it costs what the post asks for.",
            "If a book arrives with a bent corner, keep it and we will send another.",
        ),
    ),
}
_BASKET = ("Your basket", ("It is empty, and it will stay that way: this is a demonstration.",))
_HTML = "text/html; charset=utf-8"
_REVALIDATE = (("Cache-Control", "no-cache"),)


class Bookshop(HttpServer):
    """The shop on 127.0.0.1, from `start` to `stop` or inside a `with` block.

    `step` is asked at every request, so whoever owns the step moves the world between two visits. `log_file` gets each
    request as a line of JSON. With a `noise_seed` the noise is the same for the same sequence of requests.
    """

    def __init__(
        self,
        step: Callable[[], int],
        port: int = DEFAULT_PORT,
        log_file: Path | None = None,
        noise_seed: int | None = None,
    ) -> None:
        super().__init__(self._respond_at_step, port, RequestLog(log_file))
        self._step = step
        self._chance = random.Random(noise_seed)

    @property
    def world(self) -> World:
        """The world that is served at the moment."""
        return World.at(self._step())

    def _respond_at_step(self, request: Request) -> Reply:
        if request.method == "POST" and request.path in {"/basket", "/newsletter"}:
            return Reply(303, (("Location", "/basket"),))
        if request.method not in {"GET", "HEAD"}:
            return Reply(405, (("Allow", "GET, HEAD"), ("Content-Type", "text/plain")), b"GET or HEAD, please\n")
        return self._respond_to_read(request, self.world)

    def _respond_to_read(self, request: Request, world: World) -> Reply:
        if request.path == "/basket":
            return self._message(request, world, 200, *_BASKET)
        written = _page(self.base_url, world.step, request.path)
        if written is not None:
            return answer(request, self._loaded(world, *written))
        machine_readable = _machine_readable(self.base_url, world.step, request.path)
        if machine_readable is not None:
            return answer(request, machine_readable)
        return self._not_here(request, world)

    def _loaded(self, world: World, page: str, last_modified: datetime) -> Representation:
        body = noise.fill(page, noise.values(self._chance, world)).encode()
        return Representation(body, _HTML, _entity_tag(page), last_modified, _REVALIDATE)

    def _not_here(self, request: Request, world: World) -> Reply:
        moved = world.renamed.get(request.path)
        if moved is not None:
            return Reply(301, (("Location", self.base_url + moved.path), ("Content-Type", "text/plain")), b"moved\n")
        gone = world.by_path.get(request.path)
        if gone is not None and gone.gone == 410:
            return self._message(request, world, 410, "Withdrawn", ("This book has left the shop for good.",))
        return self._message(request, world, 404, "Not on our shelves", ("We have no page at this address.",))

    def _message(self, request: Request, world: World, status: int, title: str, paragraphs: tuple[str, ...]) -> Reply:
        page = pages.text_page(self.base_url, request.path, title, paragraphs)
        body = noise.fill(page, noise.values(self._chance, world)).encode()
        return Reply(status, (("Content-Type", _HTML), ("Cache-Control", "no-store")), body)


@lru_cache(maxsize=2048)
def _page(base_url: str, step: int, path: str) -> tuple[str, datetime] | None:
    """The page with its holes and the moment at which it last changed; None where the path has none."""
    world = World.at(step)
    state = world.by_path.get(path)
    if state is not None:
        return None if state.gone else (pages.book_page(base_url, state), state.last_modified)
    if path in pages.CATEGORY_PATHS:
        return pages.category_page(base_url, world, path), feeds.shelf_moment(world, pages.CATEGORY_PATHS[path])
    if path in TEXT_PAGES:
        return pages.text_page(base_url, path, *TEXT_PAGES[path]), OPENED_AT
    return (pages.home_page(base_url, world), world.at_moment) if path == "/" else None


@lru_cache(maxsize=2048)
def _entity_tag(page: str) -> str:
    # Made from the page before its holes are filled: what differs on every load is no change.
    return f'"{hashlib.sha256(page.encode()).hexdigest()[:20]}"'


@lru_cache(maxsize=512)
def _machine_readable(base_url: str, step: int, path: str) -> Representation | None:
    """Sitemaps, feed, robots.txt, covers and the logo; None for any other path."""
    world = World.at(step)
    if path == "/robots.txt":
        return _text(feeds.robots_txt(base_url), "text/plain; charset=utf-8", OPENED_AT)
    if path == feeds.SITEMAP_INDEX:
        return _text(feeds.sitemap_index(base_url, world), "application/xml", world.at_moment)
    if path == feeds.SITEMAP_OF_PAGES:
        return _text(feeds.sitemap_of_pages(base_url, world, TEXT_PAGES), "application/xml", world.at_moment)
    if path == feeds.SITEMAP_OF_BOOKS:
        return _bytes(feeds.sitemap_of_books(base_url, world), "application/gzip", world.at_moment)
    if path == "/feed.atom":
        return _text(feeds.atom_feed(base_url, world), "application/atom+xml; charset=utf-8", world.at_moment)
    return _drawing(world, path)


def _drawing(world: World, path: str) -> Representation | None:
    if path == "/static/logo.svg":
        return _text(style.LOGO, "image/svg+xml", OPENED_AT)
    state = _book_of_cover(world, path)
    return None if state is None else _text(style.cover(state.facts), "image/svg+xml", OPENED_AT)


def _book_of_cover(world: World, path: str) -> BookState | None:
    name = path.removeprefix("/covers/BK-").removesuffix(".svg")
    return world.books.get(int(name) - 10_000) if name.isdecimal() else None


def _text(text: str, content_type: str, last_modified: datetime) -> Representation:
    body = text.encode()
    return Representation(body, content_type, _tag_of(body), last_modified, _REVALIDATE)


def _bytes(body: bytes, content_type: str, last_modified: datetime) -> Representation:
    return Representation(body, content_type, _tag_of(body), last_modified, _REVALIDATE, compressible=False)


def _tag_of(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:20]}"'
