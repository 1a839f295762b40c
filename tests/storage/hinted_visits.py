"""Visits of a site whose pages follow a history, without a server: the real state orders them, the truth answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa

from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.cadence import Cadence
from incremental_crawl.semantics.hints import HintLedger
from incremental_crawl.semantics.lifecycle import Fetched, Moment, Version
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.validators import Validators
from incremental_crawl.storage import discovery, hints, known_urls, visits
from incremental_crawl.storage.discovery import FoundBy, Source
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.rows import Journalled, Observation
from incremental_crawl.storage.state import State, open_state
from incremental_crawl.storage.visits import VisitOptions

SITEMAP = "https://site.example/sitemap.xml"
CADENCE = Cadence(timedelta(days=1), timedelta(0), timedelta(days=30), every_run=True)
BASE = "https://site.example/"

Lastmod = Callable[[str, int, datetime], str | None]
"""What the sitemap says of a page, the version that is true, and the moment of the visit."""


@dataclass
class HintedSite:
    """`truth` says which version every page has at a moment; `lastmod` what the sitemap says of it."""

    state: State
    truth: Callable[[datetime], Mapping[str, int]]
    lastmod: Lastmod
    held: dict[str, int] = field(default_factory=dict)
    waiting: dict[tuple[str, int], int] = field(default_factory=dict)
    delays: list[int] = field(default_factory=list)
    number: int = 0

    def visit(self, now: datetime, budget: int | None = None) -> list[str]:
        """One visit that asks at most `budget` pages; returns them in their order."""
        self.number += 1
        state, truth = self.state, self.truth(now)
        for page, version in truth.items():
            if self.held.get(page, version) != version:
                self.waiting.setdefault((page, version), self.number)
        visit = visits.enter(state, now.date(), now, VisitOptions(page_limit=budget), None)
        discovery.store(state, _source(visit.visit, len(truth)), self._listed(truth, now), True, [])
        with state.transaction():
            discovery.merge(state, visit.visit, now, timedelta(0), 1.0, 10**6, lambda _: True)
        known_urls.leave_out(state, lambda _: True)
        known_urls.select_due(state, visit, now, {"": "sent"})
        asked = [row[0] for row in state.rows("SELECT url FROM due_split ORDER BY position")]
        self._check(asked, truth, Moment(visit.visit, visit.day, now))
        return [url.removeprefix(BASE) for url in asked]

    @property
    def mean_delay(self) -> float:
        """How many visits a change waited on average; what was never found waited until now."""
        open_still = [
            self.number + 1 - since for (page, version), since in self.waiting.items() if self.held[page] != version
        ]
        delays = [*self.delays, *open_still]
        return sum(delays) / len(delays)

    @property
    def ledger(self) -> HintLedger:
        """What is known of the sitemap's dates."""
        return hints.ledgers(self.state)[SITEMAP]

    def _listed(self, truth: Mapping[str, int], now: datetime) -> pa.Table:
        dates = [self.lastmod(page, version, now) for page, version in truth.items()]
        empty = [None] * len(dates)
        return pa.table(
            {
                "url": pa.array([BASE + page for page in truth], pa.string()),
                "lastmod": pa.array(dates, pa.string()),
                "changefreq": pa.array(empty, pa.string()),
                "priority": pa.array(empty, pa.float64()),
            }
        )

    def _check(self, asked: Sequence[str], truth: Mapping[str, int], moment: Moment) -> None:
        pages = known_urls.by_url(self.state, asked)
        rows, observations = [], []
        for seq, url in enumerate(asked, start=1):
            page, name = pages[url], url.removeprefix(BASE)
            outcome = self._outcome(name, truth.get(name), moment.visit)
            rows.append(Journalled(seq, _after(page, outcome, moment)))
            observations.append(_observation(seq, url, moment, outcome))
        with self.state.transaction():
            known_urls.journal(self.state, rows)
            known_urls.fold(self.state)
            self.state.append("outbox_observations", observations)
            hints.learn_from(self.state, moment.visit)
            self.state.run("DELETE FROM outbox_observations")
            self.state.run("UPDATE visits SET status = 'closed'")

    def _outcome(self, page: str, version: int | None, visit: int) -> Outcome:
        before = self.held.get(page)
        if version is None or version == before:
            return Outcome.NOT_MODIFIED
        self.held[page] = version
        if before is None:
            return Outcome.NEW
        for waiting in [key for key in self.waiting if key[0] == page]:
            self.delays.append(visit - self.waiting.pop(waiting))
        return Outcome.CHANGED


@contextmanager
def hinted_site(folder: Path, truth: Callable[[datetime], Mapping[str, int]], lastmod: Lastmod) -> Iterator[HintedSite]:
    """A site with a fresh state in `folder`."""
    with open_state(SiteLayout(folder, "site"), "test", datetime(2026, 5, 1).astimezone()) as state:
        yield HintedSite(state, truth, lastmod)


def _source(visit: int, entries: int) -> Source:
    return Source(
        SITEMAP, visit, "sitemap", 200, None, None, "digest", entries, (), None, root=SITEMAP, found_by=FoundBy.ROBOTS
    )


def _after(page: PageState, outcome: Outcome, moment: Moment) -> PageState:
    if outcome is Outcome.NOT_MODIFIED:
        return lifecycle.not_modified(page, (), False, moment, CADENCE)
    fetched = Fetched(200, Validators('"1"'), False, "sent", "body", 1)
    return lifecycle.new_version(page, fetched, Version("c", "c", None, "page", "x", None, None), moment, CADENCE)


def _observation(number: int, url: str, moment: Moment, outcome: Outcome) -> Observation:
    return Observation(
        number, url, moment.visit, moment.at, "sweep", "GET", True, None, None, 200, None, None, outcome, 0, 1.0
    )
