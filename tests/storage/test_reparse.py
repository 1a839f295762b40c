"""A re-parse reads kept bodies by the rules in force: no request, no false change, the same however often it runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from json import dumps
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.stages import gates, prune_snapshots
from incremental_crawl.stages.reparsing import reparse as reparse_stage
from incremental_crawl.storage.durable import DurableStep
from incremental_crawl.storage.visits import VisitRefused
from tests.crawl.visiting import STAGES, CrawledSite, local_site
from tests.origins.documents import DocumentsOrigin
from tests.origins.histories import synthetic_history, visit_moments
from tests.storage.killed_reparse import reparse
from tests.storage.shelf import FIELDS, FIRST_DAY, PRODUCT, Shelf, page, product

ROOT = Path(__file__).parents[2]
DAYS = [FIRST_DAY + timedelta(days=day) for day in range(3)]
EVENTS = "SELECT * FROM {page_diffs} WHERE kind <> 'corrected' ORDER BY event_id"
CORRECTED = "SELECT * EXCLUDE (published_at) FROM {page_diffs} WHERE kind = 'corrected' ORDER BY event_id"
VERSIONS = "SELECT * FROM {page_records} ORDER BY url, visit"
PAGES = "SELECT * FROM {pages} ORDER BY url"
RECORDS = "SELECT * FROM {records} ORDER BY url"
BODIES = "SELECT * FROM {body_snapshots} ORDER BY url, fetched_at"


def settings(shelf: Shelf, *page_types: dict[str, Any]) -> dict[str, Any]:
    """A site of these page types, without audits."""
    return local_site(shelf.url("/"), extract=list(page_types), revalidation={"audit_share": 0.0})


def with_field(**fields: Any) -> dict[str, Any]:
    """The product rules with other fields; None leaves one out."""
    merged = {**FIELDS, **fields}
    return {**PRODUCT, "fields": {name: rule for name, rule in merged.items() if rule is not None}}


SHOUTED = with_field(title={"css": "h1", "match": "^P(.*)", "required": True})


class Shop:
    """A crawled shop of three visits and its server, which counts requests from then on."""

    def __init__(self, folder: Path, shelf: Shelf, crawled: Path) -> None:
        shutil.copytree(crawled, folder / "shop")
        self.shelf = shelf
        self.site = CrawledSite(folder / "shop", settings(shelf, PRODUCT), DAYS[-1])
        shelf.log.clear()

    def rules(self, *page_types: dict[str, Any]) -> None:
        """Write other rules into the site file."""
        self.site.write(settings(self.shelf, *page_types))

    def reparse(self) -> None:
        """All kept days."""
        reparse(self.site, DAYS[0], DAYS[-1])

    def everything(self, *but: str) -> dict[str, Any]:
        """The contents of all datasets, as far as they do not depend on the moment of publication."""
        queries = {
            "events": EVENTS,
            "corrected": CORRECTED,
            "versions": VERSIONS,
            "pages": PAGES,
            "records": RECORDS,
            "bodies": BODIES,
        }
        return {name: self.site.query(query) for name, query in queries.items() if name not in but}


@pytest.fixture(scope="module")
def shelf() -> Iterator[Shelf]:
    pages = {f"/product/{n}": product(f"P{n}", f"£{n}.50") for n in range(8)}
    with Shelf({**pages, "/about": page("About"), "/product/gone": product("Pgone", "£9")}) as served:
        yield served


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, shelf: Shelf) -> Path:
    """Three visits: everything is new, then two prices change and a product goes, then one price changes again."""
    folder = tmp_path_factory.mktemp("crawled")
    site = CrawledSite(folder, settings(shelf, PRODUCT))
    site.visit(DAYS[0])
    shelf.pages |= {f"/product/{n}": product(f"P{n}", f"£{n}.60") for n in (1, 2)}
    del shelf.pages["/product/gone"]
    site.visit(DAYS[1])
    shelf.pages["/product/1"] = product("P1", "£1.70")
    site.visit(DAYS[2])
    return folder


@pytest.fixture
def shop(tmp_path: Path, shelf: Shelf, crawled: Path) -> Iterator[Shop]:
    before = dict(shelf.pages)
    yield Shop(tmp_path, shelf, crawled)
    shelf.pages = before


def test_records_are_made_anew_and_corrections_are_no_changes(shop: Shop) -> None:
    before = shop.everything()
    shop.rules(SHOUTED)
    shop.reparse()
    assert len(shop.shelf.log) == 0
    after = shop.everything()
    assert after["events"] == before["events"]
    assert after["bodies"] == before["bodies"]
    versions = shop.site.query(
        "SELECT url[len(url) - 0:], visit, extractor_version, record->>'title', record->'price'->>'amount' "
        "FROM {page_records} WHERE page_type = 'product' ORDER BY url, visit"
    )
    assert len(versions) == 12  # nine of the first visit, two of the second, one of the third
    assert len({version for _, _, version, _, _ in versions}) == 1
    assert {title for _, _, _, title, _ in versions} == {*"01234567", "gone"}
    prices = [(visit, price) for name, visit, _, _, price in versions if name == "1"]
    assert prices == [(1, "1.50"), (2, "1.60"), (3, "1.70")]
    assert len(before["versions"]) == len(after["versions"]) == 14
    titles = shop.site.query("SELECT title, price::VARCHAR FROM {records} WHERE title IS NOT NULL ORDER BY 1")
    assert titles[:3] == [("0", "0.5000"), ("1", "1.7000"), ("2", "2.6000")]
    assert len(titles) == 8
    corrected = shop.site.query(
        "SELECT visit, count(*), any_value(diff), any_value(fields[1].name), any_value(evidence) FROM {page_diffs} "
        "WHERE kind = 'corrected' GROUP BY ALL ORDER BY ALL"
    )
    assert [(visit, count) for visit, count, *_ in corrected] == [(1, 6), (2, 1), (3, 1)]
    assert all(
        "-title: P" in diff and field == "title" and evidence == "rules" for _, _, diff, field, evidence in corrected
    )
    unmoved = "SELECT url, last_checked, last_changed, etag, body_sha256, body_path, next_due FROM {pages} ORDER BY url"
    columns = [0, 7, 8, 1, 5, 10, 11]
    assert shop.site.query(unmoved) == [tuple(row[at] for at in columns) for row in before["pages"]]


def test_pages_of_other_rules_stay_byte_for_byte(shop: Shop) -> None:
    query = "SELECT * FROM {page_records} WHERE page_type = 'page' ORDER BY url"
    before, records = (
        shop.site.query(query),
        shop.site.query("SELECT * FROM {records} WHERE title IS NULL ORDER BY url"),
    )
    shop.rules(SHOUTED)
    shop.reparse()
    assert shop.site.query(query) == before
    assert shop.site.query("SELECT * FROM {records} WHERE title IS NULL ORDER BY url") == records


def test_a_second_reparse_changes_nothing(shop: Shop) -> None:
    shop.rules(SHOUTED)
    shop.reparse()
    once = shop.everything()
    shop.reparse()
    assert shop.everything() == once
    assert shop.site.reports["page_diffs"].numbers["events"] == 0


def test_rules_that_come_back_leave_the_first_correction_as_it_was(shop: Shop) -> None:
    original = shop.everything("corrected")
    told = "SELECT * FROM {page_diffs} WHERE diff LIKE '%-title: P%' ORDER BY event_id"
    shop.rules(SHOUTED)
    shop.reparse()
    first = shop.site.query(told)
    assert len(first) == 8
    for rules in (PRODUCT, SHOUTED, PRODUCT):
        shop.site.now += timedelta(minutes=1)
        shop.rules(rules)
        shop.reparse()
        assert shop.site.query(told) == first
    assert shop.everything("corrected") == original
    assert shop.site.query("SELECT count(*) = count(DISTINCT event_id) FROM {page_diffs}") == [(True,)]


def test_the_next_crawl_after_a_reparse_tells_nothing_false(shop: Shop) -> None:
    shop.rules(SHOUTED)
    shop.reparse()
    shop.shelf.pages["/product/5"] = product("P5", "£5.55")
    shop.shelf.tagged = False  # every page comes with its body
    shop.site.visit(DAYS[-1] + timedelta(days=1))
    shop.shelf.tagged = True
    assert shop.site.events(4) == [("changed", "/product/5")]
    ((names,),) = shop.site.query("SELECT [f.name FOR f IN fields] FROM {page_diffs} WHERE visit = 4")
    assert names == ["price"]


def test_a_crawl_before_the_reparse_tells_nothing_false_either(shop: Shop) -> None:
    shop.rules(SHOUTED)
    shop.shelf.pages["/product/5"] = product("P5", "£5.55")
    shop.site.visit(DAYS[-1] + timedelta(days=1))
    assert shop.site.events(4) == [("changed", "/product/5")]
    assert shop.site.query("SELECT count(*) FROM {pages} WHERE stale") == [(8,)]  # the seven others and the gone one
    reparse(shop.site, DAYS[0], DAYS[-1] + timedelta(days=1))
    assert shop.site.query("SELECT count(*) FROM {pages} WHERE stale") == [(0,)]
    assert shop.site.query("SELECT count(*) FROM {page_diffs} WHERE kind = 'corrected'") == [(7,)]


def test_rules_that_come_back_before_any_reparse_leave_nothing_stale(shop: Shop) -> None:
    shop.rules(SHOUTED)
    shop.site.visit(DAYS[-1] + timedelta(days=1))
    shop.rules(PRODUCT)
    shop.site.visit(DAYS[-1] + timedelta(days=2))
    assert shop.site.query("SELECT count(*) FROM {pages} WHERE stale") == [(0,)]
    assert shop.site.events(4) == shop.site.events(5) == []


def test_a_rule_that_fails_keeps_the_old_records(shop: Shop) -> None:
    before = shop.everything("pages", "records")
    shop.rules(with_field(title={"css": "h1", "match": "^P([0-4])$", "required": True}))
    shop.reparse()
    assert shop.site.reports["page_records"].numbers["not extractable"] == 4  # three live ones and the gone one
    kept = shop.site.query("SELECT title, stale FROM {records} WHERE title LIKE 'P%' ORDER BY ALL")
    assert kept == [("P5", True), ("P6", True), ("P7", True)]
    fresh = shop.site.query("SELECT title, stale FROM {records} WHERE title NOT LIKE 'P%' ORDER BY ALL")
    assert fresh == [(str(n), False) for n in range(5)]
    versions = shop.site.query("SELECT count(*) FROM {page_records} WHERE record->>'title' LIKE 'P%'")
    assert versions == [(4,)]
    assert shop.site.query("SELECT count(*) FROM {page_records}") == [(len(before["versions"]),)]


def test_records_without_a_kept_body_are_carried_over(shop: Shop) -> None:
    prune_snapshots.run(shop.site.data, {"site": 1}, DAYS[2], 1)  # the first day's bodies are gone
    carried = "SELECT * FROM {page_records} WHERE visit = 1 ORDER BY url"
    before = shop.site.query(carried)
    shop.rules(SHOUTED)
    shop.reparse()
    assert shop.site.query(carried) == before
    titles = shop.site.query("SELECT title, stale FROM {records} WHERE title IS NOT NULL ORDER BY title")
    assert titles == [("1", False), ("2", False), *((f"P{n}", True) for n in (0, 3, 4, 5, 6, 7))]
    with pytest.raises(VisitRefused, match="no raw body of 2026-05-01 to 2026-05-01 is kept for site"):
        reparse(shop.site, DAYS[0], DAYS[0])
    with pytest.raises(VisitRefused, match="choose later days, or let the next crawls"):
        reparse(shop.site, DAYS[0] - timedelta(days=9), DAYS[0] - timedelta(days=8))


def test_a_dry_run_writes_nothing_and_shows_what_would_differ(shop: Shop) -> None:
    tables = (
        "known_urls",
        "held_records",
        "meta",
        "visits",
        "outbox_page_records",
        "outbox_page_diffs",
        "pending_events",
    )
    before = shop.everything(), [shop.site.state(f"SELECT * FROM {name} ORDER BY ALL") for name in tables]
    files = {path: path.read_bytes() for path in shop.site.data.rglob("*.parquet")}
    shop.rules(with_field(title={"css": "h1", "match": "^P(.*)"}, price=None))
    run = shop.site.run()
    with run.state("test") as state:
        report = reparse_stage(run, state, DAYS[0].date(), DAYS[-1].date(), dry_run=True)
    assert report.numbers == {"bodies read": 14, "records rewritten": 12, "records corrected": 8, "not extractable": 0}
    assert report.notes["field title"] == report.notes["field price"] == "8 records differ"
    samples = [note for name, note in report.notes.items() if name.startswith("sample")]
    assert len(samples) == 3
    assert all(re.search(r"^-title: P\d$", sample, re.MULTILINE) and sample.startswith("http://") for sample in samples)
    assert {path: path.read_bytes() for path in shop.site.data.rglob("*.parquet")} == files
    assert (shop.everything(), [shop.site.state(f"SELECT * FROM {name} ORDER BY ALL") for name in tables]) == before
    assert len(shop.shelf.log) == 0


def test_a_renamed_page_type_takes_its_records_along(shop: Shop) -> None:
    shop.rules({**PRODUCT, "name": "article"})
    prune_snapshots.run(shop.site.data, {"site": 1}, DAYS[2], 1)  # also those whose body is gone
    reparse(shop.site, DAYS[1], DAYS[2])
    assert shop.site.query("SELECT count(*), count(title) FROM {records}") == [(10, 8)]
    kinds = shop.site.query("SELECT type, count(*) FROM {records} GROUP BY 1 ORDER BY 1")
    assert kinds == [("article", 8), ("page", 2)]
    assert shop.site.query("SELECT count(*) FROM {page_diffs} WHERE kind = 'corrected'") == [(0,)]
    assert shop.site.query("SELECT page_type, count(*) FROM {pages} GROUP BY 1 ORDER BY 1") == [
        ("article", 9),
        ("page", 2),
    ]
    assert shop.site.query("SELECT count(*) FROM {pages} WHERE stale") == [(0,)]
    assert shop.site.query("SELECT DISTINCT page_type FROM {page_records} WHERE visit > 1") == [("article",)]


def test_a_field_that_is_declared_no_more_is_told_of(shop: Shop) -> None:
    shop.rules(with_field(price=None, stock={"css": ".stock", "type": "integer", "track": False}))
    shop.reparse()
    told = shop.site.query(
        "SELECT DISTINCT [f.name || ' ' || f.kind FOR f IN fields] FROM {page_diffs} WHERE kind = 'corrected'"
    )
    assert told == [(["price removed"],)]
    assert shop.site.query(
        "SELECT count(*) FROM {page_diffs} WHERE kind = 'corrected' AND diff NOT LIKE '%price%'"
    ) == [(0,)]


def test_fields_turn_into_lines_and_back(shop: Shop) -> None:
    before = shop.everything("corrected")
    shop.rules()
    shop.reparse()
    assert shop.site.query("SELECT type, count(*) FROM {records} GROUP BY 1") == [("page", 10)]
    assert shop.site.query("SELECT text FROM {records} WHERE url LIKE '%product/1'") == [("P1\n£1.70\n12",)]
    assert shop.site.query("SELECT count(*) FROM {page_diffs} WHERE kind = 'corrected'") == [(8,)]
    shop.site.visit(DAYS[2] + timedelta(hours=1))
    assert shop.site.events(4) == []
    shop.rules(PRODUCT)
    shop.reparse()
    assert shop.site.query("SELECT type, count(*) FROM {records} GROUP BY 1 ORDER BY 1") == [
        ("page", 2),
        ("product", 8),
    ]
    after = shop.everything("corrected")
    assert after["versions"] == before["versions"]
    assert after["events"] == before["events"]
    assert len(shop.site.query(CORRECTED)) == 16


def test_noise_that_a_page_has_learnt_is_no_correction(tmp_path: Path) -> None:
    moments = visit_moments(3, every=timedelta(days=1))
    with DocumentsOrigin(synthetic_history(pages=8, visits=3, every=timedelta(days=1)), validators="none") as origin:
        plain = local_site(origin.base_url + "/", main_text="none")
        site = CrawledSite(tmp_path, plain)
        for moment in moments:
            origin.moment = moment
            site.visit(moment)
        for extract in (
            [{"name": "other", "match": "/other/*", "fields": {"title": "h1"}}],
            [{"name": "document", "match": "/pages/*", "ignore": [".nothing-here"]}],
        ):
            site.write({**plain, "extract": extract})
            reparse(site, moments[0], moments[-1])
            assert site.query("SELECT count(*) FROM {page_diffs} WHERE kind = 'corrected'") == [(0,)]
        site.write({**plain, "extract": [{"name": "document", "match": "/pages/*", "ignore": ["h1"]}]})
        reparse(site, moments[0], moments[-1])
        diffs = site.query("SELECT diff FROM {page_diffs} WHERE kind = 'corrected'")
        assert len(diffs) > 6
        assert all("ago" not in re.sub(r"^ .*$", "", diff, flags=re.MULTILINE) for (diff,) in diffs)
        site.visit(moments[-1] + timedelta(hours=1))
        assert site.events(4) == []


def test_a_visit_under_way_is_finished_first(shop: Shop) -> None:
    later = DAYS[2] + timedelta(hours=1)
    shop.shelf.pages["/product/5"] = product("P5", "£5.55")
    shop.site.visit(later, stages=STAGES[:3])
    shop.rules(SHOUTED)
    before = shop.everything()
    with pytest.raises(VisitRefused, match="visit 4 of 2026-05-03 is not finished: let `incremental-crawl crawl site`"):
        reparse(shop.site, DAYS[0], DAYS[1])
    assert shop.everything() == before
    shop.site.visit(later)
    assert shop.site.events(4) == [("changed", "/product/5")]
    shop.reparse()
    assert shop.site.query("SELECT count(*) FROM {records} WHERE title LIKE 'P%'") == [(0,)]


def test_a_plan_that_waited_meanwhile_undoes_nothing(tmp_path: Path) -> None:
    later = FIRST_DAY + timedelta(days=1)
    with Shelf({f"/product/{n}": product(f"P{n}", "£1.00") for n in range(4)}, tagged=False) as shelf:
        closing = {"gate": {"changed": 0.0, "min_pages": 1, "confirm_gone_after": "0s"}}
        site = CrawledSite(tmp_path, {**settings(shelf, PRODUCT), **closing})
        site.visit(FIRST_DAY)
        shelf.pages["/product/3"] = product("P3", "£5.55")
        site.visit(later, stages=STAGES[:4])
        site.write({**settings(shelf, SHOUTED), **closing})
        reparse(site, FIRST_DAY, FIRST_DAY)
        gates.approve(site.run(), even_if_incomplete=True)
        site.visit(later, stages=STAGES[3:])
        assert site.events(2) == [("changed", "/product/3")]
        titles = site.query("SELECT title FROM {records} WHERE title IS NOT NULL ORDER BY url")
        assert titles == [("0",), ("1",), ("2",), ("P3",)]
        made_by = (
            "SELECT count(*) FROM known_urls k JOIN held_records h USING (url) "
            "WHERE k.extractor_version <> h.extractor_version"
        )
        assert site.state(made_by) == [(0,)]
        site.visit(later + timedelta(hours=1))
        assert site.events(3) == []
        assert site.query("SELECT title FROM {records} WHERE url LIKE '%product/3'") == [("3",)]


@pytest.mark.parametrize(
    ("step", "nth"),
    [
        (DurableStep.RECORDS_FOLDED, 2),
        (DurableStep.EVENTS_COMMITTED, 1),
        (DurableStep.FILE_WRITTEN, 2),
        (DurableStep.OUTBOX_EMPTIED, 1),
    ],
)
def test_a_killed_reparse_ends_like_one_that_was_not(
    tmp_path: Path, shelf: Shelf, crawled: Path, step: DurableStep, nth: int, undisturbed: dict[str, Any]
) -> None:
    shop = Shop(tmp_path, shelf, crawled)
    shop.rules(SHOUTED)
    arguments = [
        str(shop.site.folder),
        dumps(settings(shelf, SHOUTED)),
        DAYS[0].isoformat(),
        DAYS[-1].isoformat(),
        step,
        str(nth),
    ]
    process = subprocess.run([sys.executable, "-m", "tests.storage.killed_reparse", *arguments], cwd=ROOT, check=False)
    assert process.returncode == -9
    shop.reparse()
    assert shop.everything() == undisturbed
    assert [path.name for path in shop.site.data.rglob("*.tmp*")] == []


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, shelf: Shelf, crawled: Path) -> dict[str, Any]:
    """What the re-parse comes to when nobody disturbs it."""
    shop = Shop(tmp_path_factory.mktemp("undisturbed"), shelf, crawled)
    shop.rules(SHOUTED)
    shop.reparse()
    return shop.everything()
