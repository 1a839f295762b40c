"""The jobs on a real instance: what a run materializes, what a gate stops, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import dagster as dg
import pytest

from incremental_crawl.stages import gates
from incremental_crawl.storage.visits import VisitRefused
from tests.crawl.visiting import local_site
from tests.dagster_model.dagster_project import ASSETS, FRIDAY, DagsterProject, succeeded
from tests.dagster_model.origins import BEGINNING, MONDAY, PAGES, THURSDAY, WEDNESDAY, pages_with
from tests.origins.documents import Behaviour, DocumentsOrigin
from tests.origins.histories import synthetic_history, truth_between

SUMMARY = {
    "pages known",
    "due",
    "asked",
    "requests",
    "304 not modified",
    "same hash",
    "changed",
    "new",
    "gone",
    "failed",
}
BYTES = {"bytes received", "bytes saved"}
GATED = ["body_snapshots", "page_records", "tombstones", "page_diffs", "records"]


def settings_of(origin: DocumentsOrigin, **more: Any) -> dict[str, Any]:
    """A site file for the origin."""
    return local_site(origin.base_url + "/", main_text="none", revalidation={"audit_share": 0}, **more)


@pytest.fixture
def redesigned() -> Iterator[DocumentsOrigin]:
    """Every page says another word from Friday noon on."""
    with DocumentsOrigin(pages_with({BEGINNING: "answer", FRIDAY: "question"}), noise=False) as origin:
        yield origin


def test_a_crawl_materializes_its_partition_with_numbers_that_plot(project: DagsterProject) -> None:
    history = synthetic_history(pages=30, visits=3, start=WEDNESDAY, every=timedelta(days=1))
    with DocumentsOrigin(history) as origin:
        project.crawled(origin, settings_of(origin), THURSDAY)
        project.at(FRIDAY, origin)
        ran = succeeded(project.run("crawl", FRIDAY.date()))
        asked = len(origin.pages) + 1
    assert dict(ran.materialized) == dict.fromkeys(ASSETS, "2024-05-03|site")
    assert ran.checks == dict.fromkeys(
        (
            "sources_readable",
            "churn_within_limit",
            "audit_agrees_with_304",
            "not_blocked",
            "page_limit_reached",
            "changes_within_limit",
            "validators_trustworthy",
        ),
        True,
    )
    truth = truth_between(history, THURSDAY, FRIDAY)
    summary = {name: one.value for name, one in ran.metadata("records").items()}
    assert summary.keys() >= SUMMARY | BYTES
    assert (summary["changed"], summary["new"], summary["gone"]) == (
        len(truth.changed),
        len(truth.new),
        len(truth.gone),
    )
    assert summary["304 not modified"] + summary["same hash"] == asked - len(truth.changed) - len(truth.new)
    assert summary["bytes saved"] > 0
    assert summary["bytes received"] > 0
    sources = ran.metadata("sitemap_urls")
    assert isinstance(sources["sources"], dg.MarkdownMetadataValue)
    assert f"| {origin.base_url}/sitemap.xml | robots.txt | 200 | read |" in str(sources["sources"].value)
    assert sources["new"].value == len(truth.new)
    assert {"unlisted", "unchanged", "sources read"} <= sources.keys()
    plotted = dg.IntMetadataValue | dg.FloatMetadataValue
    nothing = [asset for asset in ASSETS if not any(isinstance(one, plotted) for one in ran.metadata(asset).values())]
    assert nothing == []
    filled = {asset: project.instance.get_materialized_partitions(dg.AssetKey(asset)) for asset in ASSETS}
    assert filled == {asset: {"2024-05-03|site"} for asset in ASSETS}


def test_a_sweep_reports_no_decisions_that_it_has_not_made(
    project: DagsterProject, redesigned: DocumentsOrigin
) -> None:
    project.site_file("site", settings_of(redesigned))
    numbers = project.run("crawl", FRIDAY.date()).metadata("revalidation_sweep")
    assert numbers.keys() >= {"pages known", "due", "asked", "304 not modified", "failed", "bytes received", "planned"}
    assert not numbers.keys() & {"changed", "new", "gone"}


def test_a_closed_gate_stops_the_run_and_an_approval_days_later_goes_on(
    project: DagsterProject, redesigned: DocumentsOrigin
) -> None:
    site = project.crawled(redesigned, settings_of(redesigned), WEDNESDAY, THURSDAY)
    project.at(FRIDAY, redesigned)
    stopped = project.run("crawl", FRIDAY.date())
    assert not stopped.success
    assert stopped.checks == {"sources_readable": True, "churn_within_limit": False}
    assert not set(stopped.started) & set(GATED)
    evaluation = stopped.evaluation("churn_within_limit")
    assert f"{PAGES} of {PAGES + 1} pages changed" in str(evaluation.description)
    assert "incremental-crawl approve site" in str(evaluation.description)
    assert evaluation.metadata["changed"].value == PAGES

    site.now = MONDAY
    project.at(MONDAY, redesigned)
    assert not project.run("resume_after_approval", FRIDAY.date()).materialized
    redesigned.log.clear()
    assert gates.approve(site.run(), even_if_incomplete=False).day == FRIDAY.date()
    resumed = succeeded(project.run("resume_after_approval", FRIDAY.date()))
    assert {"churn_within_limit", "changes_within_limit"} <= {name for name, passed in resumed.checks.items() if passed}
    assert resumed.materialized == [(asset, "2024-05-03|site") for asset in GATED]
    assert not any(request.conditional for request in redesigned.log), "there is no second sweep"
    assert len(redesigned.log) <= 2 * PAGES, "the sweep had the bodies already; further loads tell the noise"
    assert [kind for kind, _ in site.events(visit=3)] == ["changed"] * PAGES


def test_while_a_plan_waits_other_days_are_crawled_and_the_approved_visit_comes_first(
    project: DagsterProject, redesigned: DocumentsOrigin
) -> None:
    site = project.crawled(redesigned, settings_of(redesigned), WEDNESDAY, THURSDAY)
    project.at(FRIDAY, redesigned)
    assert not project.run("crawl", FRIDAY.date()).success
    site.now = MONDAY
    project.at(MONDAY, redesigned)
    assert project.tick("site_crawl") == ["2024-05-06|site"]
    succeeded(project.run("crawl", MONDAY.date()))
    gates.approve(site.run(), even_if_incomplete=False)
    assert project.tick("site_crawl") == ["2024-05-03|site"]
    succeeded(project.run("crawl", FRIDAY.date()))
    assert project.tick("site_crawl") == ["2024-05-06|site"]


def test_a_rejected_plan_is_dropped(project: DagsterProject, redesigned: DocumentsOrigin) -> None:
    site = project.crawled(redesigned, settings_of(redesigned), WEDNESDAY, THURSDAY)
    project.at(FRIDAY, redesigned)
    assert not project.run("crawl", FRIDAY.date()).success
    site.now = FRIDAY
    gates.reject(site.run())
    with pytest.raises(VisitRefused, match="no plan of site is waiting"):
        gates.approve(site.run(), even_if_incomplete=False)
    refused = project.run("resume_after_approval", FRIDAY.date())
    assert not refused.materialized
    assert "no visit of 2024-05-03 is open for site" in refused.failures[0]


def test_what_only_a_digest_can_tell_is_stopped_at_the_second_gate(project: DagsterProject) -> None:
    history = pages_with({BEGINNING: "answer", FRIDAY: "question"})
    with DocumentsOrigin(history, validators="none", noise=False) as origin:
        site = project.crawled(origin, settings_of(origin), THURSDAY)
        project.at(FRIDAY, origin)
        stopped = project.run("crawl", FRIDAY.date())
        assert stopped.checks.items() >= {"churn_within_limit": True, "changes_within_limit": False}.items()
        assert not set(stopped.started) & {"page_diffs", "records"}
        gates.approve(site.run(), even_if_incomplete=False)
        succeeded(project.run("resume_after_approval", FRIDAY.date()))
    assert len(site.events(visit=2)) == PAGES


def test_a_new_visit_for_yesterday_is_refused_once_in_one_sentence(
    project: DagsterProject, redesigned: DocumentsOrigin
) -> None:
    project.crawled(redesigned, settings_of(redesigned), THURSDAY)
    before = len(redesigned.log)
    refused = project.run("crawl", THURSDAY.date())
    assert not refused.success
    [message] = refused.failures
    assert "a new visit can only be opened for today (2024-05-03), not for 2024-05-02" in message
    assert "`incremental-crawl reparse site --from 2024-05-02`" in message
    assert refused.started == ["sitemap_urls"]
    assert len(redesigned.log) == before


def test_a_range_of_days_is_refused_by_what_asks_the_live_web(
    project: DagsterProject, redesigned: DocumentsOrigin
) -> None:
    project.site_file("site", settings_of(redesigned))
    [message] = project.run("crawl", THURSDAY.date(), last_day=FRIDAY.date()).failures
    assert "one partition (a day and a site) at a time" in message
    assert not list(redesigned.log)


def test_a_site_that_fails_is_stopped_with_its_numbers(project: DagsterProject, redesigned: DocumentsOrigin) -> None:
    project.crawled(redesigned, settings_of(redesigned), THURSDAY)
    for page in redesigned.pages:
        redesigned.script(f"/pages/{page}", Behaviour(status=500))
    evaluation = project.run("crawl", FRIDAY.date()).evaluation("churn_within_limit")
    assert "checks failed" in str(evaluation.description)
    assert evaluation.metadata["failed"].value == PAGES
