"""Re-parsing and pruning: runs that ask the web nothing."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import dagster as dg
import pytest

from tests.crawl.visiting import CrawledSite, local_site
from tests.dagster_model.dagster_project import FRIDAY, DagsterProject, succeeded
from tests.dagster_model.origins import BEGINNING, PAGES, SATURDAY, THURSDAY, WEDNESDAY, pages_with
from tests.origins.documents import DocumentsOrigin

DAY = timedelta(days=1)
RULES = {"extract": [{"name": "document", "match": "/pages/*", "fields": {"title": "h1"}}]}


@pytest.fixture(scope="module")
def origin() -> Iterator[DocumentsOrigin]:
    """Every page changes before Friday's and before Saturday's visit."""
    history = pages_with({BEGINNING: "answer", FRIDAY: "question", SATURDAY: "doubt"})
    with DocumentsOrigin(history, noise=False) as running:
        yield running


@pytest.fixture(scope="module")
def past(origin: DocumentsOrigin, tmp_path_factory: pytest.TempPathFactory) -> CrawledSite:
    """A site crawled on Thursday, Friday and Saturday."""
    settings = local_site(origin.base_url + "/", main_text="none", gate={"changed": 1, "confirm_gone_after": "0s"})
    site = CrawledSite(tmp_path_factory.mktemp("past"), settings)
    for moment in (THURSDAY, FRIDAY, SATURDAY):
        origin.moment = moment
        site.visit(moment)
    return site


@pytest.fixture
def site(project: DagsterProject, past: CrawledSite) -> CrawledSite:
    """The same site in the project, on Saturday."""
    shutil.copytree(past.data, project.data)
    project.at(SATURDAY)
    return CrawledSite(project.folder, past.settings)


def test_a_range_is_parsed_again_in_one_run_without_a_request(
    project: DagsterProject, origin: DocumentsOrigin, site: CrawledSite
) -> None:
    days = [f"{moment.date()}|site" for moment in (THURSDAY, FRIDAY, SATURDAY)]
    files = sorted(project.data.glob("page_records/*/*/*.parquet"))
    requests, told = len(origin.log), site.events()
    assert {kind for kind, _ in told} == {"new", "changed"}
    site.write(site.settings | RULES)
    ran = succeeded(project.run("reparse", THURSDAY.date(), last_day=SATURDAY.date()))
    again = [(asset, day) for asset in ("page_records", "page_diffs", "records") for day in days]
    assert sorted(ran.materialized) == sorted(again)
    assert len(origin.log) == requests
    assert sorted(project.data.glob("page_records/*/*/*.parquet")) == files, "files are replaced, not added"
    assert site.query("SELECT page_type, count(*) FROM {page_records} GROUP BY ALL ORDER BY ALL") == [
        ("document", 3 * PAGES),
        ("page", 1),
    ]
    added = Counter(site.events()) - Counter(told)
    assert Counter(kind for kind, _ in added.elements()) == {"corrected": PAGES}
    assert site.query("SELECT count(DISTINCT title) FROM {records}") == [(PAGES,)]


def test_the_other_sites_of_a_range_stay_as_they_are(
    project: DagsterProject, origin: DocumentsOrigin, site: CrawledSite
) -> None:
    for name in ("another", "yet_another"):
        project.site_file(name, site.settings)
    succeeded(project.run("crawl", SATURDAY.date(), "another"))

    def files() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in project.data.rglob("site=another/**/*.parquet")}

    before = files()
    for name in ("another", "site", "yet_another"):
        project.site_file(name, site.settings | RULES)
    succeeded(project.run("reparse", THURSDAY.date(), last_day=SATURDAY.date()))
    assert len(before) > 5
    assert files() == before


def test_one_day_is_parsed_again_and_a_day_without_bodies_is_refused(
    project: DagsterProject, site: CrawledSite
) -> None:
    site.write(site.settings | RULES)
    ran = succeeded(project.run("reparse", FRIDAY.date()))
    assert ran.metadata("page_records")["bodies read"].value == PAGES
    [message] = project.run("reparse", WEDNESDAY.date()).failures
    assert "no raw body of 2024-05-01 to 2024-05-01 is kept for site" in message


def sensed(project: DagsterProject) -> dg.RunRequest | dg.SkipReason:
    """What the retention sensor says now."""
    sensor = project.load().resolve_sensor_def("snapshot_retention")
    said = sensor(dg.build_sensor_context(instance=project.instance))
    assert isinstance(said, dg.RunRequest | dg.SkipReason)
    return said


def test_old_bodies_are_noticed_and_pruned_without_partition_or_configuration(
    project: DagsterProject, site: CrawledSite
) -> None:
    assert isinstance(sensed(project), dg.SkipReason)
    project.at(FRIDAY + 8 * DAY)
    asked = sensed(project)
    assert isinstance(asked, dg.RunRequest)
    assert asked.partition_key is None
    assert not asked.run_config
    records = site.query("SELECT url, content_sha256 FROM {page_records} ORDER BY ALL")
    succeeded(project.run("prune_snapshots", None))
    assert isinstance(sensed(project), dg.SkipReason)
    held = "SELECT DISTINCT day::VARCHAR FROM {body_snapshots} ORDER BY 1"
    assert site.query(held) == [(str(SATURDAY.date()),)]
    project.at(FRIDAY + 12 * DAY)
    succeeded(project.run("prune_snapshots", None))
    assert site.query(held) == []
    assert site.query("SELECT url, content_sha256 FROM {page_records} ORDER BY ALL") == records
    kept = "SELECT count(*), count(body_path), count(content_sha256) FROM {pages}"
    assert site.query(kept) == [(PAGES + 1, 0, PAGES + 1)]


def test_a_pruning_that_could_not_open_a_site_is_asked_for_again(project: DagsterProject, site: CrawledSite) -> None:
    project.at(FRIDAY + 8 * DAY)
    first = sensed(project)
    state = site.layout.state_file
    state.rename(project.data / "aside")
    state.write_bytes(b"this is no state")
    ran = project.run("prune_snapshots", None)
    project.at(FRIDAY + 8 * DAY + timedelta(hours=1))
    second = sensed(project)
    assert isinstance(first, dg.RunRequest)
    assert isinstance(second, dg.RunRequest)
    assert first.run_key != second.run_key, "a run key that was used once is used for ever"
    warnings = [entry.user_message for entry in project.instance.all_logs(ran.result.run_id) if entry.level == 30]
    assert [str(state) in warning for warning in warnings] == [True]
    (project.data / "aside").replace(state)
    succeeded(project.run("prune_snapshots", None))
    assert isinstance(sensed(project), dg.SkipReason)
