"""Gone is said only when it is sure, is said once, and is taken back when the page returns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import (
    DAY,
    Answer,
    PagesOrigin,
    Scene,
    dropped,
    in_turn,
    not_modified,
    page,
    status,
)

LOST: dict[str, Answer] = {
    "/404-404": status(404),
    "/404-410": in_turn(status(404), status(410)),
    "/410": status(410),
}
SPARED: dict[str, Answer] = {
    "/404-200": in_turn(status(404), page("Text of /404-200", '"old"')),
    "/404-500": in_turn(status(404), status(500)),
    "/404-403": in_turn(status(404), status(403)),
    "/404-dropped": in_turn(status(404), dropped),
    "/404-304": in_turn(status(404), not_modified()),
    "/404-other": in_turn(status(404), page("Something else", '"new"')),
    "/404-again": in_turn(*(status(404), page("Text of /404-again")) * 9),
}


@pytest.fixture(scope="module")
def vanishing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A site of which pages vanished, or seemed to, between its two visits."""
    held = {path: page(f"Text of {path}", '"old"') for path in (*LOST, *SPARED)}
    with PagesOrigin({**held, "/never": status(404)}) as origin:
        scene = Scene(tmp_path_factory.mktemp("vanishing"), origin, cadence={"default": "1d", "max": "3d"})
        scene.visit()
        origin.pages |= LOST | SPARED
        scene.visit()
        yield scene


def test_only_a_repeated_404_or_a_410_buries_a_page(vanishing: Scene) -> None:
    assert vanishing.events(2) == [("gone", path) for path in sorted(LOST)]
    assert vanishing.texts().keys() == {"/", *SPARED}
    assert [entry.status for entry in vanishing.asked("/404-404")] == [404, 404]
    assert [entry.status for entry in vanishing.asked("/410")] == [410], "a 410 needs no second request"
    assert vanishing.observed("/404-404", 2) == ["suspect_gone", "gone"]
    assert vanishing.observed("/404-404", 2, "purpose") == ["sweep", "confirm"]
    confirm = vanishing.asked("/404-404")[1]
    assert not confirm.conditional
    assert confirm.headers["cache-control"] == "no-cache"


def test_another_second_answer_leaves_the_page_as_it_was(vanishing: Scene) -> None:
    rows, texts = vanishing.rows(), vanishing.texts()
    for path in SPARED:
        row = rows[path]
        assert (row["gone_since"], row["status"], row["etag"]) == (None, 200, '"old"'), path
        assert texts[path] == f"Text of {path}"
        assert vanishing.observed(path, 2)[-1] == "suspect_gone"
        assert vanishing.now < row["next_due"] <= vanishing.now + timedelta(minutes=15)


def test_a_tombstone_names_what_was_last_held(vanishing: Scene) -> None:
    rows = vanishing.rows()
    found = {
        url.removeprefix(vanishing.origin.base_url): (code, digest)
        for url, code, digest in vanishing.site.query("SELECT url, status, last_sha256 FROM {tombstones}")
    }
    assert {path: code for path, (code, _) in found.items()} == {"/404-404": 404, "/404-410": 410, "/410": 410}
    for path in LOST:
        assert found[path][1] == rows[path]["content_sha256"] == vanishing.event(path, 2)["old_sha256"]
        assert rows[path]["gone_since"] == vanishing.now


def test_a_url_that_was_never_held_is_never_gone(vanishing: Scene) -> None:
    assert vanishing.known("/never", "held") is False
    assert not [event for event in vanishing.events() if event[1] == "/never"]
    assert "/never" not in vanishing.rows()
    assert len(vanishing.asked("/never")) == 1


def test_a_gone_page_is_probed_without_a_condition_ever_more_rarely(vanishing: Scene) -> None:
    waits = []
    for _ in range(3):
        due = vanishing.row("/404-404")["next_due"]
        waits.append((due - vanishing.now) / DAY)
        vanishing.visit(later=due - vanishing.now)
        probes = vanishing.asked("/404-404")
        assert [entry.conditional for entry in probes] == [False], "one request, whatever was once stored"
        assert not [event for event in vanishing.events(2 + len(waits)) if event[0] == "gone"]
    assert waits == [1, 2, 3], "doubling up to cadence.max"


def test_a_comeback_is_restored_and_linked_to_what_was_held(vanishing: Scene) -> None:
    origin = vanishing.origin
    origin.pages |= {
        "/404-404": page("Text of /404-404", '"old"'),
        "/410": page("Back with another text", '"back"'),
        "/404-410": lambda request: (
            not_modified()(request) if request.conditional else page("Text of /404-410")(request)
        ),
    }
    vanishing.visit(later=timedelta(days=3))
    visit = vanishing.site.state("SELECT max(visit) FROM visits")[0][0]
    restored = [event for event in vanishing.events(visit) if event[0] == "restored"]
    assert restored == [("restored", path) for path in sorted(LOST)]
    assert vanishing.row("/410")["last_changed"] == vanishing.now
    assert vanishing.row("/404-404")["last_changed"] < vanishing.row("/410")["last_changed"], "it says what it said"
    for path in LOST:
        assert vanishing.event(path, visit)["old_sha256"] == vanishing.event(path, 2)["old_sha256"]
        assert vanishing.row(path)["gone_since"] is None
    assert "+Back with another text" in vanishing.event("/410", visit)["diff"]
    assert vanishing.event("/404-404", visit)["diff"] == ""
    assert {"/404-404", "/410", "/404-410"} <= vanishing.texts().keys()

    vanishing.visit()
    assert [entry.status for entry in vanishing.asked("/404-404")] == [304]
    assert vanishing.events(visit + 1) == []


def test_a_gone_page_that_is_listed_anew_is_asked_at_once(tmp_path: Path) -> None:
    with PagesOrigin({"/a": page("A", '"1"'), "/b": page("B", '"1"')}) as origin:
        scene = Scene(tmp_path, origin, cadence={"default": "10d", "max": "30d"})
        origin.listed = {"/a": None, "/b": None}
        scene.visit()
        origin.pages["/a"] = status(410)
        scene.visit(later=timedelta(days=10))
        assert scene.events(2) == [("gone", "/a")]
        origin.listed = {"/b": None}
        scene.visit(later=timedelta(hours=1))
        assert scene.asked() == []
        origin.listed = {"/a": None, "/b": None}
        origin.pages["/a"] = page("A", '"1"')
        scene.visit(later=timedelta(hours=1))
        assert scene.asked_paths() == {"/a"}
        assert scene.events(4) == [("restored", "/a")]


def test_the_second_request_comes_after_the_time_to_confirm(tmp_path: Path) -> None:
    asked_at: list[float] = []

    def vanished(_: Request) -> Reply:
        asked_at.append(time.monotonic())
        return Reply(404)

    with PagesOrigin({"/a": in_turn(page("A", '"1"'), vanished)}) as origin:
        scene = Scene(tmp_path, origin, gate={"confirm_gone_after": "1s"})
        scene.visit()
        scene.visit()
        first, second = asked_at
        assert second - first >= 1.0
        assert scene.events(2) == [("gone", "/a")]
