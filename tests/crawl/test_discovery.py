"""Robots, sitemaps, feeds and links say where to look. They order the work; they prove nothing."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.pages_origin import (
    DAY,
    OLD_DATE,
    Answer,
    PagesOrigin,
    Scene,
    html,
    page,
    sending,
    status,
    urlset,
)

XML = ("Content-Type", "application/xml")


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


def text_file(text: str) -> Answer:
    return sending(text.encode(), None, None, ("Content-Type", "text/plain"))


def index(*urls: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</sitemapindex>'.encode()


def linking(*paths: str) -> Answer:
    links = "".join(f'<a href="{path}">to {path}</a> ' for path in paths)
    return sending(html("Links", links), f'"{len(paths)}"')


def test_what_robots_txt_disallows_is_never_asked_and_keeps_its_record(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {path: page(f"Text of {path}", '"1"') for path in ("/open", "/closed/a", "/closing")}
    origin.pages["/robots.txt"] = text_file("User-agent: *\nDisallow: /closed/\n")
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.asked_paths() == {"/", "/open", "/closing"}
    origin.pages["/robots.txt"] = text_file("User-agent: *\nDisallow: /clos\n")
    scene.visit()
    assert scene.asked_paths() == {"/", "/open"}
    assert scene.observed("/closing", 2) == ["refused"]
    assert scene.texts().keys() == {"/", "/open", "/closing"}
    assert scene.row("/closing")["failures"] == 1
    assert scene.row("/closing")["last_checked"] == scene.now - DAY
    assert scene.events(2) == []
    origin.pages["/robots.txt"] = text_file("User-agent: incremental-crawl\nAllow: /\n")
    scene.visit()
    assert [entry.status for entry in scene.asked("/closing")] == [304]
    assert "/closed/a" in scene.texts()


def test_robots_txt_that_fails_holds_everything_back_and_unlists_nothing(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n}": page(f"Page {n}", '"1"') for n in range(4)}
    origin.listed = {}
    origin.pages["/maps/own.xml"] = sending(urlset({origin.base_url + f"/{n}": None for n in range(4)}))
    origin.pages["/robots.txt"] = text_file(f"User-agent: *\nDisallow:\nSitemap: {origin.base_url}/maps/own.xml\n")
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert len(scene.texts()) == 5
    origin.pages["/robots.txt"] = status(502)
    scene.visit(later=timedelta(hours=25))  # for a day the last good rules hold
    assert scene.asked() == []
    assert scene.events() == scene.events(1)
    assert scene.site.state("SELECT count(*) FROM known_urls WHERE listed") == [(4,)]
    origin.pages["/robots.txt"] = status(404)
    scene.visit()
    assert {entry.path for entry in scene.asked() if entry.status != 304} == {"/maps/own.xml"}, (
        "where it was found last"
    )
    assert scene.site.state("SELECT count(*) FROM known_urls WHERE listed") == [(4,)]


def test_indexes_gzip_and_feeds_are_read_and_revalidated(tmp_path: Path, origin: PagesOrigin) -> None:
    base = origin.base_url
    rss = f"<rss version='2.0'><channel><title>x</title><item><link>{base}/from-rss</link></item></channel></rss>"
    atom = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{base}/from-atom"/></entry></feed>'
    inner = urlset({base + "/from-gzip": "2026-01-01", base + "/excluded/x": None, "http://127.0.0.9/elsewhere": None})
    origin.pages |= {
        "/robots.txt": text_file(f"Sitemap: {base}/index.xml\n"),
        "/index.xml": sending(index(f"{base}/deeper.xml", f"{base}/list.txt"), '"i"', None, XML),
        "/deeper.xml": sending(index(f"{base}/inner.xml.gz", f"{base}/index.xml"), '"d"', None, XML),
        "/inner.xml.gz": sending(gzip.compress(inner), '"g"', None, ("Content-Type", "application/gzip")),
        "/list.txt": sending(f"{base}/from-text\n".encode(), '"t"', None, ("Content-Type", "text/plain")),
        "/rss": sending(rss.encode(), '"r"', None, ("Content-Type", "application/rss+xml")),
        "/atom": sending(atom.encode(), '"a"', None, ("Content-Type", "application/atom+xml")),
    }
    found = {"/from-gzip", "/from-text", "/from-rss", "/from-atom"}
    origin.pages |= {path: page(path, '"1"') for path in found}
    scene = Scene(tmp_path, origin, feeds=[f"{base}/rss", f"{base}/atom"], scope={"exclude": ["/excluded/**"]})
    numbers = scene.visit()
    assert scene.texts().keys() == {"/", *found}
    assert numbers["new"] == 5
    assert scene.row("/from-gzip")["lastmod"] == "2026-01-01"
    scene.visit()
    sources = {"/index.xml", "/deeper.xml", "/inner.xml.gz", "/list.txt", "/rss", "/atom"}
    assert sources < scene.asked_paths()
    assert {entry.status for entry in scene.asked()} == {304}
    assert scene.site.reports["sitemap_urls"].numbers["sources failed"] == 0


@pytest.mark.parametrize(("count", "kinds"), [(5, ["empty", "half", "page"]), (30, ["500", "short"])])
def test_a_sitemap_that_breaks_unlists_and_buries_nothing(
    tmp_path: Path, origin: PagesOrigin, count: int, kinds: list[str]
) -> None:
    origin.pages |= {f"/{n}": page(f"Page {n}", '"1"') for n in range(count)}
    scene = Scene(tmp_path, origin)
    scene.visit()
    whole = origin.sitemap()
    broken: dict[str, Answer] = {
        "500": status(500),
        "empty": sending(urlset({})),
        "half": sending(whole[: len(whole) // 2]),
        "page": sending(b"<html><p>Maintenance</p></html>"),
        "short": sending(urlset({origin.base_url + "/0": None})),
    }
    for kind in kinds:
        origin.pages["/sitemap.xml"] = broken[kind]
        scene.visit()
        assert scene.site.state("SELECT count(*) FROM known_urls WHERE listed") == [(count,)], kind
        assert len(scene.asked()) == count + 1, "all pages are revalidated as before"
    assert {kind for kind, _ in scene.events()} == {"new"}


def test_unlisted_pages_are_revalidated_as_before(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n}": page(f"Page {n}", '"1"') for n in range(6)}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.listed = {f"/{n}": None for n in range(4)}
    origin.pages["/5"] = page("Changed", '"2"')
    scene.visit()
    assert (scene.known("/4", "listed"), scene.known("/5", "listed")) == (False, False)
    assert [entry.status for entry in scene.asked("/4")] == [304]
    assert scene.events(2) == [("changed", "/5")]


def test_a_moved_lastmod_brings_a_page_forward_but_not_before_the_shortest_interval(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    origin.pages |= {path: page(path, '"1"') for path in ("/moved", "/same", "/none")}
    scene = Scene(tmp_path, origin, cadence={"default": "10d", "min": "6h"})
    origin.listed = {"/moved": "2026-01-01", "/same": "2026-01-01", "/none": None}
    scene.visit()
    checked = scene.now
    origin.listed = {"/moved": "2026-05-02", "/same": "2026-01-01", "/none": None}
    scene.visit(timedelta(hours=1))
    assert scene.asked() == []
    assert scene.row("/moved")["next_due"] == checked + timedelta(hours=6)
    assert scene.row("/same")["next_due"] == checked + timedelta(days=10)
    scene.visit(timedelta(hours=5))
    assert [(entry.path, entry.status) for entry in scene.asked()] == [("/moved", 304)]
    assert scene.events(3) == [], "a lastmod proves nothing"


def test_a_lastmod_that_moves_everywhere_at_once_is_a_stamp(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n}": page(f"Page {n}", '"1"') for n in range(25)}
    origin.listed = {f"/{n}": "2026-01-01" for n in range(25)}
    scene = Scene(tmp_path, origin, cadence={"default": "10d", "min": "1h"})
    scene.visit()
    origin.listed = {f"/{n}": "2026-05-02" for n in range(25)}
    scene.visit()
    assert scene.asked() == []
    assert "lastmod" in scene.site.reports["sitemap_urls"].notes


def test_max_pages_bounds_what_is_known(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n:02}": page(f"Page {n}", '"1"') for n in range(30)}
    origin.pages["/"] = linking(*(f"/linked-{n}" for n in range(30)))
    scene = Scene(tmp_path, origin, scope={"max_pages": 12}, follow_links=True)
    scene.visit()
    assert scene.site.state("SELECT count(*) FROM known_urls") == [(12,)]
    assert scene.texts().keys() == {"/", *(f"/{n:02}" for n in range(11))}
    assert "scope.max_pages" in scene.site.reports["sitemap_urls"].notes


def chain(origin: PagesOrigin) -> None:
    """A start page that leads to a chain of pages, with links that must not be followed."""
    origin.pages["/"] = linking("/1", "/1?utm_source=x", "/private/a", "http://127.0.0.9/other", "mailto:x@y.z", "#top")
    origin.pages |= {f"/{n}": linking(f"/{n + 1}", "/") for n in range(1, 8)}
    origin.pages["/private/a"] = page("Private")
    origin.listed = {}
    origin.pages["/sitemap.xml"] = status(404)


@pytest.mark.parametrize(
    ("settings", "followed"),
    [
        ({"follow_links": "auto"}, 3),
        ({"follow_links": False}, 0),
        ({"follow_links": True, "max_depth": 1}, 1),
    ],
)
def test_links_are_followed_as_far_as_the_site_file_says(
    tmp_path: Path, origin: PagesOrigin, settings: dict[str, Any], followed: int
) -> None:
    chain(origin)
    depth = settings.pop("max_depth", 3)
    scope = {"exclude": ["/private/**"], "strip_params": ["utm_*"], "max_depth": depth}
    scene = Scene(tmp_path, origin, scope=scope, **settings)
    scene.visit()
    assert scene.texts().keys() == {"/", *(f"/{n}" for n in range(1, followed + 1))}
    assert scene.asked_paths() == scene.texts().keys()


def test_auto_follows_no_links_once_a_sitemap_has_listed_pages(tmp_path: Path, origin: PagesOrigin) -> None:
    chain(origin)
    origin.pages["/sitemap.xml"] = sending(urlset({origin.base_url + "/7": None}))
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.texts().keys() == {"/", "/7"}
    origin.pages["/sitemap.xml"] = status(404)
    origin.pages["/"] = linking("/1", "/2")
    scene.visit()
    assert scene.texts().keys() == {"/", "/7"}, "it has yielded once"


def test_new_links_on_a_changed_page_are_found_in_the_same_visit(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/": linking("/a"), "/a": page("A", '"1"', OLD_DATE), "/sitemap.xml": status(404)}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages |= {"/": linking("/a", "/b"), "/b": page("B")}
    scene.visit()
    assert scene.events(2) == [("changed", "/"), ("new", "/b")]


def test_a_scope_that_changes_counts_at_once(tmp_path: Path, origin: PagesOrigin) -> None:
    paths = {"/in/a", "/in/b", "/out/a"}
    origin.pages |= {path: page(path, '"1"') for path in paths}
    origin.pages["/sitemap.xml"] = sending(urlset({origin.base_url + path: None for path in paths}), '"map"')
    scene = Scene(tmp_path, origin, scope={"exclude": ["/out/**"]})
    scene.visit()
    assert scene.texts().keys() == {"/", "/in/a", "/in/b"}
    scene.configure(scope={"exclude": ["/in/b"]})
    scene.visit()
    assert "/out/a" in scene.texts(), "the sitemap is unchanged, but what it lists is read anew"
    assert "/in/b" not in scene.asked_paths(), "what is excluded now is not asked any more"
    assert "/in/b" in scene.texts(), "and keeps its record"
    assert ("gone", "/in/b") not in scene.events()


def test_robots_txt_is_revalidated_and_its_rules_stay_in_force(tmp_path: Path) -> None:
    rules = sending(b"User-agent: *\nDisallow: /secret", '"r1"', OLD_DATE, ("Content-Type", "text/plain"))
    with PagesOrigin({"/robots.txt": rules, "/secret": page("Secret"), "/a": page("A", '"a"', OLD_DATE)}) as origin:
        scene = Scene(tmp_path, origin)
        for _ in range(3):
            scene.visit()
        asked = [(entry.path, entry.status) for entry in origin.log if entry.path in ("/robots.txt", "/secret")]
        assert asked == [("/robots.txt", 200), ("/robots.txt", 304), ("/robots.txt", 304)]
        assert scene.observed("/robots.txt", 3) == ["not_modified"]
