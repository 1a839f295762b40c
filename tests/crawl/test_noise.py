"""Pages without declared fields: what moves at every load is noise, an edit between two loads never is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import HTML, PagesOrigin, Scene, html, in_turn, page


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    """An origin without pages but the start."""
    with PagesOrigin() as started:
        yield started


class Counted:
    """A page whose visitors are counted at every load; its `text` can be edited."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._visitors = count(1000)

    def __call__(self, request: Request) -> Reply:
        """One load."""
        return Reply(200, (HTML,), html(self.text, f"<aside class='seen'>Visitor {next(self._visitors)}</aside>"))


def test_a_counter_is_noise_and_an_edit_beside_it_is_news(tmp_path: Path, origin: PagesOrigin) -> None:
    shown = origin.pages["/a"] = Counted("The price of tea")
    scene = Scene(tmp_path, origin)
    scene.visit()
    scene.visit()
    assert scene.events(2) == []
    shown.text = "The price of coffee"
    scene.visit()
    assert scene.events(3) == [("changed", "/a")]
    assert "Visitor" not in scene.event("/a", 3)["diff"].replace("Visitor …", "")
    scene.visit()
    assert scene.events(4) == []


@pytest.mark.parametrize(
    "loads",
    [
        pytest.param(("alpha", "beta", "beta"), id="edited between two loads"),
        pytest.param(("beta", "before", "beta"), id="a back end lags behind"),
        pytest.param(("alpha", "beta", "gamma", "beta"), id="edited at every load"),
    ],
)
def test_an_edit_in_the_middle_of_a_visit_is_told_in_a_later_one(
    tmp_path: Path, origin: PagesOrigin, loads: tuple[str, ...]
) -> None:
    origin.pages["/a"] = page("before")
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/a"] = in_turn(*(page(text) for text in loads))
    for _ in range(3):
        scene.visit()
    events = [event for visit in (2, 3, 4) for event in scene.events(visit)]
    assert events == [("changed", "/a")]
    assert scene.texts()["/a"].splitlines()[-1] == "beta"
