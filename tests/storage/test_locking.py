"""One writer per site: whoever is kept out learns by whom, and nothing that two do at once is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from json import dumps
from pathlib import Path

import pytest

from incremental_crawl.storage.lock import SiteLocked, holder, site_lock
from incremental_crawl.storage.state import open_state
from tests.crawl.visiting import CrawledSite, local_site
from tests.storage.shelf import FIRST_DAY, Shelf, page

ROOT = Path(__file__).parents[2]
HOLD = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from incremental_crawl.storage.lock import site_lock
with site_lock(Path(sys.argv[1]), "revalidation_sweep", datetime(2026, 5, 1, 12, tzinfo=UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""
READ = """
import sys, duckdb
con = duckdb.connect(sys.argv[1], read_only=True)
print("open", flush=True)
sys.stdin.read()
"""


@contextmanager
def program(code: str, argument: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(argument)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_error_names_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "state" / "shop.lock"
    with program(HOLD, path) as process:
        expected = (
            rf"site shop is in use by process {process.pid} \(revalidation_sweep, since 2026-05-01T12:00:00\+00:00\)"
        )
        with pytest.raises(SiteLocked, match=expected), site_lock(path, "prune", FIRST_DAY, wait_s=0.2):
            pass
        assert process.poll() is None
        assert holder(path) is not None


def test_the_next_goes_on_once_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "shop.lock"
    with program(HOLD, path) as process:
        killer = threading.Timer(0.3, os.kill, (process.pid, signal.SIGKILL))
        killer.start()
        began = time.monotonic()
        with site_lock(path, "prune", FIRST_DAY, wait_s=20):
            assert 0.2 < time.monotonic() - began < 10
            assert f"process {os.getpid()} (prune" in str(holder(path))
        killer.join()
    assert holder(path) is None


def test_a_second_holder_in_the_same_process_waits_too(tmp_path: Path) -> None:
    path = tmp_path / "shop.lock"
    with (
        site_lock(path, "crawl", FIRST_DAY),
        pytest.raises(SiteLocked, match="crawl"),
        site_lock(path, "prune", FIRST_DAY, wait_s=0.1),
    ):
        pass
    with site_lock(path, "prune", FIRST_DAY, wait_s=0):
        pass


def test_a_reader_that_keeps_the_state_open_is_named(tmp_path: Path) -> None:
    with Shelf({}) as shelf:
        site = CrawledSite(tmp_path, local_site(shelf.url("/")))
        site.visit(FIRST_DAY)
        with program(READ, site.layout.state_file) as process:
            with pytest.raises(
                SiteLocked, match=rf"kept open by another program.*PID {process.pid}.*readers use the Parquet"
            ):
                site.visit(FIRST_DAY + timedelta(days=1))
            threading.Timer(0.5, process.kill).start()
            with open_state(site.layout, "test", FIRST_DAY, wait_s=20) as state:
                assert state.rows("SELECT count(*) FROM pages") == [(1,)]
        site.visit(FIRST_DAY + timedelta(days=1))
        assert site.query("SELECT max(visit) FROM {observations}") == [(2,)]


def test_two_visits_at_once_lose_nothing(tmp_path: Path) -> None:
    with Shelf({f"/page/{n}": page(f"Page {n}") for n in range(60)}) as shelf:
        settings = local_site(shelf.url("/"))
        site = CrawledSite(tmp_path, settings)
        command = [
            sys.executable,
            "-m",
            "tests.crawl.killed_visit",
            str(tmp_path),
            dumps(settings),
            FIRST_DAY.isoformat(),
            "",
            "1",
        ]
        both = [
            subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            for _ in range(2)
        ]
        errors = [process.communicate(timeout=100)[1] for process in both]
    said = [error.strip().splitlines()[-1] for process, error in zip(both, errors, strict=True) if process.returncode]
    assert all("SiteLocked" in line or "VisitRefused" in line for line in said), errors
    assert len(said) < 2
    assert len(site.events(1)) == 61
    assert site.events() == site.events(1)
    assert site.query("SELECT count(*), count(DISTINCT url) FROM {records}") == [(61, 61)]
    assert site.query("SELECT count(*) FROM {body_snapshots}") == [(61,)]
    assert max(shelf.asked(target) for target in shelf.pages) <= 2
    assert site.state("SELECT count(*) FROM visits WHERE status <> 'closed'") == [(0,)]
