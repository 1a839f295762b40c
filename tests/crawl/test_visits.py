"""A visit belongs to the day on which it opened, ends before the next one opens, and does what it was asked to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from incremental_crawl.config.loading import load_sites
from incremental_crawl.stages import gates
from incremental_crawl.storage.visits import VisitOptions, VisitRefused
from tests.crawl.pages_origin import DAY, OLD_DATE, PagesOrigin, Scene, page, status
from tests.crawl.visiting import STAGES

LATE = datetime(2026, 5, 1, 23, 59, tzinfo=UTC)


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin({f"/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(6)}) as running:
        yield running


@pytest.mark.parametrize("done", [2, 5])
def test_a_visit_that_is_interrupted_before_midnight_ends_in_its_day(
    tmp_path: Path, origin: PagesOrigin, done: int
) -> None:
    scene = Scene(tmp_path, origin, cadence={"default": "1d"})
    scene.site.now = LATE
    scene.visit(timedelta(0), stages=STAGES[:done])
    asked = len(origin.log)
    scene.wait(timedelta(hours=9))
    with pytest.raises(VisitRefused, match=r"visit 1 of 2026-05-01 is not finished: .*incremental-crawl crawl site"):
        scene.visit(timedelta(0))
    day = gates.day_to_run(scene.site.layout, scene.now, 1)
    assert day == LATE.date()
    run = scene.site.run(day=LATE)
    for stage in STAGES:
        stage(run)
    assert scene.site.query("SELECT DISTINCT visit, day::VARCHAR FROM {page_diffs}") == [(1, "2026-05-01")]
    assert len(scene.events(1)) == 7
    assert scene.site.query("SELECT count(DISTINCT url) FROM {body_snapshots} WHERE day = '2026-05-01'") == [(7,)]
    pages = [entry.path for entry in list(origin.log)[asked:] if entry.path.strip("/").isdigit()]
    assert len(pages) == (6 if done < 3 else 0), "what was fetched is not fetched again"
    assert gates.day_to_run(scene.site.layout, scene.now, 1) == scene.now.date()


def test_a_new_visit_for_yesterday_is_refused_in_one_sentence(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin)
    scene.visit()
    yesterday = scene.now - DAY
    asked = len(origin.log)
    for stage in STAGES[:2]:
        with pytest.raises(VisitRefused) as refusal:
            stage(scene.site.run(day=yesterday))
        sentence = str(refusal.value)
        assert f"`incremental-crawl reparse site --from {yesterday.date()}`" in sentence
        assert sentence.startswith(f"a new visit can only be opened for today ({scene.now.date()}), not for")
        assert "\n" not in sentence
    with pytest.raises(VisitRefused, match="only be opened for today"):
        STAGES[0](scene.site.run(day=scene.now + DAY))
    assert len(origin.log) == asked
    assert scene.site.state("SELECT count(*) FROM visits") == [(1,)]


def test_stages_out_of_order_say_what_comes_first(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin)
    for stage in (STAGES[2], STAGES[4]):
        with pytest.raises(VisitRefused, match="no visit of 2026-05-01 is open for site: `incremental-crawl crawl"):
            stage(scene.site.run())
    scene.visit(timedelta(0), stages=STAGES[:2])
    with pytest.raises(VisitRefused, match="visit 1 of 2026-05-01 has not finished body_snapshots"):
        STAGES[3](scene.site.run())


def test_stages_that_run_twice_do_their_work_once_and_every_visit_has_files_of_its_own(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    scene = Scene(tmp_path, origin, gate={"confirm_gone_after": "0s"})
    scene.visit()
    origin.pages |= {"/1": page("Changed", '"new"'), "/2": status(404), "/3": status(410)}
    twice = tuple(stage for stage in STAGES for _ in range(2))[:-1]
    scene.visit(timedelta(hours=1), stages=twice)
    assert scene.events(2) == [("changed", "/1"), ("gone", "/2"), ("gone", "/3")]
    purposes = scene.site.query("SELECT purpose, count(*) FROM {observations} WHERE visit = 2 GROUP BY 1")
    assert dict(purposes) == {"robots": 1, "sitemap": 1, "sweep": 7, "mask": 2, "confirm": 1}
    day = scene.site.layout.root / "page_diffs" / "site=site" / f"day={scene.now.date()}"
    assert sorted(path.name for path in day.iterdir()) == ["visit-1.parquet", "visit-2.parquet"]
    ids = [row[0] for row in scene.site.query("SELECT event_id FROM {page_diffs} ORDER BY visit, event_id")]
    assert ids == sorted(set(ids)), "sortable by visit, each once"


def test_sites_do_not_know_of_each_other(tmp_path: Path, origin: PagesOrigin) -> None:
    with PagesOrigin({"/x": status(500), "/y": page("Y")}) as other:
        scene, second = Scene(tmp_path / "one", origin), Scene(tmp_path / "two", other)
        (tmp_path / "one" / "sites" / "broken.yaml").write_text("start_urls: nowhere\n")
        catalogue = load_sites(tmp_path / "one" / "sites")
        assert (set(catalogue.sites), set(catalogue.broken)) == ({"site"}, {"broken"})
        scene.visit()
        first = scene.rows()
        second.visit(stages=STAGES[:3])
        scene.visit()
        assert scene.events(2) == []
        assert scene.rows().keys() == first.keys()
        assert second.rows() == {}
        assert second.site.state("SELECT status FROM visits") == [("open",)]


def test_options_ask_for_all_for_some_or_for_few_pages(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, cadence={"default": "1d"})
    scene.visit(options=VisitOptions(page_limit=3))
    assert len(scene.asked()) == 3
    scene.visit(timedelta(hours=1), VisitOptions(page_limit=2))
    assert len(scene.asked()) == 2, "those that were not asked yet"
    scene.visit(timedelta(hours=1))
    assert len(scene.asked()) == 2
    assert len(scene.events()) == 7

    scene.visit(timedelta(hours=1), VisitOptions(only_urls=(scene.url("/4"),)))
    assert [(entry.path, entry.status) for entry in scene.asked()] == [("/4", 304)]
    origin.pages["/2"] = status(404)
    scene.visit(timedelta(hours=1), VisitOptions(every_page=True))
    assert scene.asked_paths() == {"/", *(f"/{n}" for n in range(6))}
    assert scene.events(5) == [("gone", "/2")]
    scene.visit(timedelta(hours=1), VisitOptions(every_page=True))
    assert "/2" in scene.asked_paths(), "all means gone ones too"


def test_every_run_asks_failed_and_gone_pages_in_every_visit_and_says_so_in_numbers(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    scene = Scene(tmp_path, origin)
    origin.pages["/never"] = status(404)
    scene.visit()
    origin.pages |= {"/1": page("Changed", '"new"'), "/2": status(410), "/3": status(500), "/new": page("New")}
    before = len(origin.log)
    numbers = scene.visit(timedelta(minutes=1))
    expected = {
        "pages known": 9,
        "pages live": 7,
        "due": 9,
        "asked": 9,
        "304 not modified": 4,
        "changed": 1,
        "new": 1,
        "gone": 1,
        "failed": 1,
        "same hash": 0,
        "moved": 0,
        "restored": 0,
        "requests": len(origin.log) - before,
    }
    assert {name: numbers[name] for name in expected} == expected
    received = scene.site.query("SELECT sum(bytes) FROM {observations} WHERE visit = 2")
    assert received == [(numbers["bytes received"],)]
    scene.visit(timedelta(minutes=1))
    assert scene.asked_paths() == {"/", *(f"/{n}" for n in range(6)), "/never", "/new"}
