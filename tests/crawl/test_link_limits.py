"""Traps and limits: what links would add without end is left out, counted and told; nothing else is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.storage import growth
from incremental_crawl.storage.growth import LeftOut
from tests.crawl.pages_origin import HTML, PagesOrigin, Scene, html, page

LINKS = {"sitemaps": "none", "follow_links": True}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as server:
        yield server


def links(*targets: str) -> str:
    return "".join(f'<a href="{target}">x</a>' for target in targets)


def scene(folder: Path, origin: PagesOrigin, **settings: Any) -> Scene:
    return Scene(folder, origin, **{**LINKS, **settings})


def left_out(crawl: Scene, visit: int) -> list[LeftOut]:
    with crawl.site.writing() as state:
        return growth.left_out(state, visit)


class Everywhere(PagesOrigin):
    """Answers every address, with links that go on from there."""

    def __init__(self, follow: Any) -> None:
        super().__init__()
        self.pages = {}
        self.follow = follow

    def _answered(self, request: Request) -> Reply:
        if request.path in ("/robots.txt", "/sitemap.xml"):
            return Reply(404, (HTML,), b"")
        return Reply(200, (HTML,), html(f"page {request.target}", links(*self.follow(request.target))))


def test_a_relative_link_on_every_page_grows_no_path_without_end(tmp_path: Path) -> None:
    with Everywhere(lambda _: ["shop/list/"]) as origin:
        crawl = scene(tmp_path, origin, scope={"max_depth": 50})
        crawl.visit()
        assert len(crawl.rows()) == 3
        (row,) = left_out(crawl, 1)
        assert (row.reason, row.left_count, row.example) == ("repeating_path", 1, crawl.url("/" + "shop/list/" * 3))
        report = crawl.site.reports["body_snapshots"]
        assert report.numbers["links left out"] == 1
        assert "repeat parts of their path" in report.notes["links: repeating_path"]


def test_a_calendar_is_followed_as_far_as_it_may_hold_something(tmp_path: Path) -> None:
    def months(target: str) -> list[str]:
        year, month = map(int, target.strip("/").split("/")) if target != "/" else (2028, 2)
        return [f"/{year + month // 12}/{month % 12 + 1:02}"]

    with Everywhere(months) as origin:
        crawl = scene(tmp_path, origin, scope={"max_depth": 50})
        crawl.visit()
        assert set(crawl.rows()) == {"/", "/2028/03", "/2028/04", "/2028/05"}
        assert [(row.reason, row.left_count) for row in left_out(crawl, 1)] == [("calendar", 1)]
        crawl.configure(scope={"max_depth": 5, "skip_traps": False})
        crawl.visit()
        assert "/2028/06" in crawl.rows()


def test_parameters_in_another_order_are_one_page_in_every_visit(tmp_path: Path, origin: PagesOrigin) -> None:
    crawl = scene(tmp_path, origin)
    origin.pages = {"/l?a=1&b=2": page("list"), "/l?b=2&a=1": page("list")}
    for text, targets in (("one", ["/l?a=1&b=2", "/l?b=2&a=1"]), ("two", ["/l?b=2&a=1"])):
        body = html(text, links(*targets))
        origin.pages["/"] = lambda _, body=body: Reply(200, (HTML,), body)  # type: ignore[misc]
        crawl.visit()
        assert set(crawl.rows()) == {"/", "/l?a=1&b=2"}
        assert [(row.reason, row.left_count) for row in left_out(crawl, 1)] == [("same_parameters", 1)]
    assert [(row.reason, row.left_count) for row in left_out(crawl, 2)] == [("same_parameters", 1)]


def test_a_flood_of_parameters_is_stopped_per_visit_told_and_gone_on_with(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages = {"/": page("start", '"1"'), "/plain": page("plain")}
    targets = [f"/item?id={number}" for number in range(7)]
    body = html("start", links(*targets, "/plain"))
    origin.pages |= {"/": lambda request: _unchanged(request, body)}
    origin.pages |= {target: page(target, f'"{target}"') for target in targets}
    crawl = scene(tmp_path, origin, scope={"max_new_per_visit": 3})
    crawl.visit()
    assert len(crawl.rows()) == 1 + 3 + 1
    assert left_out(crawl, 1) == [LeftOut("links", "max_new_per_visit", 4, crawl.url("/item?id=6"))]
    assert "scope.strip_params" in crawl.site.reports["body_snapshots"].notes["links: max_new_per_visit"]
    crawl.visit()
    assert [entry.status for entry in crawl.asked("/")] == [304]
    assert len(crawl.rows()) == 1 + 6 + 1
    crawl.visit()
    assert set(crawl.rows()) == {*origin.pages}
    assert left_out(crawl, 3) == []


def _unchanged(request: Request, body: bytes) -> Reply:
    tag = ("ETag", '"1"')
    return Reply(304, (tag,)) if request.headers.get("if-none-match") == '"1"' else Reply(200, (HTML, tag), body)


def test_a_parameter_that_never_changes_a_page_adds_none_after_twenty_copies(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    def put_up(visit: int) -> None:
        targets = [f"/p?token={visit}-{number}" for number in range(22)]
        start = html("start", links(*targets, f"/p?token={visit}&page=2"))
        origin.pages |= {target: page("the same page") for target in targets}
        origin.pages |= {"/": lambda _: Reply(200, (HTML,), start), f"/p?token={visit}&page=2": page("page 2")}

    crawl = scene(tmp_path, origin)
    put_up(1)
    crawl.visit()
    assert len(crawl.rows()) == 1 + 22 + 1
    put_up(2)
    crawl.visit()
    assert len(crawl.rows()) == 1 + 22 + 1
    assert [(row.reason, row.left_count) for row in left_out(crawl, 2)] == [("no_effect", 23)]


def test_the_cap_on_pages_leaves_out_links_and_says_how_many(tmp_path: Path, origin: PagesOrigin) -> None:
    targets = [f"/{number}" for number in range(5)]
    body = html("start", links(*targets))
    origin.pages = {"/": lambda request: _unchanged(request, body)} | {target: page(target) for target in targets}
    crawl = scene(tmp_path, origin, scope={"max_pages": 4})
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/0", "/1", "/2"}
    assert left_out(crawl, 1) == [LeftOut("links", "max_pages", 2, crawl.url("/4"))]
    note = crawl.site.reports["body_snapshots"].notes["links: max_pages"]
    assert note.startswith("2 URLs, such as ")
    assert "scope.max_pages (4)" in note
    crawl.configure(scope={"max_pages": 100})
    crawl.visit()
    assert set(crawl.rows()) == {*origin.pages}
