"""Redirects hop by hop: a permanent one moves a page, a temporary one never mixes two pages' data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import (
    DAY,
    OLD_DATE,
    Answer,
    PagesOrigin,
    Scene,
    in_turn,
    not_modified,
    page,
    redirect,
    status,
)

MOVES = {
    "/same": (301, "/same-new"),
    "/permanent": (308, "/permanent-new"),
    "/edited": (301, "/edited-new"),
    "/relative": (301, "relative-new"),
    "/chain": (301, "/chain-1"),
    "/to-known": (301, "/known"),
    "/twin-a": (301, "/twins"),
    "/twin-b": (301, "/twins"),
    "/then-temporary": (301, "/stop"),
}
TARGETS = {
    "/same": "/same-new",
    "/permanent": "/permanent-new",
    "/edited": "/edited-new",
    "/relative": "/relative-new",
    "/chain": "/chain-end",
    "/to-known": "/known",
    "/twin-a": "/twins",
    "/twin-b": "/twins",
    "/then-temporary": "/stop",
}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A site of which some pages have moved between its two visits."""
    pages: dict[str, Answer] = {path: page(f"Text of {path}", f'"{path}"', OLD_DATE) for path in MOVES}
    pages |= {"/twin-a": page("Text of /twins"), "/twin-b": page("Text of /twins"), "/known": page("Known", '"k"')}
    with PagesOrigin(pages) as origin:
        scene = Scene(tmp_path_factory.mktemp("moved"), origin, cadence={"default": "1d", "max": "30d"})
        origin.listed = dict.fromkeys([*MOVES, "/known"])
        scene.visit()
        origin.pages |= {path: redirect(code, location) for path, (code, location) in MOVES.items()}
        origin.pages |= {
            "/same-new": page("Text of /same", '"s"', OLD_DATE),
            "/permanent-new": page("Text of /permanent", '"p"', OLD_DATE),
            "/edited-new": page("Another text", '"e"', OLD_DATE),
            "/relative-new": page("Text of /relative", '"r"', OLD_DATE),
            "/chain-1": redirect(308, "/chain-2"),
            "/chain-2": redirect(301, "/chain-end"),
            "/chain-end": page("Text of /chain", '"c"', OLD_DATE),
            "/twins": page("Text of /twins", '"t"', OLD_DATE),
            "/stop": redirect(302, "/really"),
            "/really": page("Text of /then-temporary", '"x"', OLD_DATE),
        }
        scene.visit()
        yield scene


def test_a_permanent_redirect_is_told_as_moved_and_its_target_is_not_new(moved: Scene) -> None:
    assert moved.events(2) == [("changed", "/edited-new"), *(("moved", path) for path in sorted(MOVES))]
    for path, target in TARGETS.items():
        event = moved.event(path, 2)
        assert event["moved_to"] == moved.url(target)
        assert event["old_sha256"] is not None


def test_a_target_that_says_something_else_is_compared_with_its_source(moved: Scene) -> None:
    event = moved.event("/edited-new", 2)
    assert "-Text of /edited" in event["diff"]
    assert "+Another text" in event["diff"]
    assert event["old_sha256"] == moved.event("/edited", 2)["old_sha256"]


def test_the_source_leaves_the_records_and_keeps_its_history(moved: Scene) -> None:
    texts, rows = moved.texts(), moved.rows()
    assert texts.keys() == {"/", *TARGETS.values()}
    for path, target in TARGETS.items():
        assert rows[path]["redirect_to"] == moved.url(target)
        assert rows[path]["status"] == MOVES[path][0]
        assert rows[path]["next_due"] == moved.now + timedelta(days=30)
        assert rows[path]["content_sha256"] is not None
    assert (rows["/same-new"]["etag"], rows["/same-new"]["redirect_to"]) == ('"s"', None)
    assert not {"/chain-1", "/chain-2", "/really"} & rows.keys(), "hops have no rows of their own"


def test_no_condition_follows_a_redirect(moved: Scene) -> None:
    for path in ("/same-new", "/permanent-new", "/chain-end", "/really"):
        assert [entry.conditional for entry in moved.asked(path)] == [False]


def test_afterwards_the_target_is_revalidated_and_the_source_left_alone(moved: Scene) -> None:
    moved.visit()
    assert moved.events(3) == []
    assert not moved.asked_paths() & MOVES.keys()
    hopped = {"/stop", "/really"}
    assert {entry.status for entry in moved.asked() if entry.path not in hopped} == {304}
    assert [entry.status for entry in moved.asked("/really")] == [304]


def test_a_source_that_answers_again_is_restored(moved: Scene) -> None:
    moved.origin.pages["/same"] = page("Text of /same", '"/same"', OLD_DATE)
    moved.origin.pages["/permanent"] = page("Back with news", '"back"', OLD_DATE)
    moved.visit(later=timedelta(days=30))
    assert [entry.conditional for entry in moved.asked("/same")] == [False]
    assert moved.events(4) == [("restored", "/permanent"), ("restored", "/same")]
    assert "+Back with news" in moved.event("/permanent", 4)["diff"]
    assert moved.event("/same", 4)["old_sha256"] == moved.event("/same", 4)["new_sha256"]
    assert moved.row("/same")["redirect_to"] is None
    assert moved.texts()["/same"] == "Text of /same"


CODES = (302, 303, 307)


@pytest.fixture(scope="module")
def led(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A site with temporary redirects: as found, revisited, and after they lead elsewhere."""

    def agreeing(request: Request) -> Reply:
        return not_modified()(request) if request.conditional else page("Right data", '"one"')(request)

    pages: dict[str, Answer] = {"/page": page("Page", '"tag"', OLD_DATE), "/hop": page("Hop", '"tag"', OLD_DATE)}
    pages |= {"/alias": redirect(301, "/real"), "/real": page("Real", '"1"'), "/alias-2": redirect(308, "/fresh")}
    pages["/fresh"] = page("Fresh", '"1"')
    for code in CODES:
        pages |= {
            f"/{code}": redirect(code, f"/hop-{code}"),
            f"/hop-{code}": page(f"Where {code} led", '"one"', OLD_DATE),
            f"/other-{code}": agreeing,
        }
    with PagesOrigin(pages) as origin:
        origin.listed = dict.fromkeys([*(f"/{code}" for code in CODES), "/page", "/alias", "/real", "/alias-2"])
        scene = Scene(tmp_path_factory.mktemp("led"), origin)
        scene.visit()
        origin.pages["/page"] = redirect(302, "/hop")
        scene.visit()
        origin.pages |= {f"/{code}": redirect(code, f"/other-{code}") for code in CODES}
        origin.pages["/page"] = page("Page again", '"tag"', OLD_DATE)
        scene.visit()
        yield scene


def test_a_temporary_redirect_keeps_the_record_under_the_source(led: Scene) -> None:
    held = {"/", "/302", "/303", "/307", "/page", "/real", "/fresh"}
    assert led.events(1) == [("new", path) for path in sorted(held)]
    assert led.rows().keys() == held, "hops have no rows of their own"
    for code in CODES:
        (hop,) = led.asked(f"/hop-{code}", visit=2)
        assert (hop.headers["if-none-match"], hop.headers["if-modified-since"], hop.status) == ('"one"', OLD_DATE, 304)
        assert [entry.conditional for entry in led.asked(f"/{code}", visit=2)] == [False]
        assert led.row(f"/{code}")["etag"] is None


def test_a_304_of_a_hop_counts_only_while_the_source_leads_there(led: Scene) -> None:
    for code in CODES:
        assert not led.asked(f"/other-{code}", visit=3)[0].conditional, "another hop gets no condition"
        assert led.texts()[f"/{code}"] == "Right data"
    hops = led.site.state("SELECT hop_url, etag, last_modified FROM redirect_hops ORDER BY hop_url")
    assert hops == [(led.url(f"/other-{code}"), '"one"', None) for code in CODES]


def test_validators_never_cross_between_a_page_and_the_hop_of_its_redirect(led: Scene) -> None:
    assert led.asked("/page", visit=2)[0].conditional
    assert not led.asked("/hop", visit=2)[0].conditional
    assert led.events(2) == [("changed", "/page")]
    assert not led.asked("/page", visit=3)[0].conditional, "the hop's tag says nothing about the page"
    assert led.texts()["/page"] == "Page again"
    assert led.row("/page")["etag"] == '"tag"'
    assert led.events(3) == [("changed", path) for path in ("/302", "/303", "/307", "/page")]


def test_a_url_that_was_never_held_moves_without_an_event(led: Scene) -> None:
    assert not [event for event in led.events() if event[1].startswith("/alias")]
    assert led.known("/alias", "redirect_to") == led.url("/real")


def test_a_redirect_that_leads_nowhere_good_is_a_failed_check(tmp_path: Path, origin: PagesOrigin) -> None:
    elsewhere = "http://127.0.0.2:1/"
    bad: dict[str, tuple[Answer, str]] = {
        "/loop": (redirect(302, "/loop-2"), "error"),
        "/self": (redirect(301, "/self"), "error"),
        "/no-location": (status(301), "error"),
        "/empty-location": (redirect(302, ""), "error"),
        "/mail": (redirect(301, "mailto:a@example.org"), "error"),
        "/nonsense": (redirect(302, "http://[::1"), "error"),
        "/elsewhere": (redirect(301, elsewhere), "refused"),
        "/excluded": (redirect(301, "/private/x"), "refused"),
        "/home": (redirect(301, "/"), "blocked"),
        "/home-temporary": (redirect(302, "/"), "blocked"),
        "/long": (redirect(302, "/long/1"), "error"),
        "/broken-target": (redirect(301, "/broken"), "retry_later"),
        "/empty-target": (redirect(301, "/blank"), "empty"),
        "/unsure": (redirect(302, "/flapping"), "suspect_gone"),
    }
    lost: dict[str, Answer] = {
        "/gone-temporary": redirect(302, "/nothing"),
        "/gone-for-good": redirect(301, "/no-more"),
    }
    origin.pages |= {path: page(f"Text of {path}", '"old"', OLD_DATE) for path in (*bad, *lost)}
    origin.listed = dict.fromkeys([*bad, *lost])
    scene = Scene(tmp_path, origin, scope={"exclude": ["/private/**"]})
    scene.visit()
    origin.pages |= lost | {path: answer for path, (answer, _) in bad.items()}
    origin.pages |= {f"/long/{n}": redirect(302, f"/long/{n + 1}") for n in range(1, 20)}
    origin.pages |= {
        "/loop-2": redirect(302, "/loop"),
        "/private/x": page("Private"),
        "/broken": status(500),
        "/blank": status(200, body=b"<p></p>"),
        "/flapping": in_turn(status(404), page("Here")),
        "/no-more": status(410),
    }
    scene.visit()
    rows, texts = scene.rows(), scene.texts()
    assert scene.events(2) == [("gone", "/gone-for-good"), ("gone", "/gone-temporary")], "the last hop is gone"
    assert (len(scene.asked("/nothing")), len(scene.asked("/no-more"))) == (2, 1)
    assert texts.keys() == {"/", *bad}
    for path, (_, outcome) in bad.items():
        assert texts[path] == f"Text of {path}"
        assert (rows[path]["etag"], rows[path]["status"], rows[path]["redirect_to"]) == ('"old"', 200, None), path
        assert rows[path]["last_checked"] == scene.now - DAY, path
        if outcome != "empty":
            assert rows[path]["failures"] == 1, path
            last = scene.site.query(
                f"SELECT outcome, error FROM {{observations}} WHERE visit = 2 AND url = '{scene.url(path)}'"
            )
            assert last[0][0] in (outcome, "moved"), path
    assert "/private/x" not in scene.asked_paths(), "what is out of scope is not asked"
    assert len([path for path in scene.asked_paths() if path.startswith("/long/")]) <= 10
    assert len(scene.asked("/loop")) == 1


def test_a_page_that_moves_on_is_told_again(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/a": page("Text", '"1"'), "/b": page("Text", '"1"'), "/c": page("Text", '"1"')}
    origin.listed = {"/a": None}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/a"] = redirect(301, "/b")
    scene.visit()
    assert scene.events(2) == [("moved", "/a")]
    origin.pages["/a"] = redirect(301, "/c")
    origin.pages["/b"] = redirect(301, "/c")
    scene.visit()
    assert scene.events(3) == [("moved", "/a"), ("moved", "/b")]
    assert scene.texts().keys() == {"/", "/c"}
    scene.visit()
    assert scene.events(4) == []
