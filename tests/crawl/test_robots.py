"""robots.txt in a crawl: each hop asks its own host's rules, a bad day is bridged, nothing forbidden is gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply
from tests.crawl.pages_origin import OLD_DATE, Answer, PagesOrigin, Scene, dropped, page, redirect, status

HOUR = timedelta(hours=1)


def robots(rules: str) -> Answer:
    return lambda _: Reply(200, (("Content-Type", "text/plain"),), f"User-agent: *\n{rules}\n".encode())


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin({"/a": page("A", '"a"', OLD_DATE), "/private/x": page("X", '"x"', OLD_DATE)}) as running:
        yield running


def test_a_held_page_that_becomes_disallowed_is_refused_and_never_gone(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/robots.txt"] = robots("Disallow: /nothing")
    scene = Scene(tmp_path, origin)
    scene.visit()
    held = scene.row("/private/x")
    origin.pages["/robots.txt"] = robots("Disallow: /private")
    origin.pages["/private/x"] = status(404)
    for visit in (2, 3, 4):
        scene.visit()
        assert scene.asked("/private/x") == []
        assert scene.observed("/private/x", visit) == ["refused"]
    row = scene.row("/private/x")
    kept = ("etag", "last_modified", "content_sha256", "last_checked", "last_changed", "status", "gone_since")
    assert {name: row[name] for name in kept} == {name: held[name] for name in kept}
    assert scene.texts()["/private/x"].endswith("X")
    assert [scene.events(visit) for visit in (2, 3, 4)] == [[], [], []]


@pytest.mark.parametrize("code", [301, 302])
def test_a_redirect_to_what_is_disallowed_is_not_followed(tmp_path: Path, origin: PagesOrigin, code: int) -> None:
    origin.pages |= {
        "/robots.txt": robots("Disallow: /private"),
        "/led": redirect(code, "/private/secret"),
        "/private/secret": page("Secret"),
    }
    origin.listed = {"/a": None, "/led": None}
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.asked("/private/secret") == []
    assert scene.texts().keys() == {"/", "/a"}
    ((outcome, error),) = scene.site.query(
        f"SELECT outcome, error FROM {{observations}} WHERE url = '{scene.url('/private/secret')}'"
    )
    assert outcome == "refused"
    assert error.startswith("blocked by robots after redirect: ")


def test_a_hop_to_another_host_asks_that_hosts_rules(tmp_path: Path, origin: PagesOrigin) -> None:
    with PagesOrigin({"/robots.txt": robots("Disallow: /y"), "/y/secret": page("Secret"), "/x": page("X")}) as other:
        origin.pages |= {
            "/robots.txt": robots("Disallow: /x"),
            "/p": redirect(302, other.base_url + "/y/secret"),
            "/q": redirect(302, other.base_url + "/x"),
        }
        origin.listed = {"/p": None, "/q": None}
        scene = Scene(tmp_path, origin, sitemaps="auto")
        scene.configure(start_urls=[origin.base_url + "/", other.base_url + "/"])
        scene.visit()
        assert "/y/secret" not in {entry.path for entry in other.log}
        assert "/x" in {entry.path for entry in other.log}
        assert scene.texts()["/q"].endswith("X")
        assert "/p" not in scene.texts()


@pytest.mark.parametrize("broken", [status(500), dropped])
def test_the_last_good_rules_bridge_a_day_and_no_more(tmp_path: Path, origin: PagesOrigin, broken: Answer) -> None:
    origin.pages["/robots.txt"] = robots("Disallow: /private")
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/robots.txt"] = broken
    scene.visit(23 * HOUR)
    assert {entry.path for entry in scene.asked()} == {"/", "/a"}, "asked by the rules that were read last"
    scene.visit(2 * HOUR)
    assert scene.asked() == [], "after a day nobody knows what is allowed"
    row = scene.row("/a")
    assert (row["failures"], row["gone_since"], row["etag"]) == (1, None, '"a"')
    origin.pages["/robots.txt"] = robots("Disallow: /private")
    scene.visit(HOUR)
    assert {entry.path for entry in scene.asked()} == {"/", "/a"}
    assert [scene.events(visit) for visit in (2, 3, 4)] == [[], [], []]


def test_a_revalidated_file_counts_as_read(tmp_path: Path, origin: PagesOrigin) -> None:
    rules = b"User-agent: *\nDisallow: /private\n"

    def revalidated(request: object) -> Reply:
        return Reply(304 if getattr(request, "conditional", False) else 200, (("ETag", '"r"'),), rules)

    origin.pages["/robots.txt"] = revalidated
    scene = Scene(tmp_path, origin)
    scene.visit()
    scene.visit(20 * HOUR)
    origin.pages["/robots.txt"] = status(503)
    scene.visit(20 * HOUR)
    assert {entry.path for entry in scene.asked()} == {"/", "/a"}


def test_a_site_that_never_had_readable_rules_is_not_asked(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/robots.txt"] = status(500)
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.asked() == []
    origin.pages["/robots.txt"] = status(403)
    scene.visit()
    assert {entry.path for entry in scene.asked()} == {"/", "/a", "/private/x"}, "other 4xx allow everything"
