"""Every dataset can be read by any engine at any moment: visits, a re-parse and a prune replace files under readers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.stages import page_diffs, page_records, prune_snapshots, records, sitemap_urls
from tests.crawl.visiting import CrawledSite, local_site
from tests.storage.shelf import FIELDS, FIRST_DAY, PRODUCT, Shelf, page, product

ENGINES = ("duckdb", "pandas", "polars")
ROOT = Path(__file__).parents[2]
VISITS = 4


class Readers:
    """One process per engine that reads all datasets in a loop."""

    def __init__(self, data: Path) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.storage.reading_loop", engine, str(data)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=ROOT,
            )
            for engine in ENGINES
        ]

    def wait_until_reading(self) -> None:
        """Return once every reader has begun."""
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "reading\n"

    def stop(self) -> dict[str, Any]:
        """What each engine saw."""
        return {
            engine: json.loads(process.communicate("stop\n", timeout=60)[0])
            for engine, process in zip(ENGINES, self._processes, strict=True)
        }

    def kill(self) -> None:
        """End the processes, whatever they do."""
        for process in self._processes:
            process.kill()
            process.communicate()


@contextmanager
def reading(data: Path) -> Iterator[Readers]:
    """Readers of the data root that never outlive the block."""
    readers = Readers(data)
    try:
        readers.wait_until_reading()
        yield readers
    finally:
        readers.kill()


def settings(shelf: Shelf, number: int) -> dict[str, Any]:
    """Rules that differ from visit to visit; the columns stay, for a plan is made for the columns of its moment."""
    fields = {**FIELDS, "title": "h1" if number % 2 else "title"}
    rules = {**PRODUCT, "fields": fields}
    return local_site(shelf.url("/"), extract=[rules], bodies={"keep_days": 2}, gate={"confirm_gone_after": "0s"})


def filler(number: int) -> str:
    """Enough text for a body of several blocks."""
    return "".join(f"<p>{number} {word * 7919 % 104729:x}</p>" for word in range(number % 7 * 40))


@pytest.mark.timeout(180)
def test_no_reader_meets_an_error_while_visits_a_reparse_and_a_prune_run(tmp_path: Path) -> None:
    pages = {f"/product/{n}": product(f"P{n}", f"£{n}.50", filler(n)) for n in range(30)}
    pages |= {f"/about/{n}": page(f"About {n}", filler(n)) for n in range(15)}
    with Shelf(pages) as shelf:
        site = CrawledSite(tmp_path, settings(shelf, 0))
        sitemap_urls.run(site.run())
        with reading(site.data) as readers:
            for number in range(VISITS):
                _visit_reparse_and_prune(site, shelf, number)
            prune_snapshots.run(site.data, {"site": 2}, FIRST_DAY + timedelta(days=30), 1)
            prune_snapshots.run(site.data, {"site": 2}, FIRST_DAY + timedelta(days=31), 1)
            seen = readers.stop()
    assert [error for result in seen.values() for error in result["errors"]] == []
    assert min(result["rounds"] for result in seen.values()) > VISITS
    _check_contents(site, shelf)


def _visit_reparse_and_prune(site: CrawledSite, shelf: Shelf, number: int) -> None:
    now = FIRST_DAY + timedelta(days=number)
    for n in range(number, 30, VISITS):
        shelf.pages[f"/product/{n}"] = product(f"P{n}", f"£{n}.{number:02}", filler(n + number))
    if number == 3:
        del shelf.pages["/about/3"]
    site.visit(now)
    site.write(settings(shelf, number + 1))
    run = site.run(day=max(FIRST_DAY, now - timedelta(days=1)))
    for stage in (page_records.run, page_diffs.run, records.run):
        stage(run, now.date())
    for hours in (0, 2):
        prune_snapshots.run(site.data, {"site": 2}, now + timedelta(hours=hours), 1)


def _check_contents(site: CrawledSite, shelf: Shelf) -> None:
    held = {path for path in shelf.pages if path.startswith("/product/")}
    rows = site.query("SELECT url, price, title FROM {records} WHERE price IS NOT NULL")
    assert {url.removeprefix(shelf.base_url): (f"£{price:.2f}", title) for url, price, title in rows} == {
        path: (f"£{int(path[9:])}.{int(path[9:]) % VISITS:02}", f"P{path[9:]}") for path in held
    }
    assert site.query("SELECT count(*) FROM {body_snapshots}") == [(0,)]
    assert site.query("SELECT count(*), count(body_path) FROM {pages}") == [(46, 0)]
    assert site.query("SELECT count(*) FROM {tombstones}") == [(1,)]
    assert site.query("SELECT count(*) = count(DISTINCT (url, visit)) FROM {page_records}") == [(True,)]
    assert site.query("SELECT count(*) = count(DISTINCT event_id) FROM {page_diffs}") == [(True,)]
    kinds = site.query(
        "SELECT kind, count(*) FROM {page_diffs} WHERE visit = 4 AND kind <> 'corrected' GROUP BY 1 ORDER BY 1"
    )
    assert kinds == [("changed", 7), ("gone", 1)]
