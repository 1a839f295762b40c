"""Redirects hop by hop: a permanent one moves a page, a temporary one never mixes two pages' data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import (
    DAY,
    HTML,
    OLD_DATE,
    Answer,
    PagesOrigin,
    Scene,
    html,
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


def test_a_temporary_redirect_keeps_the_record_under_the_source(tmp_path: Path, origin: PagesOrigin) -> None:
    def agreeing(request: Request) -> Reply:
        return not_modified()(request) if request.conditional else page("Right data", '"one"')(request)

    codes = (302, 303, 307)
    origin.listed = {f"/{code}": None for code in codes}
    for code in codes:
        origin.pages |= {
            f"/{code}": redirect(code, f"/hop-{code}"),
            f"/hop-{code}": page(f"Where {code} led", '"one"', OLD_DATE),
            f"/other-{code}": agreeing,
        }
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.events(1) == [("new", "/"), ("new", "/302"), ("new", "/303"), ("new", "/307")]
    for code in codes:
        assert scene.texts()[f"/{code}"] == f"Where {code} led"
        assert scene.row(f"/{code}")["etag"] is None
    assert scene.site.state("SELECT url, hop_url, etag, last_modified FROM redirect_hops ORDER BY url") == [
        (scene.url(f"/{code}"), scene.url(f"/hop-{code}"), '"one"', OLD_DATE) for code in codes
    ]

    scene.visit()
    for code in codes:
        assert [entry.conditional for entry in scene.asked(f"/{code}")] == [False]
        (hop,) = scene.asked(f"/hop-{code}")
        assert (hop.headers["if-none-match"], hop.headers["if-modified-since"], hop.status) == ('"one"', OLD_DATE, 304)
        assert scene.row(f"/{code}")["last_checked"] == scene.now

    origin.pages |= {f"/{code}": redirect(code, f"/other-{code}") for code in codes}
    scene.visit()
    for code in codes:
        assert not scene.asked(f"/other-{code}")[0].conditional, "another hop gets no condition"
        assert scene.texts()[f"/{code}"] == "Right data"
    assert scene.events(3) == [("changed", f"/{code}") for code in codes]
    assert scene.rows().keys() == {"/", "/302", "/303", "/307"}


def test_validators_never_cross_between_a_page_and_the_hop_of_its_redirect(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/page": page("Page", '"tag"', OLD_DATE),
        "/hop": page("Hop", '"tag"', OLD_DATE),
    }
    origin.listed = {"/page": None}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/page"] = redirect(302, "/hop")
    scene.visit()
    assert scene.asked("/page")[0].conditional
    assert not scene.asked("/hop")[0].conditional
    assert scene.texts()["/page"] == "Hop"
    origin.pages["/page"] = page("Page again", '"tag"', OLD_DATE)
    scene.visit()
    assert [entry.conditional for entry in scene.asked("/page")][:1] == [False], (
        "the hop's tag says nothing about the page"
    )
    assert scene.texts()["/page"] == "Page again"
    scene.visit()
    assert [(entry.path, entry.status) for entry in scene.asked() if entry.path != "/"] == [("/page", 304)]
    assert [scene.events(visit) for visit in (2, 3, 4)] == [[("changed", "/page")], [("changed", "/page")], []]


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
    }
    origin.pages |= {path: page(f"Text of {path}", '"old"', OLD_DATE) for path in bad}
    origin.listed = dict.fromkeys(bad)
    scene = Scene(tmp_path, origin, scope={"exclude": ["/private/**"]})
    scene.visit()
    origin.pages |= {path: answer for path, (answer, _) in bad.items()}
    origin.pages |= {f"/long/{n}": redirect(302, f"/long/{n + 1}") for n in range(1, 20)}
    origin.pages |= {
        "/loop-2": redirect(302, "/loop"),
        "/private/x": page("Private"),
        "/broken": status(500),
        "/blank": status(200, body=b"<p></p>"),
    }
    scene.visit()
    rows, texts = scene.rows(), scene.texts()
    assert scene.events(2) == []
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


def test_a_url_that_was_never_held_moves_without_an_event(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/alias": redirect(301, "/real"),
        "/real": page("Real", '"1"'),
        "/alias-2": redirect(308, "/fresh"),
    }
    origin.pages["/fresh"] = page("Fresh", '"1"')
    origin.listed = dict.fromkeys(["/alias", "/real", "/alias-2"])
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.events(1) == [("new", "/"), ("new", "/fresh"), ("new", "/real")]
    assert scene.texts().keys() == {"/", "/real", "/fresh"}
    scene.visit()
    assert scene.events(2) == []


def test_a_page_that_moves_on_is_told_again(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/a": page("Text", '"1"'), "/b": page("Text", '"1"'), "/c": page("Text", '"1"')}
    origin.listed = {"/a": None}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/a"] = redirect(301, "/b")
    scene.visit()
    scene.visit()
    assert scene.events(3) == []
    origin.pages["/a"] = redirect(301, "/c")
    origin.pages["/b"] = redirect(301, "/c")
    scene.visit()
    assert scene.events(4) == [("moved", "/a"), ("moved", "/b")]
    assert scene.texts().keys() == {"/", "/c"}
    scene.visit()
    assert scene.events(5) == []


def test_the_gone_end_of_a_redirect_makes_its_source_gone(tmp_path: Path, origin: PagesOrigin) -> None:
    flapping = iter([404, 200])

    def twice(request: Request) -> Reply:
        code = next(flapping)
        return Reply(code, (HTML,), html("Here"))

    origin.pages |= {path: page(f"Text of {path}", '"1"') for path in ("/temporary", "/for-good", "/unsure")}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.listed = dict.fromkeys(["/temporary", "/for-good", "/unsure"])
    origin.pages |= {
        "/temporary": redirect(302, "/nothing"),
        "/for-good": redirect(301, "/nothing-more"),
        "/nothing-more": status(410),
        "/unsure": redirect(302, "/flapping"),
        "/flapping": twice,
    }
    scene.visit()
    assert scene.events(2) == [("gone", "/for-good"), ("gone", "/temporary")]
    assert len(scene.asked("/nothing")) == 2
    assert len(scene.asked("/nothing-more")) == 1
    assert scene.texts().keys() == {"/", "/unsure"}
