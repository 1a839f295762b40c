"""What Dagster loads: the lineage, the names, the partitions; a broken site file hurts its own site only."""

from __future__ import annotations

import subprocess
import sys

import dagster as dg
import pytest

from tests.crawl.visiting import local_site
from tests.dagster_model.dagster_project import ASSETS, FRIDAY, ROOT, DagsterProject

LINEAGE = {
    "sitemap_urls": set(),
    "revalidation_sweep": {"sitemap_urls"},
    "body_snapshots": {"revalidation_sweep"},
    "page_records": {"body_snapshots"},
    "tombstones": {"body_snapshots"},
    "page_diffs": {"page_records", "tombstones"},
    "records": {"page_diffs"},
}
OFFLINE = {"page_records", "page_diffs", "records"}
START = "http://127.0.0.1:9/"


def selected(definitions: dg.Definitions, job: str) -> set[str]:
    """The assets that a job materializes."""
    return {key.to_user_string() for key in definitions.resolve_job_def(job).asset_layer.executable_asset_keys}


def test_seven_assets_make_one_lineage_in_one_group(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    graph = project.load().resolve_asset_graph()
    lineage = {
        node.key.to_user_string(): {parent.to_user_string() for parent in node.parent_keys}
        for node in graph.asset_nodes
    }
    assert lineage == LINEAGE
    assert {node.group_name for node in graph.asset_nodes} == {"crawl"}
    assert all(node.description and node.kinds for node in graph.asset_nodes)


def test_jobs_select_what_the_contract_says(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    definitions = project.load()
    assert selected(definitions, "crawl") == set(LINEAGE)
    assert selected(definitions, "reparse") == OFFLINE
    assert selected(definitions, "resume_after_approval") == set(LINEAGE) - {"sitemap_urls", "revalidation_sweep"}
    assert definitions.resolve_job_def("prune_snapshots").partitions_def is None


def test_the_gates_are_blocking_checks(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    graph = project.load().resolve_asset_graph()
    gates = {(key.asset_key.to_user_string(), key.name): graph.get(key).blocking for key in graph.asset_check_keys}
    assert gates == {
        ("sitemap_urls", "sources_readable"): False,
        ("revalidation_sweep", "churn_within_limit"): True,
        ("body_snapshots", "audit_agrees_with_304"): False,
        ("body_snapshots", "not_blocked"): False,
        ("body_snapshots", "page_limit_reached"): False,
        ("page_records", "changes_within_limit"): True,
        ("records", "validators_trustworthy"): False,
    }


def test_a_partition_is_a_day_of_a_site(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    project.site_file("news", {"start_urls": [START], "enabled": False})
    for node in project.load().resolve_asset_graph().asset_nodes:
        assert node.partitions_def is not None
        keys = node.partitions_def.get_partition_keys()
        assert keys[0] == "2024-05-01|news"
        assert f"{FRIDAY.date()}|shop" in keys
    assert node.partitions_def is not None


def test_live_assets_take_one_partition_and_offline_ones_a_range_in_one_run(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    graph = project.load().resolve_asset_graph()
    single_run = {node.key.to_user_string() for node in graph.asset_nodes if node.backfill_policy is not None}
    assert single_run == OFFLINE


def test_every_enabled_site_with_a_cron_line_has_a_schedule(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START], "schedule": "10 4 * * *", "timezone": "Europe/Berlin"})
    project.site_file("news", {"start_urls": [START], "schedule": "*/20 * * * *", "schedule_on": True})
    project.site_file("resting", {"start_urls": [START], "enabled": False})
    project.site_file("by_hand", {"start_urls": [START], "schedule": None})
    schedules = {one.name: one for one in project.load().schedules or () if isinstance(one, dg.ScheduleDefinition)}
    assert set(schedules) == {"shop_crawl", "news_crawl"}
    shop, news = schedules["shop_crawl"], schedules["news_crawl"]
    assert (shop.cron_schedule, shop.execution_timezone) == ("10 4 * * *", "Europe/Berlin")
    assert (shop.default_status, news.default_status) == (
        dg.DefaultScheduleStatus.STOPPED,
        dg.DefaultScheduleStatus.RUNNING,
    )
    assert {shop.job_name, news.job_name} == {"crawl"}


def test_the_retention_sensor_runs_by_itself_and_starts_the_pruning(project: DagsterProject) -> None:
    sensor = project.load().resolve_sensor_def("snapshot_retention")
    assert (sensor.job_name, sensor.default_status) == ("prune_snapshots", dg.DefaultSensorStatus.RUNNING)
    assert sensor.description


def test_a_broken_site_file_takes_down_its_own_site_only(project: DagsterProject) -> None:
    project.site_file("shop", local_site(START, sitemaps="none"))
    project.site_file("broken", "start_urls: [http://127.0.0.1:9/]\ngate: {changed: 1.5}\n")
    schedules = {one.name: one for one in project.load().schedules or () if isinstance(one, dg.ScheduleDefinition)}
    assert schedules["broken_crawl"].default_status is dg.DefaultScheduleStatus.RUNNING, "nobody would see it fail"
    assert "gate.changed: 1.5" in str(schedules["broken_crawl"].description)
    assert project.tick("shop_crawl") == [f"{FRIDAY.date()}|shop"]
    with pytest.raises(dg.DagsterError) as ticked:
        project.tick("broken_crawl")
    assert "broken.yaml: gate.changed: 1.5 is not allowed" in str(ticked.value.__cause__)
    refused = project.run("crawl", FRIDAY.date(), "broken")
    assert not refused.success
    [message] = refused.failures
    assert "gate.changed: 1.5" in message
    assert project.run("crawl", FRIDAY.date(), "shop").materialized


def test_loading_warns_of_nothing(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    load = (
        "import warnings, dagster; warnings.simplefilter('error'); "
        "from incremental_crawl.definitions import defs; defs.get_repository_def().get_all_jobs()"
    )
    subprocess.run([sys.executable, "-c", load], cwd=ROOT, check=True, capture_output=True, text=True)


def test_the_workspace_is_valid(project: DagsterProject) -> None:
    project.site_file("shop", {"start_urls": [START]})
    command = [sys.executable, "-m", "dagster", "definitions", "validate", "--workspace", "workspace.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr.replace("SupersessionWarning", "")


def test_a_project_without_site_files_loads(project: DagsterProject) -> None:
    definitions = project.load()
    assert len(list(definitions.resolve_asset_graph().asset_nodes)) == len(ASSETS)
    assert not list(definitions.schedules or ())
