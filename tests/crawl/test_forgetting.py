"""What a site names no longer and what never answered is forgotten, counted from when it was last named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import DAY, HTML, PagesOrigin, Scene, html, page


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as server:
        yield server


def test_a_dead_entry_is_forgotten_so_long_after_it_left_the_sitemap(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/held": page("held"), "/gone": page("gone")}
    origin.listed = dict.fromkeys(["/held", "/gone", "/dead"])
    scene = Scene(tmp_path, origin, scope={"forget_after": "5d"}, gate={"confirm_gone_after": "0s", "min_pages": 100})
    scene.visit()
    origin.listed = {"/": None}
    del origin.pages["/gone"]
    scene.visit(timedelta(days=10))
    assert scene.known("/dead", "listed") is False
    scene.visit(timedelta(days=6))
    assert scene.known("/dead", "url") is None
    assert {"/held", "/gone"} < scene.rows().keys(), "tombstones and held pages are history"


def test_a_dead_link_is_known_as_long_as_a_page_shows_it(tmp_path: Path, origin: PagesOrigin) -> None:
    moods = {"text": "start", "link": '<a href="/dead">x</a>'}

    def start(_: Request) -> Reply:
        return Reply(200, (HTML,), html(moods["text"], moods["link"]))

    origin.pages = {"/": start}
    scene = Scene(tmp_path, origin, sitemaps="none", follow_links=True, scope={"forget_after": "5d"})
    scene.visit()
    moods["text"] = "edited"
    scene.visit(timedelta(days=10))
    assert scene.known("/dead", "failures") == 2, "it was named again by the page that changed"
    scene.visit(timedelta(days=10))
    assert scene.known("/dead", "url") is not None, "the page that links to it stands unchanged"
    moods |= {"text": "edited again", "link": ""}
    scene.visit(DAY)
    assert scene.known("/dead", "url") is None
    scene.visit(DAY)
    assert not scene.asked("/dead")
