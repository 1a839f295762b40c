"""`kill -9` at any moment costs a moment: the next run ends where an undisturbed one does."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.storage import visits
from incremental_crawl.storage.durable import DurableStep
from tests.crawl.killed_visit import BATCH
from tests.crawl.visiting import CrawledSite, local_site
from tests.origins.documents import Behaviour, DocumentsOrigin
from tests.origins.histories import synthetic_history, visit_moments

MOMENTS = visit_moments(2)
IN_FLIGHT = 4

# What may differ between a disturbed and an undisturbed visit: times, run ids, and the order of a visit's rows.
PAGES = (
    "SELECT url, etag, last_modified, content_sha256, body_sha256, meta_sha256, status, body_path, redirect_to, "
    "gone_since IS NULL, failures, lastmod, page_type, extractor_version, stale FROM {pages} ORDER BY url"
)
EVENTS = (
    "SELECT event_id, url, kind, old_sha256, new_sha256, moved_to, evidence, diff, fields FROM {page_diffs} "
    "ORDER BY event_id"
)
RECORDS = "SELECT url, content_sha256, record, visit FROM {page_records} ORDER BY url, visit"
CURRENT = "SELECT url, content_sha256, text FROM {records} ORDER BY url"
BODIES = "SELECT url, body_sha256 FROM {body_snapshots} ORDER BY ALL"
TOMBSTONES = "SELECT url, visit, status, last_sha256 FROM {tombstones} ORDER BY ALL"


class Starter(AbstractContextManager["Starter"]):
    """The process that starts visits as processes of their own."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crawl.visit_starter"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line: str) -> None:
        """Start a visit."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def hear(self, word: str) -> str:
        """The next line, which begins with `word`, without it."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline().split()
        assert said[:1] == [word], said
        return said[1]

    def __exit__(self, *exc: object) -> None:
        self._process.communicate(timeout=60)


class Disturbance:
    """A site after its first visit, and what its second visit comes to when nobody disturbs it."""

    def __init__(self, folder: Path, origin: DocumentsOrigin, starter: Starter) -> None:
        self.folder = folder
        self.origin = origin
        self.starter = starter
        self.settings = local_site(
            origin.base_url + "/",
            main_text="none",
            politeness={"requests_per_second": None, "sweep_concurrency": IN_FLIGHT, "fetch_concurrency": IN_FLIGHT},
            revalidation={"audit_share": 0.1},
        )
        origin.moment = MOMENTS[0]
        CrawledSite(folder / "first", self.settings).visit(MOMENTS[0])
        origin.moment = MOMENTS[1]
        origin.script("/pages/page-0003", Behaviour(status=301, location="/pages/page-0003-moved"))
        origin.script("/pages/page-0003-moved", Behaviour(status=200, body=b"<h1>Moved</h1><p>Here it is.</p>"))
        origin.script("/pages/page-0005", Behaviour(status=410))
        origin.script("/pages/page-0006", Behaviour(status=404))
        undisturbed = self.copy("undisturbed")
        before = len(origin.log)
        began = time.monotonic()
        undisturbed.visit(MOMENTS[1])
        self.seconds = time.monotonic() - began
        self.requests = len(origin.log) - before
        self.outcome = outcome(undisturbed)

    def copy(self, name: str) -> CrawledSite:
        """The site as its first visit left it, in a folder of its own."""
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder / "first", target)
        return CrawledSite(target, self.settings)

    def start(self, site: CrawledSite, step: str = "", nth: int = 1) -> int:
        """Begin the second visit in a process of its own; returns its number."""
        told = [str(site.folder), self.settings, MOMENTS[1].isoformat(), step, nth]
        self.starter.say(json.dumps(told))
        return int(self.starter.hear("begun"))

    def end(self) -> int:
        """Wait for the end of the visit that was started; returns how its process ended."""
        return int(self.starter.hear("ended"))

    def check(self, site: CrawledSite, asked_before: int) -> None:
        """Finish the visit and compare; at most one open batch (and what was in flight) is asked again."""
        site.now = MOMENTS[1]
        with site.run().state("look") as state:
            finished = visits.current(state) is None and len(state.rows("SELECT visit FROM visits")) == len(MOMENTS)
        if not finished:
            site.visit(MOMENTS[1])
        assert outcome(site) == self.outcome
        again = len(self.origin.log) - asked_before - self.requests
        assert again <= BATCH + 2 * IN_FLIGHT
        assert site.state("SELECT count(*) FROM journal")[0][0] == 0
        assert not list(site.layout.spool.glob("*")), "the spool is empty once the visit is published"


def outcome(site: CrawledSite) -> dict[str, Any]:
    """Everything that users can see of a site, but for times and run ids."""
    queries = {"events": EVENTS, "pages": PAGES, "records": RECORDS, "current": CURRENT, "bodies": BODIES}
    return {name: site.query(query) for name, query in (queries | {"tombstones": TOMBSTONES}).items()}


@pytest.fixture(scope="module")
def disturbance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disturbance]:
    """One origin and one undisturbed visit for all kills."""
    with DocumentsOrigin(synthetic_history(pages=60, visits=2), noise=False) as origin, Starter() as starter:
        yield Disturbance(tmp_path_factory.mktemp("kills"), origin, starter)


AGAIN = (
    DurableStep.SPOOL_SYNCED,
    DurableStep.BATCH_COMMITTED,
    DurableStep.PROPOSALS_COMMITTED,
    DurableStep.FILE_WRITTEN,
    DurableStep.FILE_RENAMED,
)


@pytest.mark.parametrize(
    ("step", "nth"),
    [*((step, 1) for step in DurableStep), *(pytest.param(step, 2, marks=pytest.mark.soak) for step in AGAIN)],
)
def test_a_kill_after_each_durable_step_loses_nothing(disturbance: Disturbance, step: DurableStep, nth: int) -> None:
    site = disturbance.copy("killed")
    before = len(disturbance.origin.log)
    disturbance.start(site, step, nth)
    assert disturbance.end() == -signal.SIGKILL, f"the visit never reached {step} for the {nth}. time"
    disturbance.check(site, before)


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(6, marks=pytest.mark.timeout(240)),
        pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
    ],
)
def test_kills_at_random_moments_lose_nothing(disturbance: Disturbance, kills: int) -> None:
    chance = random.Random(20261130 + kills)
    for _ in range(kills):
        site = disturbance.copy("killed")
        before = len(disturbance.origin.log)
        process = disturbance.start(site)
        time.sleep(chance.uniform(0, disturbance.seconds))
        with suppress(ProcessLookupError):  # it was done already
            os.kill(process, signal.SIGKILL)
        disturbance.end()
        disturbance.check(site, before)


def test_an_undisturbed_second_visit_finds_what_is_true(disturbance: Disturbance) -> None:
    kinds = Counter(event[2] for event in disturbance.outcome["events"])
    assert kinds["changed"] > 2
    assert kinds["new"] > 60
    assert (kinds["gone"], kinds["moved"]) == (2, 1)
