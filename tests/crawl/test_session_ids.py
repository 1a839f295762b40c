"""Session ids and tracking parameters on a site whose every visit shows new ones: one page stays one page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import HTML, PagesOrigin, Scene, html, page

LINKS = {"sitemaps": "none", "follow_links": True}
PAGES = 20


class SessionOrigin(PagesOrigin):
    """Links to its pages with another session id in every answer; any spelling of a page's address answers."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = {}
        self.answers = 0
        self.marks: tuple[str, ...] = (
            ";jsessionid=E460A9{}.node_2?x=1",
            "?PHPSESSID=a{}",
            "?utm_source=a{}&x=1",
            "?x=1&fbclid=f{}",
        )
        self.canonical: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def _answered(self, request: Request) -> Reply:
        path = request.path.partition(";")[0]
        if path in ("/robots.txt", "/sitemap.xml"):
            return super()._answered(request)
        self.answers += 1
        mark = self.marks[self.answers % len(self.marks)].format(self.answers)
        links = "".join(f'<a href="/p{number}{mark}">to {number}</a>' for number in range(PAGES))
        return Reply(200, (HTML,), html(self.texts.get(path, f"page {path}"), links if path == "/" else ""))


@pytest.fixture
def origin() -> Iterator[SessionOrigin]:
    with SessionOrigin() as server:
        yield server


@pytest.fixture
def plain() -> Iterator[PagesOrigin]:
    with PagesOrigin() as server:
        yield server


def scene(folder: Path, origin: PagesOrigin, **settings: Any) -> Scene:
    return Scene(folder, origin, **{**LINKS, **settings})


def test_new_session_ids_in_every_visit_add_no_page(tmp_path: Path, origin: SessionOrigin) -> None:
    origin.marks = origin.marks[:1]
    crawl = scene(tmp_path, origin)
    expected = {"/"} | {f"/p{number}?x=1" for number in range(PAGES)}
    for _ in range(3):
        crawl.visit()
        assert set(crawl.rows()) == expected
    assert crawl.events(2) == crawl.events(3) == []


def test_all_marks_at_once_leave_the_pages_themselves(tmp_path: Path, origin: SessionOrigin) -> None:
    crawl = scene(tmp_path, origin)
    for _ in range(4):
        crawl.visit()
    pages = [f"/p{number}" for number in range(PAGES)]
    assert set(crawl.rows()) <= {"/", *pages, *(f"{path}?x=1" for path in pages)}


def test_a_parameter_that_nobody_knows_makes_pages_up_to_the_limit_of_a_visit(
    tmp_path: Path, origin: SessionOrigin
) -> None:
    origin.marks = ("?visitor=v{}",)
    crawl = scene(tmp_path, origin, scope={"max_new_per_visit": 5, "skip_traps": False})
    for visit in (1, 2):
        crawl.visit()
        assert len(crawl.rows()) == 1 + 5 * visit
    assert "links: max_new_per_visit" in crawl.site.reports["body_snapshots"].notes
    crawl.configure(scope={"strip_params": ["visitor"]})
    crawl.visit()
    crawl.visit()
    assert {path for path in crawl.rows() if "?" not in path} == {"/", *(f"/p{number}" for number in range(PAGES))}
    assert len(crawl.rows()) == 1 + 10 + PAGES


def test_the_built_in_list_can_be_switched_off(tmp_path: Path, plain: PagesOrigin) -> None:
    plain.pages = {"/": lambda _: Reply(200, (HTML,), html("start", '<a href="/p?utm_source=a">x</a>'))}
    plain.pages |= {"/p?utm_source=a": page("marked")}
    crawl = scene(tmp_path, plain, scope={"strip_tracking": False})
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/p?utm_source=a"}


def test_known_pages_with_such_parameters_stay_what_they_are_and_get_no_twin(
    tmp_path: Path, plain: PagesOrigin
) -> None:
    """So it is in a state of an older release, which had no list: nothing is gone, and nothing joins beside it."""
    start = html("start", '<a href="/p?utm_source=a">x</a><a href="/q?gclid=1">y</a>')
    plain.pages = {"/": lambda _: Reply(200, (HTML,), start), "/p?utm_source=a": page("held"), "/q": page("q")}
    crawl = scene(tmp_path, plain, scope={"strip_tracking": False})
    plain.pages["/q?gclid=1"] = page("q")
    crawl.visit()
    with crawl.site.writing() as state:
        state.run("DELETE FROM known_urls WHERE url = ?", [crawl.url("/q?gclid=1")])
    crawl.configure(scope={})
    crawl.visit()
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/p?utm_source=a", "/q"}
    assert crawl.row("/p?utm_source=a")["gone_since"] is None
    assert [kind for kind, _ in crawl.events() if kind != "new"] == []


def test_a_start_url_is_asked_as_it_was_written(tmp_path: Path, plain: PagesOrigin) -> None:
    plain.pages = {"/?utm_source=mail": page("start")}
    crawl = scene(tmp_path, plain)
    crawl.configure(start_urls=[crawl.url("/?utm_source=mail")])
    crawl.visit()
    assert set(crawl.rows()) == {"/?utm_source=mail"}


def test_canonical_links_are_hints_that_replace_no_key(tmp_path: Path, plain: PagesOrigin) -> None:
    """A page that loses its canonical link and gets a text of its own has changed; a home page as canonical is none."""

    def canonical(text: str, *targets: str) -> Any:
        head = "".join(f'<link rel="canonical" href="{target}">' for target in targets)
        body = f"<!doctype html><head>{head}</head><main><p>{text}</p></main>".encode()
        return lambda _: Reply(200, (HTML,), body)

    plain.pages = {
        "/": lambda _: Reply(200, (HTML,), html("start", '<a href="/v1">1</a><a href="/w">2</a><a href="/h">3</a>')),
        "/v": page("v"),
        "/v1": canonical("v", "/v"),
        "/w": canonical("w", "/v", "/x"),
        "/h": canonical("h", "/"),
    }
    rule = {
        "name": "entry",
        "match": "/v1",
        "fields": {"text": "p", "canonical": {"css": "link[rel=canonical]", "attr": "href", "type": "url"}},
    }
    crawl = scene(tmp_path, plain, extract=[rule])
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/v1", "/w", "/h"}
    crawl.visit()
    assert crawl.events(2) == []
    plain.pages["/v1"] = canonical("its own text")
    crawl.visit()
    assert crawl.events(3) == [("changed", "/v1")]
    fields = {field["name"]: (field["kind"], field["old"]) for field in crawl.event("/v1", 3)["fields"]}
    assert fields["canonical"] == ("removed", crawl.url("/v"))
    assert crawl.site.query("SELECT count(*) FROM {tombstones}") == [(0,)]


def test_listed_session_ids_add_no_page_and_known_ones_stay_listed(tmp_path: Path, plain: PagesOrigin) -> None:
    """A sitemap with another `;jsessionid=` at every reading, and one of its entries is known under such a name."""
    plain.listed = {"/old?utm_source=a": None, "/p;jsessionid=A1.node_2?x=1": None}
    plain.pages |= {"/old?utm_source=a": page("old", '"old"'), "/p;jsessionid=A1.node_2?x=1": page("p")}
    crawl = Scene(tmp_path, plain, scope={"strip_tracking": False})
    crawl.visit()
    assert len(crawl.rows()) == 3
    with crawl.site.writing() as state:
        state.run("DELETE FROM known_urls WHERE contains(url, 'jsessionid')")
    plain.pages |= {"/p?x=1": page("p", '"p"')}
    for session in ("B2.node_1", "C3"):
        plain.listed = {"/old?utm_source=a": None, f"/p;jsessionid={session}?x=1": None}
        crawl.configure(scope={})
        crawl.visit()
        assert set(crawl.rows()) == {"/", "/old?utm_source=a", "/p?x=1"}
        assert all(crawl.known(path, "listed") for path in ("/old?utm_source=a", "/p?x=1"))


def test_a_redirect_to_an_address_with_a_session_id_is_followed_as_it_stands(
    tmp_path: Path, plain: PagesOrigin
) -> None:
    """Without the id it would lead back to itself: the gate would be called a loop."""
    sessions = 0

    def gate(_: Request) -> Reply:
        nonlocal sessions
        sessions += 1
        plain.pages[f"/p;jsessionid={sessions}"] = page("behind the gate")
        return Reply(302, (("Location", f"/p;jsessionid={sessions}"),))

    plain.pages = {"/": page("start"), "/p": gate}
    plain.listed = {"/p": None}
    crawl = Scene(tmp_path, plain)
    crawl.visit()
    crawl.visit()
    assert set(crawl.rows()) == {"/", "/p"}
    assert crawl.texts()["/p"] == "behind the gate"
    assert crawl.events(2) == []
