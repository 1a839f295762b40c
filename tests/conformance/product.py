"""This product before the adversarial origin: the real `crawl` job over all rounds, judged by what it published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from incremental_crawl.origin.adversarial import ROUNDS, AdversarialOrigin, Behaviour, Kept, Verdict, verdicts
from tests.dagster_model.dagster_project import DagsterProject, succeeded

SETTINGS: dict[str, Any] = {
    "sitemaps": "none",
    "follow_links": False,
    "cadence": "every_run",
    "allow_private_hosts": ["127.0.0.0/8"],
    "politeness": {
        "requests_per_second": None,
        "timeout": "2s",
        "total_timeout": "4s",
        "max_body": "2MB",
        "max_decoded": "5MB",
    },
    "gate": {"changed": 1.0, "gone": 1.0, "failed": 1.0, "confirm_gone_after": "0s"},
    "main_text": "none",
}
AUDITED, UNAUDITED = "audited", "unaudited"


@dataclass
class Crawled:
    """What the product held and reported, round by round, and the outcomes that it observed by URL."""

    kept: list[dict[str, Kept]] = field(default_factory=list)
    outcomes: list[dict[str, set[str]]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def crawl(project: DagsterProject, origin: AdversarialOrigin, behaviours: Sequence[Behaviour]) -> Crawled:
    """Visit the behaviours over all rounds: those that need an audit as a site of their own."""
    sites = {
        name: [one for one in behaviours if one.audited is audited]
        for name, audited in ((UNAUDITED, False), (AUDITED, True))
    }
    sites = {name: own for name, own in sites.items() if own}
    for name, own in sites.items():
        starts = [url for one in own for url in origin.starts(one)]
        share = {"audit_share": 1.0 if name == AUDITED else 0.0}
        project.site_file(name, {**SETTINGS, "start_urls": starts, "revalidation": share})
    origin.restart()
    crawled = Crawled()
    for number in range(ROUNDS):
        origin.round = number
        project.at(origin.now)
        kept: dict[str, Kept] = {}
        outcomes: dict[str, set[str]] = {}
        for name in sites:
            succeeded(project.run("crawl", origin.now.date(), name))
            kept |= _kept(project, name, number + 1)
            outcomes |= _outcomes(project, name, number + 1)
        crawled.kept.append(kept)
        crawled.outcomes.append(outcomes)
    return crawled


def judged(origin: AdversarialOrigin, crawled: Crawled, behaviours: Sequence[Behaviour]) -> dict[str, list[str]]:
    """Everything that was wrong, by behaviour: by the judge of all clients, and by this product's own outcomes."""
    found: Mapping[str, Verdict] = verdicts(origin, crawled.kept, behaviours)
    return {one.name: [*found[one.name].problems, *_outcome_problems(origin, crawled, one)] for one in behaviours}


def _outcome_problems(origin: AdversarialOrigin, crawled: Crawled, behaviour: Behaviour) -> list[str]:
    url = origin.url(behaviour, behaviour.first_page)
    problems = []
    for number, right in enumerate(behaviour.outcomes):
        seen = crawled.outcomes[number].get(url, set())
        if not seen & set(right.split("|")):
            told = ", ".join(sorted(seen)) or "nothing"
            problems.append(f"round {number}: the outcome of {behaviour.first_page} was {told}, right is {right}")
    return problems


def _kept(project: DagsterProject, site: str, visit: int) -> dict[str, Kept]:
    texts = dict(_rows(project, f"SELECT url, text FROM '{project.data}/records/site={site}/type=page/*.parquet'"))
    events: dict[str, set[str]] = {}
    for url, kind in _rows(
        project, f"SELECT url, kind FROM '{project.data}/page_diffs/site={site}/*/*.parquet' WHERE visit = {visit}"
    ):
        events.setdefault(url, set()).add(kind)
    return {url: Kept(texts.get(url), frozenset(events.get(url, ()))) for url in (*texts, *(set(events) - set(texts)))}


def _outcomes(project: DagsterProject, site: str, visit: int) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for url, outcome in _rows(
        project, f"SELECT url, outcome FROM '{project.data}/observations/site={site}/*/*.parquet' WHERE visit = {visit}"
    ):
        found.setdefault(url, set()).add(outcome)
    return found


def _rows(project: DagsterProject, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as con:
        return con.execute(sql).fetchall()
