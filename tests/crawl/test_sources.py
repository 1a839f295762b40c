"""Where sitemaps are looked for, how each is read once, and what is said of those that cannot be read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.request_log import LoggedRequest
from incremental_crawl.stages import sitemap_urls
from incremental_crawl.stages.gates import GateReport
from incremental_crawl.stages.site_run import Report
from incremental_crawl.stages.source_reports import sources_report
from incremental_crawl.stages.source_roots import USUAL_PLACES
from tests.crawl.pages_origin import (
    DAY,
    Answer,
    PagesOrigin,
    Scene,
    dropped,
    html,
    page,
    redirect,
    sending,
    status,
    urlset,
)
from tests.crawl.test_discovery import index, text_file

WEEK = timedelta(days=7)


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        running.pages["/sitemap.xml"] = status(404)
        yield running


def discover(scene: Scene, later: timedelta = DAY) -> Report:
    """A visit that reads the sources and nothing else."""
    scene.visit(later, stages=(sitemap_urls.run,))
    with scene.site.writing() as state:
        state.run("UPDATE visits SET status = 'closed'")
    return scene.site.reports["sitemap_urls"]


def checked(scene: Scene) -> GateReport:
    return sources_report(scene.site.run())


def listed(scene: Scene) -> set[str]:
    """The paths that count as listed."""
    rows = scene.site.state("SELECT url FROM known_urls WHERE listed")
    return {row[0].removeprefix(scene.origin.base_url) for row in rows}


def requests(scene: Scene) -> list[tuple[str, int]]:
    """What the last visit asked for, in order, with the status of the answer; robots.txt left out."""
    return [(entry.path, entry.status) for entry in since_last(scene) if entry.path != "/robots.txt"]


def since_last(scene: Scene) -> list[LoggedRequest]:
    """Everything that the last visit asked the site's own origin for."""
    return scene.asked_for_anything()


def found_by(scene: Scene) -> dict[str, tuple[str, str]]:
    """By path of a source: the path of its root, and how it was found."""
    base = scene.origin.base_url
    rows = scene.site.state("SELECT url, root, found_by FROM sources")
    return {url.removeprefix(base): (root.removeprefix(base), how) for url, root, how in rows}


def a_map(origin: PagesOrigin, *paths: str, etag: str | None = None) -> Answer:
    """A sitemap that lists these paths."""
    return sending(urlset({origin.base_url + path: None for path in paths}), etag)


# robots.txt


@pytest.mark.parametrize(
    "line",
    [
        "Sitemap: {base}/maps/a.xml",
        "SITEMAP:{base}/maps/a.xml",
        "sitemap : /maps/a.xml",
        "User-agent: *\nDisallow: /x\nSitemap: maps/a.xml   # of today",
        "Sitemap: {base}/maps/./b/../a.xml#part",
        "Sitemap: {base}/maps/a.xml\nSitemap: /maps/a.xml",
        "\ufeffSitemap: {base}/maps/a.xml\r\nDisallow: /",
    ],
)
def test_a_sitemap_line_counts_however_it_is_written(tmp_path: Path, origin: PagesOrigin, line: str) -> None:
    origin.pages |= {"/robots.txt": text_file(line.format(base=origin.base_url)), "/maps/a.xml": a_map(origin, "/a")}
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert (listed(scene), requests(scene)) == ({"/a"}, [("/maps/a.xml", 200)])
    assert found_by(scene) == {"/maps/a.xml": ("/maps/a.xml", "robots.txt")}
    assert (report.notes, checked(scene).passed) == ({}, True)


def test_all_named_sitemaps_are_read_also_those_on_other_hosts(tmp_path: Path, origin: PagesOrigin) -> None:
    with PagesOrigin() as other:
        other.pages |= {
            "/robots.txt": text_file("User-agent: *\nDisallow: /secret.xml\n"),
            "/of-shop.xml": sending(urlset({origin.base_url + "/b": None, other.base_url + "/not-ours": None})),
            "/secret.xml": sending(urlset({origin.base_url + "/never": None})),
        }
        lines = ["/a.xml", other.base_url + "/of-shop.xml", other.base_url + "/secret.xml"]
        origin.pages |= {
            "/robots.txt": text_file("\n".join(f"Sitemap: {line}" for line in lines)),
            "/a.xml": a_map(origin, "/a"),
        }
        scene = Scene(tmp_path, origin, allow_private_hosts=["127.0.0.1"])
        report = discover(scene)
        assert listed(scene) == {"/a", "/b"}
        assert "/secret.xml" not in {entry.path for entry in other.log}
        assert "does not allow" in report.notes[other.base_url + "/secret.xml"]


def test_what_robots_txt_names_and_is_no_sitemap_is_a_warning(tmp_path: Path, origin: PagesOrigin) -> None:
    lines = ["/robots.txt", "ftp://files.example/map.xml", "http://[bad/", "/a.xml"]
    origin.pages |= {
        "/robots.txt": text_file("\n".join(f"Sitemap: {line}" for line in lines)),
        "/a.xml": a_map(origin, "/a"),
    }
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert requests(scene) == [("/a.xml", 200)]
    assert listed(scene) == {"/a"}
    warning = report.notes[origin.base_url + "/robots.txt"]
    assert "names as a sitemap what is none" in warning
    assert "'/robots.txt', 'ftp://files.example/map.xml', 'http://[bad/'" in warning
    assert [entry.path for entry in since_last(scene)].count("/robots.txt") == 1


def test_what_a_robots_txt_asks_and_is_not_kept_to_the_letter_is_told(tmp_path: Path, origin: PagesOrigin) -> None:
    rules = "".join(f"Disallow: /p{number:06}\n" for number in range(40_000))
    origin.pages |= {
        "/robots.txt": text_file(f"Sitemap: /a.xml\nSitemap: ftp://files.example/\nUser-agent: *\n{rules}"),
        "/a.xml": a_map(origin, "/a"),
    }
    scene = Scene(tmp_path, origin)
    warning = discover(scene).notes[origin.base_url + "/robots.txt"]
    assert "names as a sitemap what is none: 'ftp://files.example/'; longer than 512000 bytes" in warning
    assert listed(scene) == {"/a"}


def test_a_robots_txt_that_names_nothing_any_more_does_not_lose_the_sitemap(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    origin.pages |= {"/robots.txt": text_file("Sitemap: /a.xml"), "/a.xml": a_map(origin, "/a", etag='"a"')}
    scene = Scene(tmp_path, origin)
    discover(scene)
    origin.pages["/robots.txt"] = text_file("User-agent: *")
    for _ in range(2):
        discover(scene)
        assert (requests(scene), listed(scene)) == ([("/a.xml", 304)], {"/a"})


# The usual places


@pytest.mark.parametrize("place", USUAL_PLACES)
def test_the_usual_places_are_tried_in_order_until_one_holds_a_sitemap_which_is_remembered(
    tmp_path: Path, origin: PagesOrigin, place: str
) -> None:
    body = origin.base_url.encode() + b"/a\n" if place.endswith(".txt") else urlset({origin.base_url + "/a": None})
    origin.pages[place] = sending(body, '"map"')
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    before = USUAL_PLACES[: USUAL_PLACES.index(place)]
    assert requests(scene) == [*((each, 404) for each in before), (place, 200)]
    assert listed(scene) == {"/a"}
    assert found_by(scene)[place] == (place, "usual place")
    assert report.notes == {}, "a guess that fails is no warning"
    assert (report.numbers["sources read"], report.numbers["sources failed"]) == (1, 0)
    assert checked(scene).passed
    discover(scene, 2 * WEEK)
    assert requests(scene) == [(place, 304)]


def test_where_no_place_holds_a_sitemap_they_are_asked_again_after_a_week(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/sitemap_index.xml"] = sending(html("Nothing here, but friendly"))
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert [path for path, _ in requests(scene)] == list(USUAL_PLACES)
    assert report.notes == {}
    assert report.numbers["sources read"] == 0
    assert checked(scene) == GateReport(True, "no sitemap or feed was found", checked(scene).numbers)
    for later in (DAY, 5 * DAY):
        discover(scene, later)
        assert requests(scene) == []
    discover(scene, DAY)
    assert [path for path, _ in requests(scene)] == list(USUAL_PLACES)
    origin.pages["/wp-sitemap.xml"] = a_map(origin, "/a")
    discover(scene, WEEK)
    assert requests(scene)[-1] == ("/wp-sitemap.xml", 200)
    assert listed(scene) == {"/a"}


@pytest.mark.parametrize("trouble", [status(503), status(429), dropped])
def test_a_host_in_trouble_is_not_asked_for_one_place_after_the_other(
    tmp_path: Path, origin: PagesOrigin, trouble: Answer
) -> None:
    origin.pages["/sitemap.xml"] = trouble
    scene = Scene(tmp_path, origin)
    discover(scene)
    assert {path for path, _ in requests(scene)} == {"/sitemap.xml"}
    origin.pages["/sitemap.xml"] = a_map(origin, "/a")
    discover(scene)
    assert listed(scene) == {"/a"}, "trouble says nothing about the place: it is asked at the next visit"


def test_a_sitemap_that_moves_to_another_usual_place_is_found_there(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/sitemap.xml"] = a_map(origin, "/a", etag='"a"')
    scene = Scene(tmp_path, origin)
    discover(scene)
    origin.pages |= {"/sitemap.xml": status(404), "/sitemap_index.xml": a_map(origin, "/a", "/b", etag='"b"')}
    discover(scene)
    assert listed(scene) == {"/a", "/b"}
    assert not checked(scene).passed, "the one that listed pages is missed once"
    discover(scene)
    assert requests(scene) == [("/sitemap_index.xml", 304)]
    assert checked(scene).passed


def test_a_sitemap_that_is_lost_keeps_its_listing_and_is_told_at_every_visit(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    origin.pages["/sitemap.xml"] = a_map(origin, *(f"/{n}" for n in range(3)))
    scene = Scene(tmp_path, origin)
    discover(scene)
    origin.pages["/sitemap.xml"] = status(404)
    for _ in range(3):
        report = discover(scene)
        assert len(listed(scene)) == 3
        assert report.notes == {origin.base_url + "/sitemap.xml": "answered 404"}
        assert (checked(scene).passed, checked(scene).numbers["failed"]) == (False, 1)
        assert "answered 404" in checked(scene).sentence


def test_a_part_of_a_host_may_have_a_sitemap_of_its_own(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/shop/sitemap.xml"] = a_map(origin, "/shop/a")
    scene = Scene(tmp_path, origin)
    scene.configure(start_urls=[origin.base_url + "/shop/index.html"])
    discover(scene)
    assert requests(scene) == [("/shop/sitemap.xml", 200)]
    assert listed(scene) == {"/shop/a"}


# Indexes and redirects


def test_every_sitemap_is_read_once_however_it_is_reached(tmp_path: Path, origin: PagesOrigin) -> None:
    base = origin.base_url
    origin.pages |= {
        "/robots.txt": text_file("Sitemap: /robots.txt\nSitemap: /index.xml\n"),
        "/index.xml": sending(
            index(f"{base}/index.xml", f"{base}/a.xml", f"{base}/a.xml#x", f"{base.upper()}/a.xml", f"{base}/r.xml")
        ),
        "/r.xml": redirect(301, "/index.xml"),
        "/a.xml": sending(index(f"{base}/index.xml", f"{base}/u.xml")),
        "/u.xml": a_map(origin, "/u"),
    }
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert requests(scene) == [("/index.xml", 200), ("/a.xml", 200), ("/r.xml", 301), ("/u.xml", 200)]
    assert listed(scene) == {"/u"}
    assert checked(scene).passed
    assert found_by(scene)["/u.xml"] == ("/index.xml", "index")
    assert f"leads to {base}/index.xml" in report.tables["sources"]


def test_a_target_of_a_redirect_is_not_read_again_for_itself(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/robots.txt": text_file("Sitemap: /r.xml\nSitemap: /a.xml\n"),
        "/r.xml": redirect(302, "/a.xml"),
        "/a.xml": a_map(origin, "/a"),
    }
    scene = Scene(tmp_path, origin)
    for _ in range(2):
        discover(scene)
        assert requests(scene) == [("/r.xml", 302), ("/a.xml", 200)]
        assert listed(scene) == {"/a"}


def test_a_sitemap_behind_a_redirect_is_revalidated_where_it_is(tmp_path: Path, origin: PagesOrigin) -> None:
    with PagesOrigin({"/store/map.xml": a_map(origin, "/a", etag='"m"')}) as cdn:
        origin.pages["/sitemap.xml"] = redirect(301, cdn.base_url + "/store/map.xml")
        scene = Scene(tmp_path, origin, allow_private_hosts=["127.0.0.1"])
        for _ in range(2):
            discover(scene)
            assert requests(scene) == [("/sitemap.xml", 301)]
            assert listed(scene) == {"/a"}
        assert [entry.status for entry in cdn.log if entry.path == "/store/map.xml"] == [200, 304]
        cdn.pages["/store/other.xml"] = a_map(origin, "/b", etag='"m"')
        origin.pages["/sitemap.xml"] = redirect(301, cdn.base_url + "/store/other.xml")
        discover(scene)
        assert listed(scene) == {"/b"}, "a validator counts only where it came from"


@pytest.mark.parametrize(
    ("target", "problem"),
    [("/b.xml", "redirects in a circle"), ("/1", "more than 5 redirects"), ("/", "neither a sitemap nor a feed")],
)
def test_redirects_that_lead_nowhere_are_told(tmp_path: Path, origin: PagesOrigin, target: str, problem: str) -> None:
    origin.pages |= {f"/{n}": redirect(302, f"/{n + 1}") for n in range(1, 9)}
    origin.pages |= {
        "/robots.txt": text_file("Sitemap: /a.xml"),
        "/a.xml": redirect(302, target),
        "/b.xml": redirect(302, "/a.xml"),
        "/": page("Start"),
    }
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert problem in report.notes[origin.base_url + "/a.xml"]
    assert problem in checked(scene).sentence
    assert len(requests(scene)) <= 6


def test_indexes_are_followed_to_a_depth_and_what_lies_deeper_is_told(tmp_path: Path, origin: PagesOrigin) -> None:
    base = origin.base_url
    origin.pages |= {f"/deep{n}.xml": sending(index(f"{base}/deep{n + 1}.xml")) for n in range(20)}
    origin.pages["/robots.txt"] = text_file("Sitemap: /deep0.xml")
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert [path for path, _ in requests(scene)] == [f"/deep{n}.xml" for n in range(6)]
    assert report.notes == {base + "/deep5.xml": "its sitemaps are more than 5 indexes deep: not read"}
    assert "more than 5 indexes deep" in checked(scene).sentence


def test_more_sitemaps_than_a_visit_reads_are_told(
    tmp_path: Path, origin: PagesOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incremental_crawl.stages.source_walk.MAX_SOURCES", 4)
    origin.pages |= {f"/{n}.xml": a_map(origin, f"/{n}") for n in range(9)}
    origin.pages["/i.xml"] = sending(index(*(f"{origin.base_url}/{n}.xml" for n in range(9))))
    origin.pages["/robots.txt"] = text_file("Sitemap: /i.xml")
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert listed(scene) == {"/0", "/1", "/2"}
    assert report.notes == {origin.base_url + "/i.xml": "more than 4 sitemaps: the rest is not read"}
    assert not checked(scene).passed


# Bytes and markup


def test_compression_is_known_by_the_bytes_whatever_names_and_headers_say(tmp_path: Path, origin: PagesOrigin) -> None:
    coded, packed = ("Content-Encoding", "gzip"), ("Content-Type", "application/gzip")

    def two(name: str) -> bytes:
        return urlset({f"{origin.base_url}/{name}/{side}": None for side in "ab"})

    def members(name: str) -> bytes:
        return gzip.compress(two(name)[:90]) + gzip.compress(two(name)[90:])

    files: dict[str, Answer] = {
        "/1.xml.gz": sending(gzip.compress(two("1")), None, None, packed),
        "/2.xml.gz": sending(two("2"), None, None, ("Content-Type", "application/x-gzip")),
        "/3.xml": sending(gzip.compress(two("3")), None, None, coded),
        "/4.xml.gz": sending(gzip.compress(gzip.compress(two("4"))), None, None, coded, packed),
        "/5.xml.gz": sending(gzip.compress(two("5")), None, None, ("Content-Type", "gzip")),
        "/6": sending(gzip.compress(two("6")), None, None, ("Content-Type", "application/octet-stream")),
        "/7.xml.gz": sending(members("7"), None, None, packed),
        "/8.xml": sending(members("8"), None, None, coded),
        "/9.xml": sending(gzip.compress(two("9")), None, None, ("Content-Type", "text/xml; charset=utf-8")),
        "/10.xml.gz": sending(two("10"), None, None, coded, packed),
    }
    names = [path.removeprefix("/").partition(".")[0] for path in files]
    whole = gzip.compress(index(*(origin.base_url + path for path in files)))
    origin.pages |= files | {"/robots.txt": text_file("Sitemap: /i.xml.gz"), "/i.xml.gz": sending(whole)}
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert listed(scene) == {f"/{name}/{side}" for name in names for side in "ab"}
    assert (report.notes, checked(scene).passed) == ({}, True)


def test_escapes_are_undone_before_a_page_is_asked_and_no_entity_asks_for_anything(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    base = origin.base_url
    locs = [
        f"{base}/s?a=1&amp;b=2",
        f"\n<![CDATA[ {base}/s?a=3&b=4 ]]>\n",
        f"{base}/s?a=5&b=6",
        f"{base}/caf&eacute;",
        f"{base}/&#x70;age",
        f"{base}/x&nobody;",
        f"{base}/ok",
    ]
    entries = "".join(f"<url><loc>{loc}</loc></url>" for loc in locs)
    declared = {
        "xxe": '[<!ENTITY x SYSTEM "file:///etc/hostname">]',
        "net": f'[<!ENTITY x SYSTEM "{base}/ping">]',
        "parameter": f'[<!ENTITY % p SYSTEM "{base}/ping">%p;]',
        "dtd": f'SYSTEM "{base}/ping.dtd"',
    }
    hostile = {
        f"/{name}.xml": sending(f"<!DOCTYPE urlset {how}><urlset><url><loc>{base}/&x;</loc></url></urlset>".encode())
        for name, how in declared.items()
    }
    origin.pages |= {"/robots.txt": text_file("\n".join(f"Sitemap: {path}" for path in (*hostile, "/good.xml")))}
    origin.pages |= hostile | {"/good.xml": sending(f"<urlset>{entries}</urlset>".encode())}
    scene = Scene(tmp_path, origin)
    scene.visit()
    pages = {"/", "/s?a=1&b=2", "/s?a=3&b=4", "/s?a=5&b=6", "/caf%C3%A9", "/page", "/ok"}
    assert scene.asked_paths() == {*pages, *hostile, "/good.xml"}
    notes = scene.site.reports["sitemap_urls"].notes
    assert all("rejected: DTD" in notes[base + path] for path in hostile)
    assert "1 times & was read as &amp;" in notes[base + "/good.xml"]


# What is said


def test_a_quiet_site_costs_a_304_per_source(tmp_path: Path, origin: PagesOrigin) -> None:
    base = origin.base_url
    rules = sending(b"Sitemap: /i.xml", '"r"', None, ("Content-Type", "text/plain"))
    origin.pages |= {"/robots.txt": rules, "/i.xml": sending(index(f"{base}/a.xml", f"{base}/b.xml"), '"i"')}
    origin.pages |= {f"/{name}.xml": a_map(origin, f"/{name}", etag=f'"{name}"') for name in "ab"}
    scene = Scene(tmp_path, origin)
    discover(scene)
    report = discover(scene)
    assert [(entry.path, entry.status, entry.body_bytes) for entry in since_last(scene)] == [
        ("/robots.txt", 304, 0),
        ("/i.xml", 304, 0),
        ("/a.xml", 304, 0),
        ("/b.xml", 304, 0),
    ]
    assert (report.numbers["new"], report.numbers["unlisted"], report.numbers["unchanged"]) == (0, 0, 2)


def test_the_table_shows_every_source_with_its_outcome_and_counts(tmp_path: Path, origin: PagesOrigin) -> None:
    base = origin.base_url
    dated = urlset({base + "/1": "2026-01-01", base + "/2": "2026-01-02", base + "/3": None, base + "/4": None})
    origin.pages |= {
        "/robots.txt": text_file("Sitemap: /i.xml\nSitemap: /gone.xml"),
        "/i.xml": sending(index(f"{base}/a.xml"), '"i"'),
        "/a.xml": sending(dated, '"a"'),
        "/feed": sending(b"<rss><channel><item><link>/f|x</link></item></channel></rss>", '"f"'),
    }
    scene = Scene(tmp_path, origin, feeds=[base + "/feed"])
    report = discover(scene)
    head, rules, *rows = report.tables["sources"].splitlines()
    assert head.count("|") == rules.count("|") == 11
    assert rows == [
        f"| {base}/gone.xml | robots.txt | 404 | failed: answered 404 | 0 | 0 | 0 | 0 | – | – |",
        f"| {base}/feed | site file | 200 | read | 1 | 1 | 0 | 0 | 0 % | no lastmod |",
        f"| {base}/i.xml | robots.txt | 200 | index of 1 | 0 | 0 | 0 | 0 | – | too few checks to say |",
        f"| {base}/a.xml | index | 200 | read | 4 | 4 | – | 0 | 50 % | – |",
    ]
    origin.pages["/a.xml"] = sending(urlset({base + f"/{n}": None for n in range(2, 7)}))
    report = discover(scene)
    assert f"| {base}/a.xml | index | 200 | read | 5 | 2 | – | 3 | 0 % | – |" in report.tables["sources"]
    assert (
        f"| {base}/i.xml | robots.txt | 304 | index of 1, not modified | 0 | 0 | 1 | 0 | – | no lastmod |"
        in (report.tables["sources"])
    )
    assert (report.numbers["new"], report.numbers["unlisted"]) == (2, 1)


def test_the_table_and_the_notes_are_bounded(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/robots.txt"] = text_file("\n".join(f"Sitemap: /{n}.xml" for n in range(30)))
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert report.tables["sources"].count("answered 404") == 20
    assert report.tables["sources"].endswith("\n\nand 10 more")
    assert len(report.notes) == 11
    assert report.notes["further sources"] == "20 more have problems or warnings"
    assert checked(scene).sentence.endswith("and 25 more")


def test_broken_xml_gives_what_can_be_read_and_stays_told_while_it_is_not_modified(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    whole = urlset({origin.base_url + "/a": None, origin.base_url + "/b": None})
    broken = whole.replace(b"</loc></url></urlset>", b"</loc></oops>")
    origin.pages |= {"/robots.txt": text_file("Sitemap: /a.xml"), "/a.xml": sending(broken, '"a"')}
    scene = Scene(tmp_path, origin)
    for code in (200, 304):
        report = discover(scene)
        assert requests(scene) == [("/a.xml", code)]
        assert "/a" in listed(scene)
        [(source, warning)] = report.notes.items()
        assert source == origin.base_url + "/a.xml"
        assert "line 1, column" in warning
        assert (checked(scene).passed, checked(scene).numbers["read in part"]) == (False, 1)
        assert "line 1, column" in checked(scene).sentence
    origin.pages["/a.xml"] = sending(whole)
    discover(scene)
    assert checked(scene).passed


def test_an_entry_that_is_left_out_is_a_note_and_no_alarm(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/robots.txt": text_file("Sitemap: /a.txt"),
        "/a.txt": text_file(f"{origin.base_url}/a\nnot an address\n"),
    }
    scene = Scene(tmp_path, origin)
    report = discover(scene)
    assert "line 2, column 1: 'not an address'" in report.notes[origin.base_url + "/a.txt"]
    assert checked(scene).passed


def test_a_sitemap_of_another_host_name_says_so(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/robots.txt": text_file("Sitemap: /a.xml"),
        "/a.xml": sending(urlset({"https://www.shop.example/1": None, "https://www.shop.example/2": None})),
    }
    scene = Scene(tmp_path, origin)
    discover(scene)
    sentence = checked(scene).sentence
    assert not checked(scene).passed
    assert "none of its 2 entries is within the site's scope (for example https://www.shop.example/1)" in sentence


def test_an_empty_sitemap_is_red_where_somebody_named_it(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/sitemap.xml"] = sending(urlset({}))
    scene = Scene(tmp_path, origin)
    discover(scene)
    assert checked(scene).passed, "nobody said that there is one"
    origin.pages["/robots.txt"] = text_file("Sitemap: /sitemap.xml")
    discover(scene)
    assert (checked(scene).passed, checked(scene).numbers["empty"]) == (False, 1)


@pytest.mark.parametrize("key", ["sitemaps", "feeds"])
def test_a_source_of_the_site_file_that_fails_is_red(tmp_path: Path, origin: PagesOrigin, key: str) -> None:
    scene = Scene(tmp_path, origin, **{"sitemaps": "none", key: [origin.base_url + "/missing"]})
    report = discover(scene)
    assert requests(scene) == [("/missing", 404)]
    assert report.notes == {origin.base_url + "/missing": "answered 404"}
    assert not checked(scene).passed


def test_a_sitemap_that_shrank_is_held_and_believed_when_it_has_stood(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/sitemap.xml"] = a_map(origin, *(f"/{n}" for n in range(40)))
    scene = Scene(tmp_path, origin)
    discover(scene)
    origin.pages["/sitemap.xml"] = a_map(origin, *(f"/{n}" for n in range(10)), etag='"small"')
    for _ in range(2):
        report = discover(scene)
        assert (len(listed(scene)), report.numbers["unlisted"]) == (40, 0)
        assert "/sitemap.xml listed 40 pages and lists 10 now" in report.notes["sitemap_shrink_limit"]
        assert not checked(scene).passed
    report = discover(scene)
    assert (len(listed(scene)), report.numbers["unlisted"]) == (10, 30)
    assert "it is believed" in report.notes["sitemap_shrink_limit"]
    assert checked(scene).passed
    assert scene.site.state("SELECT count(*) FROM known_urls") == [(41,)], "still known, still revalidated"


def test_an_index_that_breaks_or_is_empty_keeps_the_sitemaps_that_it_listed(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    base = origin.base_url
    whole = index(f"{base}/a.xml", f"{base}/b.xml")
    origin.pages |= {"/robots.txt": text_file("Sitemap: /i.xml"), "/i.xml": sending(whole)}
    origin.pages |= {"/a.xml": a_map(origin, "/a"), "/b.xml": a_map(origin, "/b")}
    scene = Scene(tmp_path, origin)
    discover(scene)
    for broken in (whole[: whole.index(b"/b.xml")], index(), b"", html("Maintenance")):
        origin.pages["/i.xml"] = sending(broken)
        discover(scene)
        assert listed(scene) == {"/a", "/b"}
        assert not checked(scene).passed
    origin.pages["/i.xml"] = sending(index(f"{base}/b.xml"))
    discover(scene)
    assert listed(scene) == {"/b"}


def test_a_sitemap_that_becomes_an_index_lists_what_its_sitemaps_list(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/robots.txt": text_file("Sitemap: /s.xml"), "/s.xml": a_map(origin, "/a", "/b")}
    scene = Scene(tmp_path, origin)
    discover(scene)
    origin.pages |= {"/s.xml": sending(index(origin.base_url + "/t.xml")), "/t.xml": a_map(origin, "/b", "/c")}
    discover(scene)
    assert listed(scene) == {"/b", "/c"}
