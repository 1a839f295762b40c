"""A visit that reaches its budget stops asking, publishes what it has, and the next one goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import OLD_DATE, PagesOrigin, Scene, html, page, sending

SLOW = {"requests_per_second": None, "sweep_concurrency": 1, "fetch_concurrency": 1}
HOUR = timedelta(hours=1)


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin({f"/{n:02}": page(f"Page {n}", '"1"', OLD_DATE) for n in range(20)}) as running:
        yield running


def test_requests_are_counted_and_planned_pages_come_first_next_time(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, budget={"requests_per_visit": 10}, politeness=SLOW, cadence={"default": "1d"})
    seen: set[str] = set()
    for visit in (1, 2, 3):
        before = len(origin.log)
        numbers = scene.visit(HOUR)
        assert len(origin.log) - before <= 10, "robots.txt and the sitemap are charged too"
        assert numbers["requests"] == len(origin.log) - before
        assert not seen & scene.asked_paths()
        seen |= scene.asked_paths()
        assert len(scene.events(visit)) == len(scene.asked())
    assert len(seen) == 21, "three visits of eight pages"


def test_what_was_planned_and_not_fetched_precedes_what_is_new(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, budget={"requests_per_visit": 12}, politeness=SLOW, cadence={"default": "1d"})
    scene.visit(HOUR)
    assert "come first next time" in scene.site.reports["body_snapshots"].notes["budget"]
    left = {f"/{n:02}" for n in range(20)} - scene.asked_paths()
    origin.pages |= {f"/-{n}": page(f"New {n}") for n in range(9)}
    scene.visit(HOUR)
    assert {entry.path for entry in scene.asked()[:10]} <= left
    assert len(scene.asked()) == 10


def test_bytes_are_counted(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n:02}": sending(html("x" * 10_000), f'"{n}"') for n in range(20)}
    scene = Scene(tmp_path, origin, budget={"bytes_per_visit": "50KB"}, politeness=SLOW)
    scene.visit()
    assert 4 <= len(scene.asked()) <= 6
    assert len(scene.events(1)) == len(scene.asked())


def test_time_is_counted_over_all_stages_of_a_visit(tmp_path: Path, origin: PagesOrigin) -> None:
    def slow(request: Request) -> Reply:
        return replace(page("Slow", '"1"', OLD_DATE)(request), delay_s=0.15)

    origin.pages |= {f"/{n:02}": slow for n in range(20)}
    scene = Scene(tmp_path, origin, budget={"time_per_visit": "1s"}, politeness=SLOW)
    scene.visit()
    first = len(scene.asked())
    assert 1 < first < 12
    assert len(scene.events(1)) == first
    scene.visit()
    assert 0 < len(scene.asked()) < 16, "sweep and fetches share one second"
    assert "gone" not in {kind for kind, _ in scene.events()}


def test_a_spent_budget_reserves_room_for_the_plan_of_the_sweep(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, politeness=SLOW)
    scene.visit()
    origin.pages |= {f"/new-{n}": page(f"New {n}") for n in range(5)}
    scene.configure(budget={"requests_per_visit": 14})
    numbers = scene.visit()
    assert numbers["new"] == 5, "the new pages are fetched although more pages were due than the budget allows"
    assert numbers["requests"] <= 14


def test_what_robots_txt_refuses_costs_nothing(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/closing/{n}": page("Page", '"1"') for n in range(30)}
    scene = Scene(tmp_path, origin, gate={"failed": 1.0, "confirm_gone_after": "0s"})
    scene.visit()
    closed = b"User-agent: *\nDisallow: /closing/\n"
    origin.pages["/robots.txt"] = sending(closed, None, None, ("Content-Type", "text/plain"))
    origin.pages |= {f"/new-{n}": page("New") for n in range(10)}
    scene.configure(budget={"requests_per_visit": 40})
    before = len(origin.log)
    numbers = scene.visit()
    assert (numbers["failed"], numbers["304 not modified"], numbers["new"]) == (30, 21, 10)
    assert numbers["requests"] == len(origin.log) - before == 33


def test_a_budget_that_ends_between_a_fetch_and_its_second_look_keeps_the_old_record(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    origin.pages = {"/": page("Start"), "/page": page("Before")}
    scene = Scene(tmp_path, origin, politeness=SLOW)
    scene.visit()
    origin.pages["/page"] = page("After")
    scene.configure(budget={"requests_per_visit": 4})
    scene.visit()
    assert scene.texts()["/page"] == "Before"
    assert scene.events(2) == []
    scene.configure(budget={"requests_per_visit": None})
    scene.visit()
    assert scene.asked()[0].path == "/page"
    assert scene.events(3) == [("changed", "/page")]
