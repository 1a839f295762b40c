"""Pages found by links: which ones, how deep, and also from pages that answer 304."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.storage.visits import VisitOptions
from tests.crawl.pages_origin import DAY, HTML, OLD_DATE, PagesOrigin, Scene, html, page, sending, status

LINKS = {"sitemaps": "none", "follow_links": True}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as server:
        yield server


def linking(*targets: str, text: str = "links", head: str = "", tag: str = "") -> Any:
    """A page that links to `targets` and answers 304 where its tag comes back."""
    body = f"<!doctype html><head>{head}</head><main><p>{text}</p>" + "".join(
        target if target.startswith("<") else f'<a href="{target}">to {target}</a>' for target in targets
    )
    return sending(body.encode(), tag or f'"{text}"', OLD_DATE)


def scene(folder: Path, origin: PagesOrigin, **settings: Any) -> Scene:
    return Scene(folder, origin, **{**LINKS, **settings})


def test_one_visit_finds_all_levels_within_the_depth_and_the_scope(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages = {
        "/": linking("/1", "http://other.example/", "/secret/1", "/doc.pdf"),
        "/1": linking("2/", "/", "#top", text="one"),
        "/2/": linking("3", "?page=2", text="two", head='<base href="/deep/">'),
        "/deep/3": linking("/4", text="three"),
        "/deep/?page=2": linking("/4", text="page two"),
        "/4": page("too deep"),
        "/doc.pdf": sending(b"%PDF-1.7 \x00\x01", None, None, ("Content-Type", "application/pdf")),
        "/secret/1": page("secret"),
    }
    crawl = scene(tmp_path, origin, scope={"max_depth": 3, "exclude": ["/secret/**"]})
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/1", "/2/", "/deep/3", "/deep/?page=2"}
    assert crawl.known("/deep/3", "depth") == 3
    assert crawl.known("/deep/3", "source") == f"link:{crawl.url('/2/')}"
    assert crawl.known("/4", "url") is None
    assert not {"/4", "/secret/1"} & crawl.asked_paths()
    assert len(crawl.asked("/1")) == 1


def test_auto_follows_links_where_nothing_is_listed(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/": linking("/1"), "/1": page("one")}
    crawl = scene(tmp_path, origin, follow_links="auto")
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/1"}


def test_links_that_are_wanted_later_are_read_from_kept_bodies_without_a_request(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    origin.pages = {"/": linking("/1", text="start"), "/1": linking("/2", text="one"), "/2": page("two", '"two"')}
    crawl = scene(tmp_path, origin, follow_links=False)
    crawl.visit()
    crawl.configure(follow_links=True)
    crawl.visit()
    assert [entry.status for entry in crawl.asked("/")] == [304]
    assert set(crawl.rows()) == {"/", "/1", "/2"}
    crawl.visit()
    assert {entry.status for entry in crawl.asked()} == {304}


def test_links_of_a_page_whose_body_is_gone_are_asked_for_once(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages = {"/": linking("/1", text="start"), "/1": page("one", '"one"')}
    crawl = scene(tmp_path, origin, follow_links=False)
    crawl.visit()
    with crawl.site.writing() as state:
        state.set_meta("first_kept_day", "2026-12-01")
    crawl.configure(follow_links=True)
    crawl.visit()
    assert [entry.status for entry in crawl.asked("/")] == [200]
    assert set(crawl.rows()) == {"/", "/1"}
    crawl.visit()
    assert [entry.status for entry in crawl.asked("/")] == [304]


def test_a_page_sent_again_with_the_same_bytes_is_read_for_links_all_the_same(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    body = html("start", '<a href="/1">one</a>')
    origin.pages = {"/": lambda _: Reply(200, (HTML,), body), "/1": page("one")}
    crawl = scene(tmp_path, origin, follow_links=False)
    crawl.visit()
    with crawl.site.writing() as state:
        state.set_meta("first_kept_day", "2026-12-01")
    crawl.configure(follow_links=True)
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/1"}


def test_a_wider_scope_and_a_greater_depth_count_for_pages_that_answer_304(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages = {
        "/": linking("/1", "/wide/1", text="start"),
        "/1": linking("/2", text="one"),
        "/2": page("two"),
        "/wide/1": page("wide"),
    }
    crawl = scene(tmp_path, origin, scope={"max_depth": 1, "exclude": ["/wide/**"]})
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/1"}
    crawl.configure(scope={"max_depth": 2})
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/1", "/2", "/wide/1"}


def test_a_visit_of_a_few_pages_by_hand_follows_nothing_further(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages = {"/": linking("/1"), "/1": linking("/2", text="one"), "/2": page("two")}
    crawl = scene(tmp_path, origin)
    crawl.visit(options=VisitOptions(only_urls=(crawl.url("/"),)))
    assert crawl.asked_paths() == {"/"}
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/1", "/2"}


def test_nofollow_is_heeded_as_configured(tmp_path: Path, origin: PagesOrigin) -> None:
    plain = {"/a": page("a"), "/b": page("b"), "/c": page("c"), "/d": page("d")}
    origin.pages = plain | {
        "/": linking("/meta", "/header", "/rel", text="start"),
        "/meta": linking("/a", text="meta", head='<meta name="robots" content="nofollow">'),
        "/header": sending(html("header", '<a href="/b">b</a>'), None, None, ("X-Robots-Tag", "nofollow")),
        "/rel": linking('<a rel="nofollow" href="/c">c</a>', "/d", text="rel"),
    }
    crawl = scene(tmp_path, origin)
    crawl.visit()
    assert not {"/a", "/b", "/c"} & crawl.asked_paths()
    assert crawl.asked("/d")
    crawl.configure(scope={"meta_robots": "ignore"})
    crawl.visit()
    assert set(crawl.rows()) == {*origin.pages}


def test_noindex_gives_no_record_only_where_all_is_heeded(tmp_path: Path, origin: PagesOrigin) -> None:
    noindex = '<meta name="robots" content="noindex">'
    origin.pages = {
        "/": linking("/meta", "/header", "/held", text="start"),
        "/meta": linking("/behind", text="meta", head=noindex),
        "/header": sending(html("header"), None, None, ("X-Robots-Tag", "otherbot: none, incremental-crawl: noindex")),
        "/behind": page("behind"),
        "/held": page("as it was", '"1"'),
    }
    crawl = scene(tmp_path, origin, scope={"meta_robots": "all"})
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/behind", "/held"}
    assert crawl.observed("/meta", 1, "outcome || ': ' || error") == ["refused: the page says noindex"]
    origin.pages["/held"] = linking(text="another", head=noindex, tag='"2"')
    crawl.visit()
    assert crawl.observed("/held", 2) == ["refused"]
    assert crawl.texts()["/held"] == "as it was"
    assert (crawl.row("/held")["gone_since"], crawl.row("/held")["failures"]) == (None, 0)
    assert crawl.events(2) == []
    crawl.configure(scope={})
    crawl.visit()
    assert crawl.events(3) == [("changed", "/held"), ("new", "/header"), ("new", "/meta")]


def test_a_page_found_by_a_link_stands_back_for_its_canonical_one(tmp_path: Path, origin: PagesOrigin) -> None:
    def canonical(target: str) -> str:
        return f'<link rel="canonical" href="{target}">'

    origin.pages = {
        "/": linking("/v1", "/v2?sort=up", "/h", "/w", "/own", "/out", text="start"),
        "/v1": linking(text="v", head=canonical("/v")),
        "/v2?sort=up": linking("/more", text="v2", head=canonical("/v2#x")),
        "/v": linking(text="v", head=canonical("/v")),
        "/v2": page("v2"),
        "/h": linking(text="h", head=canonical("/")),
        "/w": linking(text="w", head=canonical("/v") + canonical("/own")),
        "/own": linking(text="own", head=canonical("/own?utm_source=x")),
        "/out": linking(text="out", head=canonical("http://other.example/out")),
        "/more": page("more"),
    }
    crawl = scene(tmp_path, origin, scope={"canonical": "prefer"})
    crawl.visit()
    assert set(crawl.rows()) == {*origin.pages} - {"/v1", "/v2?sort=up"}
    (said,) = crawl.observed("/v1", 1, "error")
    assert said == f"found by a link, and its canonical page is {crawl.url('/v')}"
    origin.pages["/v1"] = linking(text="a page of its own", tag='"own text"')
    crawl.visit(DAY)
    assert crawl.events(2) == [("new", "/v1")]


def test_a_listed_page_keeps_its_record_whatever_it_calls_canonical(tmp_path: Path, origin: PagesOrigin) -> None:
    """A canonical link is a hint (RFC 6596): the key stays, and losing the link with another text is a change."""
    origin.pages = {
        "/": linking("/v1", "/v", text="start"),
        "/v1": linking(text="v", head='<link rel="canonical" href="/v">', tag='"1"'),
        "/v": page("v"),
    }
    crawl = scene(tmp_path, origin)
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/v1", "/v"}
    crawl.configure(scope={"canonical": "prefer"})
    origin.pages["/v1"] = linking(text="its own", tag='"2"', head='<link rel="canonical" href="/v">')
    crawl.visit()
    assert crawl.events(2) == [("changed", "/v1")]


def test_links_behind_a_blocked_or_failing_page_are_not_read(tmp_path: Path, origin: PagesOrigin) -> None:
    def forbidden(_: Request) -> Reply:
        return Reply(403, (HTML,), html("no", '<a href="/from-403">x</a>'))

    origin.pages = {"/": linking("/403", "/500"), "/403": forbidden, "/500": status(500, body=html("x", "<a href=/y>"))}
    crawl = scene(tmp_path, origin)
    crawl.visit()
    assert crawl.known("/from-403", "url") is None
    assert crawl.known("/y", "url") is None
