"""The project's own files: what is pinned, what is packed, what Dagster reads, what make runs."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.run_coordinator import QueuedRunCoordinator
from dagster._core.scheduler.instigation import TickStatus
from dagster._core.workspace.load import location_origins_from_yaml_paths
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PINNED = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?: ; [^\\]+)?(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)$"
)


def pins(file_name: str) -> dict[str, str]:
    """Name to version of a constraints file; fails on a line that is not an exact version with its hashes."""
    text = (ROOT / file_name).read_text().replace("\\\n", "")
    matches = {line: PINNED.match(re.sub(r" +", " ", line)) for line in text.splitlines()}
    assert [line for line, match in matches.items() if match is None] == []
    return {canonicalize_name(match["name"]): match["version"] for match in matches.values() if match}


def project_table() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def unmet(requirements: list[str], pinned: dict[str, str]) -> list[str]:
    """The requirements that no pin fulfils."""
    wanted = [Requirement(text) for text in requirements]
    return [str(one) for one in wanted if not one.specifier.contains(pinned.get(canonicalize_name(one.name), "0"))]


@pytest.mark.parametrize("file_name", ["constraints.txt", "constraints-dev.txt"])
def test_constraints_name_no_registry_and_no_place(file_name: str) -> None:
    text = (ROOT / file_name).read_text()
    assert not re.search(r"://|^\s*-(?!-hash)|--(?:index|extra|find|trusted)| @ ", text, re.MULTILINE)


def test_every_runtime_requirement_is_pinned_within_its_range() -> None:
    assert unmet([*project_table()["dependencies"], "setuptools>=77"], pins("constraints.txt")) == []


def test_every_development_requirement_is_pinned_within_its_range() -> None:
    development = project_table()["optional-dependencies"]["dev"]
    assert unmet(development, pins("constraints.txt") | pins("constraints-dev.txt")) == []


def test_nothing_is_pinned_twice() -> None:
    assert pins("constraints.txt").keys() & pins("constraints-dev.txt").keys() == set()


def test_a_wheel_carries_every_module_every_statement_and_the_type_marker(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "incremental_crawl", tmp_path / "incremental_crawl")
    build = "import setuptools.build_meta as backend; backend.build_wheel('.')"
    subprocess.run([sys.executable, "-W", "ignore", "-c", build], cwd=tmp_path, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = [path for path in (ROOT / "incremental_crawl").rglob("*") if path.suffix in {".py", ".sql", ".typed"}]
    assert packed == {path.relative_to(ROOT).as_posix() for path in sources}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    shutil.copy(ROOT / "dagster.yaml", tmp_path)
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


def test_the_instance_sends_no_telemetry(instance: DagsterInstance) -> None:
    assert not instance.telemetry_enabled


def test_the_queue_admits_one_run_per_site(instance: DagsterInstance) -> None:
    assert isinstance(instance.run_coordinator, QueuedRunCoordinator)
    limits = instance.get_concurrency_config().run_queue_config
    assert limits is not None
    assert limits.tag_concurrency_limits == [
        {"key": "dagster/partition/site", "value": {"applyLimitPerUniqueValue": True}, "limit": 1}
    ]


def test_a_killed_run_is_started_again_and_a_failed_one_is_not(instance: DagsterInstance) -> None:
    assert instance.run_monitoring_enabled
    assert instance.run_monitoring_settings["free_slots_after_run_end_seconds"] > 0
    assert instance.run_retries_enabled
    assert instance.run_retries_max_retries > 0
    assert not instance.run_retries_retry_on_asset_or_op_failure


@pytest.mark.parametrize("instigator", [InstigatorType.SCHEDULE, InstigatorType.SENSOR])
def test_tick_history_is_bounded(instance: DagsterInstance, instigator: InstigatorType) -> None:
    kept_days = instance.get_tick_retention_settings(instigator)
    assert {status for status, days in kept_days.items() if days < 1} == set()
    assert kept_days[TickStatus.SKIPPED] <= kept_days[TickStatus.FAILURE]


def test_the_workspace_loads_the_definitions_of_this_folder() -> None:
    [origin] = location_origins_from_yaml_paths([str(ROOT / "workspace.yaml")])
    assert origin.location_name == "incremental_crawl"
    target = origin.loadable_target_origin
    assert target.module_name == "incremental_crawl.definitions"
    assert Path(str(target.working_directory)).resolve() == ROOT


def make(*arguments: str, **variables: str) -> str:
    """What make would run, without running it."""
    settings = [f"{name}={value}" for name, value in variables.items()]
    return subprocess.run(["make", *arguments, *settings], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_make_crawl_is_the_demo_unless_a_site_is_named() -> None:
    assert "-m incremental_crawl.demo" in make("-n", "crawl")
    with_site = make("-n", "crawl", SITE="shop")
    assert "incremental-crawl crawl shop" in with_site
    assert "demo" not in with_site


def test_help_tells_of_every_command_of_the_contract() -> None:
    told = set(re.findall(r"make ([a-z-]+)", make("help")))
    assert told >= {"crawl", "test", "dev", "check", "bench", "soak"}
