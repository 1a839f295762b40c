"""Header lines of the user's own: bound to their origins, part of what a validator belongs to, never written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import OLD_DATE, PagesOrigin, Scene, html, page, redirect

SECRET = "tok-3d1f9a"
FREE = {"requests_per_second": None}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


def careless(text_of: dict[str, str], header: str) -> Any:
    """An origin that answers 304 to any tag it ever sent, whatever the language or account that asks now."""

    def answered(request: Request) -> Reply:
        if request.headers.get("if-none-match") or request.headers.get("if-modified-since"):
            return Reply(304, (("ETag", '"any"'),))
        text = text_of.get(request.headers.get(header, ""), "Standard")
        lines = (("Content-Type", "text/html"), ("ETag", '"any"'), ("Last-Modified", OLD_DATE))
        return Reply(200, lines, html(text))

    return answered


CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]] = [
    (
        "accept-language",
        {"request_headers": {"Accept-Language": "de"}},
        {"request_headers": {"Accept-Language": "en"}},
        {"de": "Deutsch", "en": "English"},
    ),
    ("accept-language", {}, {"request_headers": {"Accept-Language": "en"}}, {"": "Deutsch", "en": "English"}),
    (
        "authorization",
        {"request_headers": {"Authorization": "Bearer one"}},
        {"request_headers": {"Authorization": "Bearer two"}},
        {"Bearer one": "Deutsch", "Bearer two": "English"},
    ),
    (
        "cookie",
        {"request_headers": {"Cookie": "lang=de"}},
        {"request_headers": {"Cookie": "lang=en"}},
        {"lang=de": "Deutsch", "lang=en": "English"},
    ),
    (
        "user-agent",
        {"politeness": FREE | {"user_agent": "one/1"}},
        {"politeness": FREE | {"user_agent": "two/1"}},
        {"one/1": "Deutsch", "two/1": "English"},
    ),
]


@pytest.mark.parametrize(("header", "before", "after", "texts"), CHANGES)
def test_a_304_of_another_language_account_or_agent_never_stands(
    tmp_path: Path,
    origin: PagesOrigin,
    header: str,
    before: dict[str, Any],
    after: dict[str, Any],
    texts: dict[str, str],
) -> None:
    origin.pages |= {"/page": careless(texts, header), "/hop": careless(texts, header), "/led": redirect(302, "/hop")}
    origin.listed = {"/page": None, "/led": None}
    scene = Scene(tmp_path, origin, **before)
    scene.visit()
    scene.visit()
    assert {entry.status for entry in scene.asked() if entry.path in ("/page", "/hop")} == {304}
    assert scene.texts()["/page"].endswith("Deutsch")

    scene.configure(**after)
    scene.visit()
    assert not any(entry.conditional for entry in scene.asked())
    assert scene.texts()["/page"].endswith("English")
    assert scene.texts()["/led"].endswith("English")
    assert scene.observed("/page", 3) == ["rebaselined"]
    assert scene.events(3) == []

    scene.visit()
    assert {entry.status for entry in scene.asked() if entry.path in ("/page", "/hop")} == {304}
    assert scene.events(4) == []


def test_sitemaps_and_robots_of_another_account_never_stand_either(tmp_path: Path, origin: PagesOrigin) -> None:
    def robots(request: Request) -> Reply:
        if request.headers.get("if-none-match"):
            return Reply(304)
        return Reply(200, (("ETag", '"r"'),), b"User-agent: *\nAllow: /\n")

    listing = origin.sitemap

    def sitemap(request: Request) -> Reply:
        if request.headers.get("if-none-match"):
            return Reply(304)
        return Reply(200, (("Content-Type", "application/xml"), ("ETag", '"s"')), listing())

    origin.pages |= {"/robots.txt": robots, "/sitemap.xml": sitemap, "/a": page("A", '"a"')}
    scene = Scene(tmp_path, origin, request_headers={"Authorization": "one"})
    scene.visit()
    scene.visit()
    sources = [entry for entry in origin.log if entry.path in ("/robots.txt", "/sitemap.xml")]
    assert {entry.status for entry in sources[2:]} == {304}
    scene.configure(request_headers={"Authorization": "two"})
    scene.visit()
    sources = [entry for entry in origin.log if entry.path in ("/robots.txt", "/sitemap.xml")]
    assert [(entry.conditional, entry.status) for entry in sources[4:]] == [(False, 200)] * 2


def test_they_go_to_the_origins_of_the_start_urls_alone(tmp_path: Path, origin: PagesOrigin) -> None:
    with PagesOrigin({"/there": page("There", '"t"')}) as other:
        origin.pages |= {"/a": page("A", '"a"'), "/away": redirect(302, other.base_url + "/there")}
        scene = Scene(tmp_path, origin, request_headers={"X-Token": SECRET, "Accept-Language": "de"})
        scene.configure(allow_private_hosts=["127.0.0.0/8"])
        scene.visit()
        assert {entry.headers.get("x-token") for entry in origin.log} == {SECRET}
        assert {entry.headers.get("accept-language") for entry in origin.log} == {"de"}
        assert not [entry for entry in other.log if "x-token" in entry.headers]


def test_secrets_are_not_written_anywhere(
    tmp_path: Path, origin: PagesOrigin, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    origin.pages |= {
        "/a": page("A", '"a"'),
        "/broken": lambda _: Reply(200, drop=True),
        "/loop": redirect(302, "/loop"),
    }
    scene = Scene(tmp_path, origin, request_headers={"Authorization": "Bearer ${SHOP_TOKEN}"})
    scene.visit()
    scene.visit()
    assert {entry.headers.get("authorization") for entry in origin.log} == {f"Bearer {SECRET}"}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]
    assert SECRET not in caplog.text + repr(scene.site.reports) + repr(scene.site.run())


def test_a_cookie_of_the_users_goes_with_those_of_the_fetch(tmp_path: Path, origin: PagesOrigin) -> None:
    def gated(request: Request) -> Reply:
        if "seen=1" in request.headers.get("cookie", ""):
            return page("Inside", '"in"')(request)
        return Reply(302, (("Location", "/gated"), ("Set-Cookie", "seen=1; Path=/")))

    origin.pages["/gated"] = gated
    scene = Scene(tmp_path, origin, request_headers={"cookie": "login=x"})
    scene.visit()
    assert [entry.headers["cookie"] for entry in scene.asked("/gated")] == ["login=x", "login=x; seen=1"]
