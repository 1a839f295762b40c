"""Run a job of the code location on the Dagster instance, in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg

from incremental_crawl.defs.dead_runs import end_dead_runs
from incremental_crawl.defs.partitions import partition_key

INSTANCE_FOLDER = ".dagster"
# The run's events are in the instance; on the terminal only what the command itself says.
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True, slots=True)
class Launched:
    """How a run ended; `problem` is the first sentence that says why it did not succeed."""

    run_id: str
    success: bool
    problem: str | None
    numbers: dict[str, dict[str, Any]]


@contextmanager
def instance() -> Iterator[dg.DagsterInstance]:
    """The instance of DAGSTER_HOME; where that is unset, the one in `.dagster` of this folder with its dagster.yaml."""
    instance_home()
    with dg.DagsterInstance.get() as found:
        yield found


def instance_home() -> Path:
    """DAGSTER_HOME; where it is unset it is set to this folder's `.dagster`, made with a link to its dagster.yaml."""
    if not os.environ.get("DAGSTER_HOME"):
        os.environ["DAGSTER_HOME"] = str(Path.cwd() / INSTANCE_FOLDER)
    home = Path(os.environ["DAGSTER_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    settings = Path.cwd() / "dagster.yaml"
    if settings.exists() and not (home / "dagster.yaml").exists():
        (home / "dagster.yaml").symlink_to(settings)
    return home


def launch(
    definitions: dg.Definitions,
    job: str,
    site: str,
    day: date,
    last_day: date | None = None,
    run_config: Mapping[str, Any] | None = None,
) -> Launched:
    """Run `job` for the site's partition of `day`, or for the range of partitions up to `last_day`."""
    resolved = definitions.resolve_job_def(job)
    with instance() as own:
        end_dead_runs(own)
        ranged = last_day is not None and last_day != day
        result = resolved.execute_in_process(
            instance=own,
            partition_key=None if ranged else partition_key(day, site),
            tags=_range_tags(day, last_day, site) if ranged and last_day else None,
            run_config={**(run_config or {}), **_QUIET},
            raise_on_error=False,
        )
        return Launched(result.run_id, result.success, _problem(result), _numbers(result))


def visit_config(every_page: bool, only_urls: list[str], page_limit: int | None) -> dict[str, Any]:
    """The run config that opens a visit with these options."""
    options = {"every_page": every_page, "only_urls": only_urls, "page_limit": page_limit}
    return {"ops": {"sitemap_urls": {"config": options}}}


def _range_tags(first: date, last: date, site: str) -> dict[str, str]:
    return {
        "dagster/asset_partition_range_start": partition_key(first, site),
        "dagster/asset_partition_range_end": partition_key(last, site),
    }


def _problem(result: dg.ExecuteInProcessResult) -> str | None:
    if result.success:
        return None
    for evaluation in result.get_asset_check_evaluations():
        if not evaluation.passed and evaluation.blocking:
            return f"the check {evaluation.check_name} stopped the visit. {evaluation.description}"
    for event in result.all_events:
        failure = event.step_failure_data if event.is_step_failure else None
        if failure is not None and failure.error is not None:
            root = failure.error
            while root.cause is not None:
                root = root.cause
            return root.message.strip().partition(": ")[2] or root.message.strip()
    return "the run failed; its log in the Dagster UI says why"


def _numbers(result: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    return {
        event.asset_key.to_user_string(): {name: value.value for name, value in event.materialization.metadata.items()}
        for event in result.all_events
        if event.is_step_materialization and event.asset_key is not None
    }
