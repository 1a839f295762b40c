"""What a revisit may conclude from 304s, validators and equal records, seen in the data and in the server's own log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Request
from incremental_crawl.origin.representation import http_date
from tests.crawl.pages_origin import (
    DAY,
    OLD_DATE,
    PagesOrigin,
    Scene,
    in_turn,
    not_modified,
    page,
    redirect,
    sending,
    unless_no_cache,
    urlset,
)
from tests.origins.documents import DocumentsOrigin
from tests.origins.histories import synthetic_history

OTHER_DATE = "Tue, 06 Jan 2026 10:00:00 GMT"

ODD_TAGS = {
    "/weak": 'W/"a b"',
    "/latin": '"caf\xe9"',
    "/unquoted": "5f3c-1a2b",
    "/quotes": '"a""b"',
    "/one-quote": '"',
    "/list": '"x", "y"',
    "/single": "'x'",
    "/backslash": '"a\\"b"',
    "/star": '"*"',
    "/no-characters": '""',
    "/lower": 'w/"x"',
    "/long": '"' + "0123456789" * 400 + '"',
    "/gzip": '"abc-gzip"',
}
ODD_DATES = {
    "/words": "yesterday",
    "/zero": "0",
    "/epoch": "1767607200",
    "/rfc850": "Monday, 05-Jan-26 10:00:00 GMT",
    "/asctime": "Mon Jan  5 10:00:00 2026",
    "/offset": "Mon, 05 Jan 2026 12:00:00 +0200",
    "/wrong-day": "Tue, 05 Jan 2026 10:00:00 GMT",
    "/future": "Tue, 05 Jan 2038 10:00:00 GMT",
    "/lower-case": "mon, 05 jan 2026 10:00:00 gmt",
}


ANSWERS = {
    "/silent": in_turn(page("Page", '"1"', OLD_DATE), not_modified()),
    "/new-tag": in_turn(page("Page", '"1"', OLD_DATE), not_modified(("ETag", 'W/"1"'))),
    "/new-date": in_turn(page("Page", '"1"', OLD_DATE), not_modified(("Last-Modified", OTHER_DATE))),
    "/empty-tag": in_turn(page("Page", '"1"', OLD_DATE), not_modified(("ETag", ""))),
    "/touched": in_turn(page("Page", '"1"', OLD_DATE), page("Page", '"2"', OTHER_DATE)),
    "/dropped-tag": in_turn(page("Page", '"1"', OLD_DATE), page("Page", None, OTHER_DATE)),
}
SPURIOUS = {
    "/cached": unless_no_cache(not_modified(("ETag", '"1"')), page("Truth", '"1"')),
    "/stubborn": not_modified(("ETag", '"1"')),
    "/hashed": in_turn(page("Old text"), unless_no_cache(not_modified(), page("New text"))),
}
FIRST = datetime(2026, 5, 2, 12, tzinfo=UTC)
WEAK = {"/0s": 0, "/1s": 1, "/60s": 60}
STRONG = {"/61s": 61, "/later": -1, "/days": 86_400}


def dated(before: float) -> str:
    """A Last-Modified so many seconds before the first visit."""
    return http_date(FIRST - timedelta(seconds=before))


QUIET = {
    **{f"/both-{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(5)},
    **{f"/tag-{n}": page(f"Page {n}", f'W/"{n}"') for n in range(5)},
    **{f"/date-{n}": page(f"Page {n}", None, OLD_DATE) for n in range(5)},
}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


@dataclass
class Revisited:
    """A site after three visits, and its published pages and records after each of them."""

    scene: Scene
    rows: list[dict[str, dict[str, Any]]]
    texts: list[dict[str, str]]

    def sent(self, visit: int) -> dict[str, tuple[str | None, str | None]]:
        """The conditions of a visit's first request to each path."""
        found: dict[str, tuple[str | None, str | None]] = {}
        for entry in self.scene.asked(visit=visit):
            condition = entry.headers.get("if-none-match"), entry.headers.get("if-modified-since")
            found.setdefault(entry.path, condition)
        return found


@pytest.fixture(scope="module")
def revisited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Revisited]:
    odd = {path: page("Page", tag) for path, tag in ODD_TAGS.items()}
    odd |= {path: page("Page", None, date) for path, date in ODD_DATES.items()}
    odd |= {
        "/no-tag": page("Page", "", OLD_DATE),
        "/two-tags": page("Page", '"first"', OLD_DATE, ("ETag", '"second"')),
        "/pair": page("Page", 'W/"pair"', "0"),
        "/none": page("Page"),
    }
    dates = {path: page("Page", f'"{path}"', dated(before)) for path, before in (WEAK | STRONG).items()}
    dates["/edited"] = in_turn(page("Before", None, dated(0)), page("After", None, dated(0)))
    with PagesOrigin({**QUIET, **odd, **ANSWERS, **SPURIOUS, **dates}) as running:
        listed = urlset(dict.fromkeys(running.base_url + path for path in running.pages))
        running.pages["/sitemap.xml"] = sending(listed, '"map"', OLD_DATE)
        scene = Scene(tmp_path_factory.mktemp("revisited"), running, cadence={"default": "1d"})
        seen = Revisited(scene, [{}], [{}])
        for _ in range(3):
            scene.visit()
            seen.rows.append(scene.rows())
            seen.texts.append(scene.texts())
        yield seen


def test_a_quiet_revisit_gets_no_body_and_moves_nothing_but_the_times(revisited: Revisited) -> None:
    scene, quiet = revisited.scene, {"/", *QUIET}
    answers = [entry for entry in scene.asked(visit=2) if entry.path in quiet]
    assert len(answers) == len(quiet)
    assert {(entry.status, entry.body_bytes) for entry in answers} == {(304, 0)}
    maps = [(entry.status, entry.body_bytes) for entry in scene.origin.log if entry.path == "/sitemap.xml"]
    assert maps[1:] == [(304, 0), (304, 0)]
    before, after = revisited.rows[1], revisited.rows[2]
    moved = {name for path in quiet for name in before[path] if before[path][name] != after[path][name]}
    assert moved == {"last_checked", "next_due"}
    assert {after[path]["last_checked"] for path in quiet} == {FIRST + DAY}
    assert {after[path]["next_due"] for path in quiet} == {FIRST + 2 * DAY}
    for dataset in ("page_records", "body_snapshots"):
        rows = scene.site.query(f"SELECT url FROM {{{dataset}}}")
        made = Counter(url.removeprefix(scene.origin.base_url) for (url,) in rows)
        assert {made[path] for path in quiet} == {1}, "a 304 makes no version and no body"


def test_nothing_is_told_but_what_truly_changed(revisited: Revisited) -> None:
    assert revisited.scene.events(2) == [("changed", "/edited"), ("changed", "/hashed")]
    assert revisited.scene.events(3) == []
    kept = revisited.rows[2].keys() - {"/edited", "/hashed"}
    for texts in revisited.texts[2:]:
        assert {path: texts[path] for path in kept} == {path: revisited.texts[1][path] for path in kept}
    assert "" not in revisited.texts[3].values()


def test_validators_are_echoed_byte_for_byte(revisited: Revisited) -> None:
    expected: dict[str, tuple[str | None, str | None]] = {path: (tag, None) for path, tag in ODD_TAGS.items()}
    expected |= {path: (None, date) for path, date in ODD_DATES.items()}
    expected |= {
        "/": ('"start"', OLD_DATE),
        "/no-tag": (None, OLD_DATE),
        "/two-tags": ('"first"', OLD_DATE),
        "/pair": ('W/"pair"', "0"),
        "/none": (None, None),
    }
    for visit in (2, 3):
        sent = revisited.sent(visit)
        assert {path: sent[path] for path in expected} == expected
    assert revisited.rows[1]["/latin"]["etag"] == '"caf\xe9"'
    answered = {entry.path for entry in revisited.scene.asked(visit=2) if entry.status == 200}
    assert answered & expected.keys() == {"/none"}


def test_what_an_answer_says_about_validators_is_sent_from_then_on(revisited: Revisited) -> None:
    sent = revisited.sent(3)
    assert {path: sent[path] for path in ANSWERS} == {
        "/silent": ('"1"', OLD_DATE),
        "/new-tag": ('W/"1"', OLD_DATE),
        "/new-date": ('"1"', OTHER_DATE),
        "/empty-tag": ('"1"', OLD_DATE),
        "/touched": ('"2"', OTHER_DATE),
        "/dropped-tag": (None, OTHER_DATE),
    }
    assert {entry.status for entry in revisited.scene.asked(visit=3) if entry.path in ANSWERS} == {304}
    assert revisited.scene.observed("/touched", 2) == ["same_hash"]
    assert revisited.rows[2]["/touched"]["last_changed"] == revisited.rows[1]["/touched"]["last_changed"]
    assert revisited.rows[2]["/touched"]["last_checked"] == FIRST + DAY


def test_a_304_that_confirms_nothing_is_asked_once_more_past_every_cache(revisited: Revisited) -> None:
    scene = revisited.scene
    for path, visit in (("/cached", 1), ("/stubborn", 1), ("/hashed", 2)):
        first, second = scene.asked(path, visit)[:2]
        assert (first.conditional, first.headers.get("cache-control")) == (False, None)
        assert (second.conditional, second.headers.get("cache-control")) == (False, "no-cache")
    assert scene.observed("/cached", 1, "purpose") == ["fetch", "retry"]
    assert revisited.texts[1]["/cached"] == "Truth"
    assert revisited.texts[2]["/hashed"] == "New text"
    assert "/stubborn" not in revisited.rows[3]
    assert scene.known("/stubborn", "failures") == 3
    assert not [event for event in scene.events() if event[1] == "/stubborn"]


def test_a_date_of_the_same_minute_is_confirmed_by_hash_once(revisited: Revisited) -> None:
    unconditional = {path for path, sent in revisited.sent(2).items() if sent == (None, None)}
    assert unconditional & (WEAK | STRONG).keys() == WEAK.keys()
    assert revisited.texts[2]["/edited"] == "After", "an edit within the second of the first visit is found"
    assert {revisited.rows[1][path]["weak_date"] for path in WEAK} == {True}
    assert {revisited.rows[2][path]["weak_date"] for path in (*WEAK, *STRONG, "/edited")} == {False}
    again = [entry for entry in revisited.scene.asked(visit=3) if entry.path in (WEAK | STRONG).keys() | {"/edited"}]
    assert {(entry.conditional, entry.status) for entry in again} == {(True, 304)}


def test_other_request_headers_rebaseline_without_a_condition_and_without_an_event(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    def spoken(request: Request) -> str:
        return "English" if "one" in request.headers["user-agent"] else "Deutsch"

    origin.pages["/same"] = page("Same for all", '"same"', OLD_DATE)
    origin.pages["/language"] = lambda request: page(spoken(request), '"any"', OLD_DATE)(request)
    origin.pages["/hop"] = lambda request: page(spoken(request) + " hop", '"hop"', OLD_DATE)(request)
    origin.pages["/led"] = redirect(302, "/hop")
    origin.listed = dict.fromkeys(["/same", "/language", "/led"])
    scene = Scene(tmp_path, origin, politeness={"requests_per_second": None, "user_agent": "one/1"})
    scene.visit()
    changed_at = scene.row("/language")["last_changed"]
    scene.configure(politeness={"requests_per_second": None, "user_agent": "two/1"})
    scene.visit()
    assert not any(entry.conditional for entry in scene.asked())
    assert scene.events(2) == []
    assert scene.texts()["/language"] == "Deutsch"
    assert scene.texts()["/led"] == "Deutsch hop"
    assert scene.observed("/language", 2) == ["rebaselined"]
    assert scene.row("/language")["last_changed"] == changed_at

    origin.pages["/language"] = page("Neu", '"neu"', OLD_DATE)
    scene.visit()
    assert {(entry.path, entry.status) for entry in scene.asked() if entry.status == 304} == {
        ("/", 304),
        ("/same", 304),
        ("/hop", 304),
    }
    assert scene.events(3) == [("changed", "/language")]


def test_the_audit_finds_a_false_304_and_says_so(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/lying": in_turn(
            page("Before", '"1"', OLD_DATE),
            unless_no_cache(not_modified(), page("After", '"1"', OLD_DATE)),
        ),
        "/racing": in_turn(
            page("Before", '"1"', OLD_DATE),
            not_modified(),
            page("After", '"2"', OLD_DATE),
            page("After", '"2"', OLD_DATE),
        ),
        "/honest": page("Truth", '"1"', OLD_DATE),
    }
    scene = Scene(tmp_path, origin, revalidation={"audit_share": 1.0})
    scene.visit()
    assert scene.observed("/honest", 1, "purpose") == ["fetch"]
    scene.visit()
    honest = scene.asked("/honest")
    assert [entry.status for entry in honest] == [304, 200]
    assert not honest[1].conditional
    assert honest[1].headers["cache-control"] == "no-cache"
    assert scene.events(2) == [("changed", "/lying"), ("changed", "/racing")]
    assert scene.event("/lying", 2)["evidence"] == "audit"
    assert scene.event("/racing", 2)["evidence"] == "modified"
    assert scene.texts()["/lying"] == "After"
    confirmed = [entry for entry in scene.asked("/lying") if entry.conditional]
    assert [entry.status for entry in confirmed] == [304, 304], "the condition is sent again before anyone is accused"
    assert scene.site.query("SELECT audits FROM {hosts}") == [(4,)]


def test_audits_take_turns(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(5)}
    scene = Scene(tmp_path, origin, revalidation={"audit_share": 0.25})  # twice as many while nothing is proven
    scene.visit()
    for _ in range(2):
        scene.visit()
    audited = [url for (url,) in scene.site.query("SELECT url FROM {observations} WHERE purpose = 'audit'")]
    assert len(audited) == len(set(audited)) == 6, "nothing is audited twice before everything was audited once"
    assert scene.events(3) == []


def test_pages_without_validators_that_differ_on_every_load_are_quiet(tmp_path: Path) -> None:
    with DocumentsOrigin(synthetic_history(pages=12, visits=1), validators="none", seed=3) as noisy:
        scene = Scene(tmp_path, noisy)  # type: ignore[arg-type]
        scene.visit()
        for visit in (2, 3):
            scene.visit()
            assert len(scene.asked()) >= 13
            assert not any(entry.conditional for entry in scene.asked())
            assert scene.events(visit) == []
        assert scene.site.query("SELECT not_modified FROM {hosts}") == [(0,)]


def test_a_host_that_never_answers_304_is_soon_asked_without_conditions(tmp_path: Path, origin: PagesOrigin) -> None:
    serial = count()
    origin.pages |= {f"/{n}": lambda _: page("Page", f'"{next(serial)}"')(Request("GET", "/")) for n in range(25)}
    origin.pages["/"] = page("Start")
    scene = Scene(tmp_path, origin)
    scene.visit()
    scene.visit()
    assert sum(entry.conditional for entry in scene.asked()) == 25
    for visit in (3, 4):
        scene.visit()
        assert sum(entry.conditional for entry in scene.asked()) <= 6, "now and then a condition is tried again"
        ((mode, verdict),) = scene.site.query("SELECT mode, verdict FROM {hosts}")
        assert mode == "hash_only"
        assert "validators are not useful: 0 of " in verdict
        assert scene.events(visit) == []
