"""Raw bodies live for their window; the records, the hashes and what a 304 needs outlive them."""

from __future__ import annotations

import shutil
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from incremental_crawl.stages import prune_snapshots
from incremental_crawl.storage.durable import DurableStep, observed_by
from incremental_crawl.storage.layout import Dataset, SiteLayout
from incremental_crawl.storage.lock import site_lock
from tests.crawl.visiting import STAGES, CrawledSite, local_site
from tests.storage.shelf import FIRST_DAY, Shelf, page

PAGES = {f"/page/{n}": page(f"Page {n}", "<p>words " * 50) for n in range(8)}
EIGHT_DAYS = timedelta(days=8)
HOUR = timedelta(hours=1)


def crawled(folder: Path, shelf: Shelf, **settings: Any) -> CrawledSite:
    """The shelf as a site, without audits."""
    return CrawledSite(folder, local_site(shelf.url("/"), revalidation={"audit_share": 0.0}, **settings))


def prune(site: CrawledSite, now: datetime, keep_days: int = 7) -> prune_snapshots.PruneReport:
    """Prune all sites of the data root; `keep_days` is the window of the crawled one."""
    return prune_snapshots.run(site.data, {"site": keep_days}, now, wait_s=0.2)


def files(site: CrawledSite) -> dict[Path, tuple[int, bytes]]:
    """Every published file: when it was written, and what it holds."""
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in site.data.rglob("*.parquet")}


def test_eight_days_later_the_bodies_are_gone_and_the_rest_is_there(tmp_path: Path) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf)
        site.visit(FIRST_DAY)
        kept = "SELECT url, content_sha256, body_sha256, etag, last_changed FROM {pages} ORDER BY url"
        pages, records = site.query(kept), site.query("SELECT * EXCLUDE (last_checked) FROM {records} ORDER BY url")
        versions = site.query("SELECT * FROM {page_records} ORDER BY url")
        assert prune(site, FIRST_DAY + timedelta(days=7)).pruned[0].bodies == 0
        assert site.query("SELECT count(*), count(body_path) FROM {pages}, {body_snapshots}") == [(81, 81)]

        later = FIRST_DAY + EIGHT_DAYS
        assert prune_snapshots.overdue(site.data, {}, later) == {"site": ["2026-05-01"]}
        report = prune(site, later)
        assert (report.pruned[0].bodies, report.pruned[0].days) == (9, (FIRST_DAY.date(),))
        assert site.query("SELECT count(*) FROM {body_snapshots}") == [(0,)]
        assert site.query("SELECT count(body_path) FROM {pages}") == [(0,)]
        assert site.state("SELECT count(*), count(body_path) FROM pages") == [(9, 0)]

        shelf.log.clear()
        site.visit(later)
        asked = [(entry.status, entry.conditional) for entry in shelf.log if entry.path in shelf.pages]
        assert asked == [(304, True)] * 9
        assert site.query(kept) == pages
        assert site.query("SELECT * EXCLUDE (last_checked) FROM {records} ORDER BY url") == records
        assert site.query("SELECT * FROM {page_records} ORDER BY url") == versions
        assert site.events(2) == []


def test_pruning_again_frees_the_disk_and_then_changes_nothing(tmp_path: Path) -> None:
    with Shelf({"/big": page("Big", "".join(f"<p>{n * 7919 % 65537:x}{n**3}" for n in range(20_000)))}) as shelf:
        site = crawled(tmp_path, shelf)
        site.visit(FIRST_DAY)
    path = site.layout.visit_file(Dataset.BODY_SNAPSHOTS, FIRST_DAY.date(), 1)
    full = path.stat().st_blocks
    later = FIRST_DAY + EIGHT_DAYS
    prune(site, later)
    prune(site, later + HOUR / 2)
    assert path.stat().st_blocks >= full  # readers that were in the middle of it
    assert prune_snapshots.overdue(site.data, {}, later + HOUR / 2) == {}
    assert prune_snapshots.overdue(site.data, {}, later + HOUR) == {"site": ["2026-05-01"]}
    prune(site, later + HOUR)
    assert path.stat().st_blocks <= 16
    settled = files(site)
    for hours in (2, 50, 500):
        assert prune_snapshots.overdue(site.data, {}, later + hours * HOUR) == {}
        assert prune(site, later + hours * HOUR).pruned[0].bodies == 0
    assert files(site) == settled
    assert pq.read_metadata(path).num_rows == 0


def test_a_page_without_validators_always_has_a_body(tmp_path: Path) -> None:
    with Shelf(PAGES, tagged=False) as shelf:
        site = crawled(tmp_path, shelf)
        for day in range(0, 10, 2):
            now = FIRST_DAY + timedelta(days=day)
            site.visit(now)
            prune(site, now)
            paths = site.query("SELECT url, body_path FROM {pages}")
            assert len(paths) == 9
            for url, path in paths:
                assert (
                    url in pq.read_table(site.data / path, columns=["url"], partitioning=None).column("url").to_pylist()
                )
        assert {kind for kind, _ in site.events()} == {"new"}
        assert site.query("SELECT count(*) FROM {page_records}") == [(9,)]


def test_a_page_whose_body_is_gone_can_still_be_seen_to_change(tmp_path: Path) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf)
        site.visit(FIRST_DAY)
        prune(site, FIRST_DAY + EIGHT_DAYS)
        shelf.pages["/page/3"] = page("Page three")
        site.visit(FIRST_DAY + EIGHT_DAYS)
        assert site.events(2) == [("changed", "/page/3")]
        ((diff,),) = site.query("SELECT diff FROM {page_diffs} WHERE visit = 2")
        assert "-Page 3" in diff
        assert "+Page three" in diff


def test_what_belongs_to_no_site_is_pruned_after_seven_days(tmp_path: Path) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf, bodies={"keep_days": 30})
        site.visit(FIRST_DAY)
    orphan = SiteLayout(site.data, "orphan")
    shutil.copytree(site.layout.dataset(Dataset.BODY_SNAPSHOTS), orphan.dataset(Dataset.BODY_SNAPSHOTS))
    day = orphan.dataset(Dataset.BODY_SNAPSHOTS) / "day=2026-05-01"
    (day / "visit-7.parquet").write_bytes(b"no Parquet at all, but it may hold a body")
    (day / ".visit-8.parquet.tmp").write_bytes(b"left by a kill")
    (orphan.dataset(Dataset.BODY_SNAPSHOTS) / "day=sometime").mkdir()
    young = orphan.visit_file(Dataset.BODY_SNAPSHOTS, date(2026, 5, 8), 9)
    young.parent.mkdir()
    shutil.copy(day / "visit-1.parquet", young)

    later = FIRST_DAY + EIGHT_DAYS
    report = prune(site, later, keep_days=30)
    assert {one.site: (one.bodies, one.days) for one in report.pruned} == {
        "site": (0, ()),
        "orphan": (9, (FIRST_DAY.date(),)),
    }
    counts = site.query("SELECT site, day::VARCHAR, count(*) FROM {body_snapshots} GROUP BY ALL ORDER BY ALL")
    assert counts == [("orphan", "2026-05-08", 9), ("site", "2026-05-01", 9)]
    assert list(day.glob(".*")) == []
    prune(site, later + HOUR, keep_days=30)
    assert b"may hold a body" not in (day / "visit-7.parquet").read_bytes()


def test_a_site_in_use_is_named_and_the_others_are_pruned(tmp_path: Path) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf)
        site.visit(FIRST_DAY)
    for name in ("busy", "newer"):
        shutil.copytree(
            site.layout.dataset(Dataset.BODY_SNAPSHOTS), SiteLayout(site.data, name).dataset(Dataset.BODY_SNAPSHOTS)
        )
    newer = SiteLayout(site.data, "newer").state_file
    shutil.copy(site.layout.state_file, newer)
    with duckdb.connect(str(newer)) as con:
        con.execute("UPDATE meta SET \"value\" = '99' WHERE \"key\" = 'schema_version'")
    with site_lock(SiteLayout(site.data, "busy").lock_file, "revalidation_sweep", FIRST_DAY):
        report = prune(site, FIRST_DAY + EIGHT_DAYS)
    assert [one.site for one in report.pruned] == ["site"]
    assert report.pruned[0].bodies == 9
    assert sorted(report.in_use) == ["busy", "newer"]
    assert "site busy is in use by process" in report.in_use["busy"]
    assert "schema_version 99" in report.in_use["newer"]
    assert prune_snapshots.overdue(site.data, {}, FIRST_DAY + EIGHT_DAYS) == {
        "busy": ["2026-05-01"],
        "newer": ["2026-05-01"],
    }


def test_each_site_has_its_own_window(tmp_path: Path) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf, bodies={"keep_days": 2})
        for day in range(5):
            shelf.pages["/page/1"] = page(f"Day {day}")
            site.visit(FIRST_DAY + timedelta(days=day))
    assert prune(site, FIRST_DAY + timedelta(days=4), keep_days=2).pruned[0].days == (
        date(2026, 5, 1),
        date(2026, 5, 2),
    )
    days = site.query("SELECT DISTINCT day FROM {body_snapshots} ORDER BY 1")
    assert days == [(date(2026, 5, 3),), (date(2026, 5, 4),), (date(2026, 5, 5),)]
    prune(site, FIRST_DAY + timedelta(days=4), keep_days=90)  # a longer window brings nothing back
    assert site.query("SELECT body_path FROM {pages} WHERE url LIKE '%/page/1'") == [
        ("body_snapshots/site=site/day=2026-05-05/visit-5.parquet",)
    ]
    assert site.state("SELECT count(body_path) FROM pages") == [(1,)]


class Interrupted(Exception):
    """What ends a pruning in the middle."""


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_pruning_that_was_interrupted_is_made_up_for(tmp_path: Path, nth: int) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf)
        site.visit(FIRST_DAY)
    left = [nth]

    def interrupt(step: DurableStep) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Interrupted

    later = FIRST_DAY + EIGHT_DAYS
    with pytest.raises(Interrupted), observed_by(interrupt):
        prune(site, later)
    for (path,) in site.query("SELECT body_path FROM {pages} WHERE body_path IS NOT NULL"):
        assert pq.read_metadata(site.data / path).num_rows
    prune(site, later)
    assert site.query("SELECT count(*) FROM {body_snapshots}") == [(0,)]
    assert site.query("SELECT count(body_path) FROM {pages}") == [(0,)]
    assert site.state("SELECT count(body_path) FROM pages") == [(0,)]


def test_a_pruning_between_two_stages_shows_nothing_of_the_visit(tmp_path: Path) -> None:
    with Shelf(PAGES) as shelf:
        site = crawled(tmp_path, shelf)
        site.visit(FIRST_DAY)
        shelf.pages["/page/1"] = page("Changed")
        published = site.query("SELECT * EXCLUDE (body_path) FROM {pages} ORDER BY url")
        later = FIRST_DAY + EIGHT_DAYS
        site.visit(later, stages=STAGES[:4])
        prune(site, later)
        assert site.query("SELECT * EXCLUDE (body_path) FROM {pages} ORDER BY url") == published
        assert site.query("SELECT count(body_path) FROM {pages}") == [(0,)]
        site.visit(later)
        assert site.events(2) == [("changed", "/page/1")]
        assert site.query("SELECT url FROM {pages} WHERE body_path IS NOT NULL") == [(shelf.url("/page/1"),)]
