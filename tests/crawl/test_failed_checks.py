"""A check that fails says nothing: neither record nor validators move, and no number of failures adds up to gone."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.crawl.pages_origin import (
    DAY,
    HTML,
    OLD_DATE,
    Answer,
    PagesOrigin,
    Scene,
    dropped,
    html,
    in_turn,
    late,
    page,
    sending,
    status,
)

NEW_TAG = ("ETag", '"new"')
FAILURES: dict[str, tuple[Answer, str]] = {
    "/500": (status(500, NEW_TAG), "retry_later"),
    "/502": (status(502, NEW_TAG), "retry_later"),
    "/599": (status(599), "retry_later"),
    "/408": (status(408), "retry_later"),
    "/425": (status(425), "retry_later"),
    "/401": (status(401), "blocked"),
    "/403": (status(403, NEW_TAG), "blocked"),
    "/451": (status(451), "blocked"),
    "/400": (status(400), "error"),
    "/418": (status(418), "error"),
    "/204": (status(204), "empty"),
    "/206": (status(206, NEW_TAG, ("Content-Range", "bytes 0-9/100"), body=b"<p>Half a p"), "incomplete"),
    "/dropped": (dropped, "retry_later"),
    "/late": (late(3.0), "retry_later"),
    "/truncated": (
        status(200, NEW_TAG, ("Content-Encoding", "gzip"), body=gzip.compress(html("Half a page"))[:60]),
        "incomplete",
    ),
    "/binary": (sending(b"\x00\x01\x02\xff" * 99, '"new"', None, ("Content-Type", "image/png")), "error"),
    "/empty": (sending(b"", '"new"'), "empty"),
    "/blank": (sending(b"<!doctype html><title></title><body>  \n </body>", '"new"'), "empty"),
    "/shell": (sending(b"<!doctype html><title>App</title><div id=root></div><script>go()</script>", '"new"'), "empty"),
}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A site that answered once, failed in every way for two visits, and has recovered since."""
    good = {path: page(f"Text of {path}", '"old"', OLD_DATE) for path in FAILURES}
    with PagesOrigin(dict(good)) as origin:
        scene = Scene(
            tmp_path_factory.mktemp("failing"),
            origin,
            politeness={"requests_per_second": None, "timeout": "1s", "total_timeout": "1s"},
            gate={"failed": 1.0, "confirm_gone_after": "0s"},
        )
        scene.visit()
        origin.pages |= {path: answer for path, (answer, _) in FAILURES.items()}
        scene.visit()
        scene.visit()
        yield scene


def test_failures_keep_record_and_validators(failing: Scene) -> None:
    first = failing.now - 2 * DAY
    rows, texts = failing.rows(), failing.texts()
    for path in FAILURES:
        assert texts[path] == f"Text of {path}"
        kept = {name: rows[path][name] for name in ("etag", "last_modified", "status", "gone_since", "redirect_to")}
        assert kept == {
            "etag": '"old"',
            "last_modified": OLD_DATE,
            "status": 200,
            "gone_since": None,
            "redirect_to": None,
        }
        assert (rows[path]["failures"], rows[path]["last_checked"]) == (2, first), path
    assert rows["/"]["failures"] == 0


def test_failures_make_no_event_and_no_version(failing: Scene) -> None:
    assert {kind for kind, _ in failing.events()} == {"new"}
    assert failing.site.query("SELECT count(*) FROM {page_records}") == [(len(FAILURES) + 1,)]
    assert failing.site.query("SELECT count(*) FROM {tombstones}") == [(0,)]


def test_every_failure_is_written_down_with_its_kind(failing: Scene) -> None:
    for path, (_, outcome) in FAILURES.items():
        assert failing.observed(path, 3)[-1] == outcome, path
    assert None not in failing.observed("/shell", 3, "error") + failing.observed("/late", 3, "error")


def test_a_site_that_recovers_is_asked_with_the_old_validators_and_answers_304(failing: Scene) -> None:
    for path in FAILURES:
        failing.origin.pages[path] = page(f"Text of {path}", '"old"', OLD_DATE)
    failing.visit()
    assert {(entry.headers.get("if-none-match"), entry.status) for entry in failing.asked() if entry.path != "/"} == {
        ('"old"', 304)
    }
    assert {row["failures"] for row in failing.rows().values()} == {0}
    assert failing.events(4) == []


def test_a_page_that_gave_no_record_comes_first_next_time(tmp_path: Path) -> None:
    with PagesOrigin({f"/{n:02}": page(f"Page {n}", '"1"') for n in range(12)}) as origin:
        scene = Scene(tmp_path, origin, politeness={"requests_per_second": None, "sweep_concurrency": 1})
        scene.visit()
        origin.pages["/07"] = sending(b"<p></p>", '"2"')
        scene.visit()
        origin.pages["/07"] = page("Found again", '"2"')
        scene.visit()
        assert scene.asked()[0].path == "/07"
        assert scene.asked()[0].headers["if-none-match"] == '"1"'
        assert scene.events(3) == [("changed", "/07")]


def test_retries_come_sooner_than_the_cadence_and_ever_later(tmp_path: Path) -> None:
    with PagesOrigin({"/broken": in_turn(page("Page", '"1"'), status(500))}) as origin:
        scene = Scene(tmp_path, origin, cadence={"default": "20m", "min": "15m"})
        scene.visit()
        waits = []
        for _ in range(2):
            scene.visit(later=scene.row("/broken")["next_due"] - scene.now)
            waits.append(scene.row("/broken")["next_due"] - scene.now)
        minutes = [wait / timedelta(minutes=1) for wait in waits]
        assert minutes == [15, 20]


def test_retry_after_is_kept_across_visits(tmp_path: Path) -> None:
    with PagesOrigin({"/a": page("Page", '"1"'), "/b": page("Page", '"1"')}) as origin:
        scene = Scene(
            tmp_path, origin, politeness={"requests_per_second": None, "sweep_concurrency": 1, "fetch_concurrency": 1}
        )
        scene.visit()
        origin.pages["/"] = status(429, ("Retry-After", "7200"))
        scene.visit()
        assert scene.asked_paths() == {"/"}, "the first 429 keeps every page of the host from being asked"
        wanted = scene.now + timedelta(hours=2)
        assert {row["next_due"] for row in scene.rows().values()} == {wanted}
        origin.pages["/"] = page("Start", '"start"', OLD_DATE)
        scene.visit(later=timedelta(hours=1))
        assert scene.asked() == []
        scene.visit(later=timedelta(hours=2))
        assert {(entry.path, entry.status) for entry in scene.asked()} == {("/", 304), ("/a", 304), ("/b", 304)}
        assert [scene.events(visit) for visit in (2, 3, 4)] == [[], [], []]


def test_a_failed_page_does_not_keep_the_others_from_being_seen(tmp_path: Path) -> None:
    crash = status(200, HTML, body=b"<div>" * 20_000 + b"deep")
    with PagesOrigin({"/a": page("Page"), "/broken": dropped, "/odd": crash, "/zz": page("Page")}) as origin:
        origin.pages["/binary"] = status(200, body=bytes(range(256)) * 50)
        origin.pages["/pdf"] = sending(b"%PDF-1.7 \x00\x01", None, None, ("Content-Type", "application/pdf"))
        scene = Scene(tmp_path, origin)
        scene.visit()
        assert {"/", "/a", "/zz"} <= scene.rows().keys()
        assert "/broken" not in scene.rows()
        assert len(scene.events(1)) == len(scene.rows())
