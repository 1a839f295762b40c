"""When a site breaks rather than changes, a person decides: nothing is buried or folded, and nothing is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.stages import gates
from incremental_crawl.storage.visits import VisitRefused
from tests.crawl.pages_origin import DAY, PagesOrigin, Scene, page, sending, status
from tests.crawl.visiting import STAGES

MANY = 24
GATE = {"min_pages": 20, "changed": 0.5, "gone": 0.2, "failed": 0.5, "confirm_gone_after": "0s"}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin({f"/{n:02}": page(f"Page {n}", '"1"') for n in range(MANY)}) as running:
        yield running


def put_up(origin: PagesOrigin, count: int, tag: str | None, text: str = "Rewritten") -> set[str]:
    """Change the first `count` pages; returns their paths."""
    paths = {f"/{n:02}" for n in range(count)}
    origin.pages |= {path: page(f"{text} {path}", tag) for path in paths}
    return paths


def stopped(scene: Scene, later: timedelta = DAY) -> str:
    """A visit that a gate stops; returns the sentence."""
    with pytest.raises(VisitRefused) as refusal:
        scene.visit(later)
    return str(refusal.value)


def go_on(scene: Scene) -> None:
    """Finish the visit under way, whatever day it belongs to."""
    day = gates.day_to_run(scene.site.layout, scene.now, 1)
    run = scene.site.run(day=scene.now.replace(year=day.year, month=day.month, day=day.day))
    for stage in STAGES:
        stage(run)


def test_churn_at_the_sweep_freezes_the_plan_until_a_later_day(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, gate=GATE)
    scene.visit()
    scene.visit()
    before = scene.rows()
    rewritten = put_up(origin, 16, '"2"')
    sentence = stopped(scene)
    assert "16 of 25 pages changed (64%), above gate.changed = 50%" in sentence
    assert "incremental-crawl review site" in sentence
    report = gates.gate_report(scene.site.run(), "revalidation_sweep")
    assert (report.passed, report.numbers["changed"], report.numbers["compared"]) == (False, 16, 25)
    (waiting,) = gates.waiting_plans(scene.site.run())
    assert (waiting.pages, waiting.by_reason, waiting.incomplete) == (16, {"modified": 16}, False)
    friday = scene.now.date()

    origin.pages["/20"] = page("One more", '"2"')
    scene.visit()
    assert scene.asked_paths() == {"/", *(f"/{n:02}" for n in range(16, MANY))}, "the plan's pages are not asked"
    assert scene.events(4) == [("changed", "/20")]
    assert {path: scene.row(path)["etag"] for path in rewritten} == dict.fromkeys(rewritten, '"1"')
    assert scene.row("/00")["last_checked"] == before["/00"]["last_checked"]

    scene.wait(2 * DAY)
    asked = len(origin.log)
    gates.approve(scene.site.run(), even_if_incomplete=False)
    go_on(scene)
    again = [entry.path for entry in list(origin.log)[asked:] if entry.status == 200 and entry.path in rewritten]
    assert set(again) <= rewritten
    assert not [entry for entry in list(origin.log)[asked:] if entry.conditional], "approval does not sweep again"
    assert scene.events(3) == [("changed", path) for path in sorted(rewritten)]
    assert {path: scene.row(path)["etag"] for path in rewritten} == dict.fromkeys(rewritten, '"2"')
    (days,) = scene.site.query(
        "SELECT DISTINCT regexp_extract(filename, 'day=([0-9-]+)', 1) FROM "
        f"read_parquet('{scene.site.data}/page_diffs/*/*/visit-3.parquet', filename = true)"
    )
    assert days == (friday.isoformat(),)
    scene.visit()
    assert {entry.status for entry in scene.asked()} == {304}
    assert scene.events(5) == []


def test_churn_that_only_digests_tell_stops_before_anything_is_folded(tmp_path: Path, origin: PagesOrigin) -> None:
    put_up(origin, MANY, None, "Page")
    scene = Scene(tmp_path, origin, gate=GATE, cadence={"default": "1d"})
    scene.visit()
    before, texts = scene.rows(), scene.texts()
    put_up(origin, 20, None)
    assert "20 of 25 pages changed (80%)" in stopped(scene)
    report = gates.gate_report(scene.site.run(), "page_records")
    assert not report.passed
    (waiting,) = gates.waiting_plans(scene.site.run())
    assert waiting.gate == "page_records"
    assert len(waiting.samples) == 3
    assert all("-Page /" in sample and "+Rewritten /" in sample for sample in waiting.samples)
    assert scene.rows() == before
    assert scene.texts() == texts
    assert scene.site.state("SELECT count(*) FROM held_records WHERE record LIKE '%Rewritten%'") == [(0,)]

    visit = gates.reject(scene.site.run())
    assert visit.status == "rejected"
    rows = scene.rows()
    assert scene.texts() == texts
    assert {rows[path]["content_sha256"] for path in texts} == {before[path]["content_sha256"] for path in texts}
    assert {rows[path]["next_due"] for path in texts} == {scene.now + DAY}
    assert scene.events(2) == []
    assert scene.observed("/00", 2), "what a rejected visit observed is published"

    scene.visit(timedelta(hours=12))
    assert scene.asked() == []
    assert "20 of 25 pages changed" in stopped(scene, timedelta(hours=12))
    gates.approve(scene.site.run(), even_if_incomplete=False)
    go_on(scene)
    assert len(scene.events(4)) == 20
    assert {kind for kind, _ in scene.events(4)} == {"changed"}
    assert not list(scene.site.layout.spool.glob("*"))


def test_a_mass_disappearance_is_asked_about_and_can_be_rejected(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, gate=GATE, cadence={"default": "1d"})
    scene.visit()
    texts = scene.texts()
    missing = vanish(origin)
    assert "8 of 25 pages disappeared (32%), above gate.gone = 20%" in stopped(scene)
    assert scene.site.query("SELECT count(*) FROM {tombstones}") == [(0,)]
    assert all(len(scene.asked(path)) == 1 for path in missing), "nothing is confirmed before it is approved"

    scene.visit()
    assert not missing & scene.asked_paths(), "the waiting plan's pages are not asked again"
    assert scene.texts() == texts

    gates.reject(scene.site.run())
    scene.visit(timedelta(hours=1))
    assert not missing & scene.asked_paths(), "they are due at their next cadence"
    assert scene.texts() == texts
    assert {scene.row(path)["gone_since"] for path in missing} == {None}
    assert "8 of 25 pages disappeared" in stopped(scene, timedelta(hours=24))


def test_a_mass_disappearance_is_buried_once_it_is_approved(tmp_path: Path, origin: PagesOrigin) -> None:
    put_up(origin, MANY, None, "Page")
    scene = Scene(tmp_path, origin, gate=GATE)
    scene.visit()
    texts, missing = scene.texts(), vanish(origin)
    assert "8 of 25 pages disappeared" in stopped(scene)
    assert scene.texts() == texts
    scene.wait(3 * DAY)
    gates.approve(scene.site.run(), even_if_incomplete=False)
    go_on(scene)
    assert scene.events(2) == [("gone", path) for path in sorted(missing)]
    assert scene.texts().keys() == texts.keys() - missing
    assert scene.site.query("SELECT count(*) FROM {tombstones}") == [(8,)]


def vanish(origin: PagesOrigin) -> set[str]:
    """Let eight pages answer 404; returns their paths."""
    missing = {f"/{n:02}" for n in range(8)}
    origin.pages |= dict.fromkeys(missing, status(404))
    return missing


def test_a_sweep_that_mostly_failed_is_incomplete_and_needs_more_than_an_approval(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    scene = Scene(tmp_path, origin, gate=GATE)
    scene.visit()
    origin.pages |= {f"/{n:02}": status(500) for n in range(18)}
    assert "18 of 25 checks failed (72%), above gate.failed = 50%" in stopped(scene)
    with pytest.raises(VisitRefused, match="--even-if-incomplete"):
        gates.approve(scene.site.run(), even_if_incomplete=False)
    gates.approve(scene.site.run(), even_if_incomplete=True)
    go_on(scene)
    assert scene.events(2) == []
    put_up(origin, MANY, '"1"', "Page")
    origin.pages |= {f"/{n:02}": page(f"Page {n}", '"1"') for n in range(MANY)}
    scene.visit()
    assert {entry.status for entry in scene.asked()} == {304}


def test_a_template_that_lost_its_content_waits_as_a_failure(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, gate=GATE)
    scene.visit()
    texts = scene.texts()
    origin.pages |= {f"/{n:02}": sending(b"<div id=app></div>", f'"new-{n}"') for n in range(20)}
    assert "20 of 25 checks failed" in stopped(scene)
    assert scene.texts() == texts
    gates.reject(scene.site.run())
    origin.pages |= {f"/{n:02}": page(f"Page {n}", '"1"') for n in range(MANY)}
    scene.visit()
    assert {entry.status for entry in scene.asked()} == {304}
    assert scene.events(3) == []


def test_small_sites_small_shares_and_new_pages_pass(tmp_path: Path, origin: PagesOrigin) -> None:
    scene = Scene(tmp_path, origin, gate={**GATE, "gone": 0.4, "min_pages": 25})
    scene.visit()
    put_up(origin, 10, '"2"')
    origin.pages |= {f"/{n:02}": status(410) for n in range(15, MANY)}
    origin.pages |= {f"/new-{n}": page(f"New {n}") for n in range(60)}
    scene.visit()
    assert Counter(kind for kind, _ in scene.events(2)) == {"new": 60, "changed": 10, "gone": 9}

    scene.configure(gate={**GATE, "min_pages": 100})
    origin.pages |= {f"/new-{n}": page(f"Rewritten {n}") for n in range(60)}
    scene.visit()
    assert len(scene.events(3)) == 60, "76 pages are below min_pages"


def test_a_plan_nobody_decides_about_is_dropped_with_its_bodies(tmp_path: Path, origin: PagesOrigin) -> None:
    put_up(origin, MANY, None, "Page")
    scene = Scene(tmp_path, origin, gate=GATE, bodies={"keep_days": 3})
    scene.visit()
    put_up(origin, 20, None)
    stopped(scene)
    assert list(scene.site.layout.spool.glob("*"))
    put_up(origin, MANY, None, "Page")
    scene.visit(timedelta(days=3, hours=1))
    assert len(scene.asked()) == 25
    assert gates.waiting_plans(scene.site.run()) == []
    assert scene.events(2) == scene.events(3) == []
    assert not list(scene.site.layout.spool.glob("*"))
