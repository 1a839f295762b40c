"""What the datasets hold: exactly the promised columns, readable from the first visit on, whatever the pages are."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from json import dumps
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.storage import body_files
from incremental_crawl.storage.durable import DurableStep, observed_by
from incremental_crawl.storage.layout import Dataset
from incremental_crawl.storage.parquet import writing
from incremental_crawl.storage.state import StateTooNew, open_state
from tests.crawl.visiting import CrawledSite, local_site
from tests.storage.shelf import FIRST_DAY, PRODUCT, Shelf, page, product

ROOT = Path(__file__).parents[2]
TIME = "TIMESTAMP WITH TIME ZONE"
COLUMNS = {
    "body_snapshots": f"url VARCHAR, fetched_at {TIME}, status INTEGER, headers VARCHAR, content_type VARCHAR, "
    "charset VARCHAR, body BLOB, body_sha256 VARCHAR",
    "page_records": f"url VARCHAR, item_key VARCHAR, page_type VARCHAR, observed_at {TIME}, visit INTEGER, "
    "content_sha256 VARCHAR, extractor_version VARCHAR, record VARCHAR, main_text VARCHAR",
    "page_diffs": "event_id VARCHAR, url VARCHAR, item_key VARCHAR, page_type VARCHAR, kind VARCHAR, "
    f"observed_at {TIME}, published_at {TIME}, visit INTEGER, run_id VARCHAR, old_sha256 VARCHAR, new_sha256 VARCHAR, "
    "old_lastmod VARCHAR, new_lastmod VARCHAR, moved_to VARCHAR, evidence VARCHAR, extractor_version VARCHAR, "
    'diff VARCHAR, fields STRUCT("name" VARCHAR, kind VARCHAR, "old" VARCHAR, "new" VARCHAR, delta DOUBLE, '
    '"percent" DOUBLE, added VARCHAR[], removed VARCHAR[])[]',
    "tombstones": f"url VARCHAR, observed_at {TIME}, confirmed_at {TIME}, visit INTEGER, status INTEGER, "
    "last_sha256 VARCHAR",
    "observations": f"url VARCHAR, visit INTEGER, observed_at {TIME}, purpose VARCHAR, method VARCHAR, "
    "conditional BOOLEAN, etag_sent VARCHAR, last_modified_sent VARCHAR, status INTEGER, etag VARCHAR, "
    "last_modified VARCHAR, outcome VARCHAR, bytes BIGINT, elapsed_ms DOUBLE, body_sha256 VARCHAR, "
    "content_sha256 VARCHAR, error VARCHAR",
}
RECORD = (
    f"url VARCHAR, item_key VARCHAR, observed_at {TIME}, last_checked {TIME}, content_sha256 VARCHAR, stale BOOLEAN"
)
PAGES = (
    "url VARCHAR, etag VARCHAR, last_modified VARCHAR, representation VARCHAR, content_sha256 VARCHAR, "
    f"body_sha256 VARCHAR, meta_sha256 VARCHAR, last_checked {TIME}, last_changed {TIME}, status INTEGER, "
    f"body_path VARCHAR, next_due {TIME}, redirect_to VARCHAR, gone_since {TIME}, failures INTEGER, lastmod VARCHAR, "
    "page_type VARCHAR, extractor_version VARCHAR, stale BOOLEAN"
)
HOSTS = (
    "host VARCHAR, mode VARCHAR, conditional_requests BIGINT, not_modified BIGINT, same_hash BIGINT, audits BIGINT, "
    f"etag_trusted BOOLEAN, last_modified_trusted BOOLEAN, head_trusted BOOLEAN, blocked_since {TIME}, verdict VARCHAR"
)
GROWING = tuple(COLUMNS)


def described(path: Path) -> str:
    """The columns of one file."""
    with duckdb.connect() as con:
        rows = con.execute(f"DESCRIBE SELECT * FROM read_parquet('{path}', hive_partitioning = false)").fetchall()
    return ", ".join(f"{row[0]} {row[1]}" for row in rows)


def columns(text: str) -> set[str]:
    """A column list without its order."""
    return set(text.split(", "))


def body_of(site: CrawledSite, url: str) -> bytes:
    """The page's current body, found by the path that the published pages name."""
    ((path,),) = site.query("SELECT body_path FROM {pages} WHERE url = '" + url.replace("'", "''") + "'")
    return body_files.read_urls(site.data / path, [url])[url].body


def test_every_file_has_the_promised_columns(tmp_path: Path) -> None:
    with Shelf({"/product/1": product("One", "£1.00"), "/about": page("About")}) as shelf:
        site = CrawledSite(tmp_path, local_site(shelf.url("/"), extract=[PRODUCT]))
        site.visit(FIRST_DAY)
        del shelf.pages["/about"]
        site.visit(FIRST_DAY + timedelta(days=1))
    for dataset, expected in COLUMNS.items():
        files = sorted((site.data / dataset).glob("*/*/*.parquet"))
        assert files[0].relative_to(site.data).as_posix() == f"{dataset}/site=site/day=1970-01-01/visit-0.parquet"
        assert len(files) > 1
        assert {file: described(file) for file in files} == dict.fromkeys(files, expected)
    assert columns(PAGES) <= columns(described(site.layout.pages_file))
    assert columns(HOSTS) <= columns(described(site.layout.hosts_file))


def test_each_declared_field_is_a_typed_column(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "name": "h1",
        "price": {"css": ".price", "type": "price"},
        "stock": {"css": ".stock", "type": "integer"},
        "weight": {"css": ".weight", "type": "number"},
        "updated": {"css": "time", "type": "date"},
        "link": {"css": "a", "attr": "href", "type": "url"},
        "used": {"css": ".used", "type": "bool", "has_class": "used"},
        "tags": {"css": "li", "list": True},
        "missing": {"css": ".nowhere", "type": "price"},
    }
    html = (
        '<p class="weight">1.25 kg</p><time>2026-01-05T10:00:00+02:00</time><a href="../about?x=1#y">more</a>'
        '<i class="used">used</i><ul><li>b</li><li>a</li></ul>'
    )
    with Shelf({"/product/1": product("One", "£12.50", html), "/about": page("About", "<p>us")}) as shelf:
        rules = {"name": "product", "match": "/product/*", "fields": fields}
        site = CrawledSite(tmp_path, local_site(shelf.url("/"), extract=[rules]))
        site.visit(FIRST_DAY)
        path = site.layout.records_file("product")
        assert columns(described(path)) == columns(
            f"{RECORD}, name VARCHAR, price DECIMAL(18,4), price_currency VARCHAR, stock BIGINT, weight DOUBLE, "
            f"updated {TIME}, link VARCHAR, used BOOLEAN, tags VARCHAR[], missing DECIMAL(18,4), "
            "missing_currency VARCHAR"
        )
        with duckdb.connect() as con:
            con.execute("SET TimeZone = 'UTC'")
            row = con.execute(
                "SELECT url, item_key, observed_at, last_checked, stale, name, price, price_currency, stock, weight, "
                f"updated, link, used, tags, missing, missing_currency FROM '{path}'"
            ).fetchone()
        assert row is not None
        assert row[:5] == (shelf.url("/product/1"), None, FIRST_DAY, FIRST_DAY, False)
        assert row[5:] == (
            *("One", Decimal("12.5000"), "GBP", 12, 1.25, datetime(2026, 1, 5, 8, tzinfo=UTC)),
            *(shelf.url("/about?x=1"), True, ["b", "a"], None, None),
        )
        assert described(site.layout.records_file("page")) == f"{RECORD}, text VARCHAR"
        texts = site.query("SELECT text FROM {records} WHERE text IS NOT NULL ORDER BY url")
        assert [text for (text,) in texts] == ["Shelf", "About\nus"]


@pytest.mark.parametrize("name", ["site", "type"])
def test_a_field_cannot_hide_behind_a_folder_of_its_name(tmp_path: Path, name: str) -> None:
    rules = {**PRODUCT, "fields": {name: "h1"}}
    with pytest.raises(ConfigError, match=rf"{name}= is in the path of every records file.*item_{name}"):
        CrawledSite(tmp_path, local_site("http://127.0.0.1:1/", extract=[rules])).run()


def test_everything_is_readable_from_a_first_visit_that_finds_nothing(tmp_path: Path) -> None:
    with Shelf({}) as shelf:
        shelf.down = True
        site = CrawledSite(tmp_path, local_site(shelf.url("/"), extract=[PRODUCT]))
        site.visit(FIRST_DAY)
        counts = {name: site.query(f"SELECT count(*) FROM {{{name}}}") for name in (*GROWING, "records", "pages")}
        assert {name for name, rows in counts.items() if rows != [(0,)]} == {"observations"}
        written = sorted(path.relative_to(site.data).as_posix() for path in site.data.rglob("visit-1.parquet"))
        assert written == ["observations/site=site/day=2026-05-01/visit-1.parquet"]
        assert site.query("SELECT count(*) FROM {hosts}") == [(1,)]
        shelf.down = False
        site.visit(FIRST_DAY + timedelta(days=1))
        assert site.query("SELECT text FROM {records} WHERE text IS NOT NULL") == [("Shelf",)]


def test_no_reader_ever_sees_an_unfinished_file(tmp_path: Path) -> None:
    seen: set[tuple[DurableStep, int]] = set()

    def look(step: DurableStep) -> None:
        if step in (DurableStep.FILE_WRITTEN, DurableStep.FILE_RENAMED):
            unfinished = [path for path in site.data.rglob("*") if path.is_file() and path.suffix == ".tmp"]
            seen.add((step, len(unfinished)))
            assert all(path.name.startswith(".") for path in unfinished)
            for path in site.data.glob("*/*/*/*.parquet"):
                pq.read_table(path)

    with Shelf({"/about": page("About")}) as shelf, observed_by(look):
        site = CrawledSite(tmp_path, local_site(shelf.url("/")))
        site.visit(FIRST_DAY)
    assert seen == {(DurableStep.FILE_WRITTEN, 1), (DurableStep.FILE_RENAMED, 0)}
    visits = [path for path in site.data.rglob("*.parquet") if path.name == "visit-1.parquet"]
    assert len(visits) == len({path.parent for path in visits}) == 4  # nothing was buried


def test_bodies_are_kept_as_they_are_under_any_address(tmp_path: Path) -> None:
    odd = [
        "/A",
        "/a",
        "/x",
        "/x/",
        "/x?y=1",
        "/x%3Fy=1",
        "/q?s=" + "z" * 400,
        "/..%2F..%2F..%2Ftmp%2Fz",
        "/con",
        "/nul.",
    ]
    odd += ["/%E6%97%A5%E6%9C%AC", "/a%00b", "/a'b", "/%25", "/*", "/day=1/visit-1.parquet"]
    with (
        Shelf({target: page(f"Page {n}") for n, target in enumerate(odd)}) as shelf,
        Shelf({"/a": "<p>other"}) as other,
    ):
        settings = local_site(shelf.url("/"))
        site = CrawledSite(tmp_path, {**settings, "start_urls": [shelf.url("/"), other.url("/")]})
        site.visit(FIRST_DAY)
        shelf.pages["/a"] = page("Second")
        site.visit(FIRST_DAY)
        for origin, targets in ((shelf, odd), (other, ["/a"])):
            for target in targets:
                assert body_of(site, origin.url(target)) == origin.body(target), target
    first = site.layout.visit_file(Dataset.BODY_SNAPSHOTS, FIRST_DAY.date(), 1)
    assert body_files.read_urls(first, [shelf.url("/a")])[shelf.url("/a")].body == page("Page 1").encode()
    names = {path.name for path in tmp_path.rglob("*.parquet")}
    assert names == {
        "visit-0.parquet",
        "visit-1.parquet",
        "visit-2.parquet",
        *(f"{n}.parquet" for n in ("pages", "hosts", "records")),
    }


def test_one_odd_page_never_costs_the_others(tmp_path: Path) -> None:
    odd: dict[str, str | bytes] = {
        "/nul": b"<!doctype html><p>before</p><p>x\0y</p><p>after</p>",
        "/references": b"<!doctype html><title>&#xD83D;</title><p>a&#0;b&#xD83D;c</p>",
        "/ld": b'<!doctype html><script type="application/ld+json">{"name": "\\ud83d"}</script><p>text</p>',
        "/controls": "<!doctype html><p>a\x0bb\x01c\ufffed</p>",
        "/empty": b"",
        "/blank": b" \n\t ",
        "/one-nul": b"\0",
        "/title": b"<!doctype html><title>" + b"t" * 1_000_000 + b"</title><h1>Long</h1>",
        "/broken": b"<!doctype html><meta charset=utf-8><p>\xff\xfe\xed\xa0\xbd</p>",
    }
    good = {f"/good/{n}": page(f"Good {n}") for n in range(100)}
    with Shelf({**good, **odd}) as shelf:
        site = CrawledSite(tmp_path, local_site(shelf.url("/")))
        site.visit(FIRST_DAY)
        held = {url.removeprefix(shelf.base_url) for (url,) in site.query("SELECT url FROM {records}")}
        empty = {"/empty", "/blank", "/one-nul"}
        assert held == {"/", *good, *odd} - empty
        outcomes = site.query("SELECT url FROM {observations} WHERE outcome = 'empty' AND purpose = 'fetch'")
        assert {url.removeprefix(shelf.base_url) for (url,) in outcomes} == empty
        for target in odd.keys() - empty:
            assert body_of(site, shelf.url(target)) == shelf.body(target)
        texts = dict(site.query("SELECT url, text FROM {records}"))
        assert all(text.encode() and "\0" not in text for text in texts.values())
        assert "after" in texts[shelf.url("/nul")]
        shelf.pages["/nul"] = shelf.body("/nul").replace(b"after", b"later")
        site.visit(FIRST_DAY + timedelta(days=1))
        assert site.events(2) == [("changed", "/nul")]


def test_a_body_is_stored_without_its_content_coding(tmp_path: Path) -> None:
    text = page("Long", "<p>" + "words and words " * 500)
    with Shelf({"/long": text}, content_type='text/html; charset="utf-8"') as shelf:
        site = CrawledSite(tmp_path, local_site(shelf.url("/")))
        site.visit(FIRST_DAY)
        (sent,) = [entry for entry in shelf.log if entry.path == "/long"]
        assert sent.body_bytes < len(text) / 2  # it did come compressed
        rows = site.query(
            "SELECT body, body_sha256, content_type, charset, status, fetched_at, headers FROM {body_snapshots} "
            f"WHERE url = '{shelf.url('/long')}'"
        )
    ((body, sha256, content_type, charset, status, fetched_at, headers),) = rows
    assert body == text.encode()
    assert sha256 == hashlib.sha256(body).hexdigest()
    assert (content_type, charset, status, fetched_at) == ('text/html; charset="utf-8"', "utf-8", 200, FIRST_DAY)
    assert dumps(["content-encoding", "gzip"]) in headers


def test_a_body_is_found_by_its_address_at_once(tmp_path: Path) -> None:
    path = tmp_path / "visit-1.parquet"
    pages = [f"https://shop.example/product/{n}" for n in range(6000)]
    with writing(path, body_files.SCHEMA) as writer:
        for start in range(0, len(pages), 500):
            chunk = pages[start : start + 500]
            bodies = [(hashlib.sha256(url.encode()).hexdigest() * 300).encode() for url in chunk]
            empty: dict[str, list[Any]] = {field.name: [None] * 500 for field in body_files.SCHEMA}
            writer.write_table(pa.table({**empty, "url": chunk, "body": bodies}, schema=body_files.SCHEMA))
    wanted = pages[4321]

    def by_product() -> bytes:
        return body_files.read_urls(path, [wanted])[wanted].body

    def by_query() -> bytes:
        with duckdb.connect() as con:
            rows = con.execute("SELECT body FROM read_parquet(?) WHERE url = ?", [str(path), wanted]).fetchall()
        return bytes(rows[0][0])

    for look_up in (by_product, by_query):
        best = 1.0
        for _ in range(5):
            began = time.perf_counter()
            assert look_up().startswith(hashlib.sha256(wanted.encode()).hexdigest().encode())
            best = min(best, time.perf_counter() - began)
        assert best < 0.1


def test_the_state_shows_pages_frontier_and_hosts(tmp_path: Path) -> None:
    with Shelf({"/product/1": product("One", "£1.00"), "/about": page("About"), "/blank": b" "}) as shelf:
        site = CrawledSite(tmp_path, local_site(shelf.url("/"), extract=[PRODUCT]))
        site.visit(FIRST_DAY)
        del shelf.pages["/about"]
        now = FIRST_DAY + timedelta(days=1)
        site.visit(now)
    with duckdb.connect(str(site.layout.state_file), read_only=True) as con:
        con.execute("SET TimeZone = 'UTC'")
        for name, expected in (("pages", PAGES), ("hosts", HOSTS)):
            found = {f"{row[0]} {row[1]}" for row in con.execute(f"DESCRIBE {name}").fetchall()}
            assert columns(expected) <= found
        names = [row[0] for row in con.execute("DESCRIBE frontier").fetchall()]
        assert names[:4] == ["url", "source", "failures", "next_due"]
        assert con.execute("SELECT url, failures FROM frontier").fetchall() == [(shelf.url("/blank"), 2)]
        nulls = con.execute(
            "SELECT count(*) FROM pages WHERE last_checked IS NULL OR status IS NULL OR last_changed IS NULL "
            "OR content_sha256 IS NULL OR failures IS NULL OR stale IS NULL OR body_path IS NULL"
        ).fetchall()
        assert nulls == [(0,)]
        gone = con.execute("SELECT status, gone_since, last_checked FROM pages WHERE url LIKE '%about'").fetchall()
        assert gone == [(404, now, now)]
        live = con.execute("SELECT DISTINCT status, last_checked, last_changed FROM pages WHERE gone_since IS NULL")
        assert live.fetchall() == [(200, now, FIRST_DAY)]
        assert con.execute("SELECT host, not_modified FROM hosts").fetchall() == [(shelf.base_url[7:], 2)]
        state = con.execute("SELECT * FROM pages ORDER BY url").fetchall()
    assert site.query("SELECT * EXCLUDE (site) FROM {pages} ORDER BY url") == state
    for (path,) in site.query("SELECT body_path FROM {pages}"):
        assert not Path(path).is_absolute()
        assert (site.data / path).is_file()


def test_a_state_of_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    with Shelf({}) as shelf:
        site = CrawledSite(tmp_path, local_site(shelf.url("/")))
        site.visit(FIRST_DAY)
        with duckdb.connect(str(site.layout.state_file)) as con:
            con.execute("UPDATE meta SET \"value\" = '99' WHERE \"key\" = 'schema_version'")
        before = site.layout.state_file.read_bytes()
        with pytest.raises(StateTooNew, match=r"site\.duckdb has schema_version 99.*install the newer release"):
            site.visit(FIRST_DAY + timedelta(days=1))
    assert site.layout.state_file.read_bytes() == before
    assert [path.name for path in site.layout.state_file.parent.iterdir() if path.suffix == ".wal"] == []


def test_all_times_are_utc_whatever_the_machine_says(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 1, 8, 30, tzinfo=UTC)  # an hour that Los Angeles has twice
    with Shelf({"/about": page("About")}) as shelf:
        settings = local_site(shelf.url("/"))
        site = CrawledSite(tmp_path, settings)
        for now in (moment, moment + timedelta(hours=1)):
            command = [
                sys.executable,
                "-m",
                "tests.crawl.killed_visit",
                str(tmp_path),
                dumps(settings),
                now.isoformat(),
                "",
                "1",
            ]
            subprocess.run(
                command,
                check=True,
                cwd=ROOT,
                env={**os.environ, "TZ": "America/Los_Angeles"},
                stdout=subprocess.DEVNULL,
            )
    later = moment + timedelta(hours=1)
    assert site.query("SELECT DISTINCT last_checked, last_changed FROM {pages}") == [(later, moment)]
    assert site.query("SELECT DISTINCT epoch_us(observed_at) FROM {page_records}") == [(int(moment.timestamp() * 1e6),)]
    assert site.query("SELECT DISTINCT epoch_us(fetched_at) FROM {body_snapshots}") == [
        (int(moment.timestamp() * 1e6),)
    ]
    days = {path.parent.name for path in site.data.rglob("visit-[12].parquet")}
    assert days == {"day=2026-11-01"}
    with open_state(site.layout, "test", later) as state:
        assert state.rows("SELECT DISTINCT last_checked FROM pages") == [(later,)]
        assert state.rows("SELECT day, opened_at FROM visits") == [
            (date(2026, 11, 1), moment),
            (date(2026, 11, 1), later),
        ]
