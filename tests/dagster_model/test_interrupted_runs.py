"""A killed run costs a moment: its visit ends well in its own partition, and its site's queue is free again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from dagster import DagsterRunStatus

from incremental_crawl.storage.lock import site_lock
from tests.crawl.visiting import CrawledSite, local_site
from tests.dagster_model.dagster_project import ASSETS, FRIDAY, ROOT, DagsterProject, succeeded
from tests.dagster_model.origins import BEGINNING, PAGES, pages_with
from tests.origins.documents import Behaviour, DocumentsOrigin

BEFORE_MIDNIGHT = datetime(2024, 5, 3, 23, 59, tzinfo=UTC)
AFTER_MIDNIGHT = BEFORE_MIDNIGHT + timedelta(minutes=11)
SLOW_PAGE = "/pages/page-23"


@pytest.fixture
def origin() -> Iterator[DocumentsOrigin]:
    """Pages that never change."""
    with DocumentsOrigin(pages_with({BEGINNING: "answer"}), noise=False) as running:
        yield running


@contextmanager
def crawl_under_way(project: DagsterProject, origin: DocumentsOrigin) -> Iterator[int]:
    """The process id of an `incremental-crawl` that waits for its last page inside the block; then it is killed."""
    origin.script(SLOW_PAGE, Behaviour(delay_s=60))
    command = [sys.executable, "-m", "incremental_crawl", "crawl", "site", "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while len(origin.log) < PAGES + 1 and process.poll() is None:
            time.sleep(0.02)
        for mark in (project.home / "running").glob("*.lock"):
            os.utime(mark, (0, 0))  # the run seems to have gone on for long
        yield process.pid
        process.kill()
    origin.script(SLOW_PAGE)


def status_of_only_run(project: DagsterProject) -> DagsterRunStatus:
    """What the instance says of the only run there is."""
    [run] = project.instance.get_runs()
    return run.status


def test_a_visit_killed_before_midnight_is_finished_after_it_in_its_own_partition(
    project: DagsterProject, origin: DocumentsOrigin
) -> None:
    settings = local_site(origin.base_url + "/", main_text="none")
    project.site_file("site", settings)
    project.at(BEFORE_MIDNIGHT)
    with crawl_under_way(project, origin):
        pass
    project.at(AFTER_MIDNIGHT)
    assert project.tick("site_crawl") == ["2024-05-03|site"]
    early = project.run("crawl", AFTER_MIDNIGHT.date())
    assert "visit 1 of 2024-05-03 is not finished" in early.failures[0]
    finished = succeeded(project.run("crawl", BEFORE_MIDNIGHT.date()))
    assert dict(finished.materialized) == dict.fromkeys(ASSETS, "2024-05-03|site")
    crawled = CrawledSite(project.folder, settings)
    assert crawled.query("SELECT visit, day::VARCHAR, count(*) FROM {page_records} GROUP BY ALL") == [
        (1, "2024-05-03", PAGES + 1)
    ]
    assert project.tick("site_crawl") == ["2024-05-04|site"]


def test_a_killed_run_is_ended_by_the_next_tick_and_a_living_one_is_not(
    project: DagsterProject, origin: DocumentsOrigin
) -> None:
    project.site_file("site", local_site(origin.base_url + "/"))
    with crawl_under_way(project, origin) as pid:
        assert f"in use by process {pid}" in project.tick("site_crawl")
        assert status_of_only_run(project) is DagsterRunStatus.STARTED
    assert status_of_only_run(project) is DagsterRunStatus.STARTED
    assert project.tick("site_crawl") == ["2024-05-03|site"]
    assert status_of_only_run(project) is DagsterRunStatus.FAILURE, "it would hold up its site's queue for ever"
    assert not list((project.home / "running").glob("*.lock"))


def test_a_tick_is_skipped_while_the_site_is_in_use(project: DagsterProject, origin: DocumentsOrigin) -> None:
    project.crawled(origin, local_site(origin.base_url + "/", main_text="none"), FRIDAY)
    with site_lock(project.layout.lock_file, "a look at the state", FRIDAY):
        assert f"in use by process {os.getpid()} (a look at the state" in project.tick("site_crawl")
    assert project.tick("site_crawl") == ["2024-05-03|site"]
