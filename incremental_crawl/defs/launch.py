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
import yaml
from dagster._core.instance.ref import InstanceRef
from dagster_shared.error import SerializableErrorInfo

from incremental_crawl.config.problems import ConfigError, Problem
from incremental_crawl.defs.dead_runs import end_dead_runs
from incremental_crawl.defs.partitions import partition_key

INSTANCE_FOLDER = ".dagster"
_PLAIN_SETTINGS = """# Written by incremental-crawl: there was no dagster.yaml here, and none in the project's folder.
telemetry:
  enabled: false
"""
# A run in this process writes nothing to its output but the progress bar, which belongs on the terminal.
_NO_CAPTURE = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
_UNCAPTURED = {"compute_logs": _NO_CAPTURE}
_INTERRUPTED = "DagsterExecutionInterruptedError"
# Errors whose sentence says everything.
_TOLD = {"ConfigError", "Failure", "SiteLocked", "StateTooNew", "StateUnusable", "VisitRefused"}
# The run's events are in the instance; on the terminal only what the command itself says.
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True, slots=True)
class Launched:
    """How a run ended; `problem` is the first sentence that says why it did not succeed."""

    run_id: str
    success: bool
    problem: str | None
    numbers: dict[str, dict[str, Any]]

    def counts(self, asset: str) -> dict[str, int | float]:
        """The plain numbers of an asset's metadata; none where it was not materialized."""
        return {name: value for name, value in self.numbers.get(asset, {}).items() if isinstance(value, int | float)}


@contextmanager
def instance() -> Iterator[dg.DagsterInstance]:
    """The instance of DAGSTER_HOME; where that is unset, the one in `.dagster` of this folder with its dagster.yaml.

    Raises `ConfigError` for a dagster.yaml that cannot be used.
    """
    home = instance_home()
    try:
        reference = InstanceRef.from_dir(str(home), overrides=_UNCAPTURED)
    except (dg.DagsterInvalidConfigError, yaml.YAMLError) as error:
        message = " ".join(str(error).partition(" Expected:")[0].split())
        raise ConfigError(home / "dagster.yaml", [Problem("", "", message, "settings of a Dagster instance")]) from None
    with dg.DagsterInstance.from_ref(reference) as found:
        yield found


def instance_home() -> Path:
    """DAGSTER_HOME; where it is unset it is set to this folder's `.dagster`.

    Without settings of its own the instance gets this folder's dagster.yaml, or else one that only says: no telemetry.
    """
    home = Path(os.environ.get("DAGSTER_HOME") or INSTANCE_FOLDER).expanduser().absolute()
    os.environ["DAGSTER_HOME"] = str(home)
    home.mkdir(parents=True, exist_ok=True)
    own, settings = home / "dagster.yaml", Path.cwd() / "dagster.yaml"
    if own.exists():
        return home
    own.unlink(missing_ok=True)  # a link whose target is gone
    if settings.exists():
        own.symlink_to(settings)
    else:
        own.write_text(_PLAIN_SETTINGS, encoding="utf-8")
    return home


def launch(
    definitions: dg.Definitions,
    job: str,
    site: str,
    day: date,
    last_day: date | None = None,
    run_config: Mapping[str, Any] | None = None,
) -> Launched:
    """Run `job` for the site's partition of `day`, or for the range of partitions up to `last_day`.

    Raises `KeyboardInterrupt` where a person interrupted it.
    """
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
            return _sentence(failure.error, result.run_id)
    return f"the run {result.run_id} failed; its log in the Dagster UI says why"


def _sentence(error: SerializableErrorInfo, run_id: str) -> str:
    """The root cause; where we did not foresee it, with its kind and the run that has the traceback."""
    while error.cause is not None:
        error = error.cause
    message = error.message.strip()
    if error.cls_name == _INTERRUPTED:
        raise KeyboardInterrupt
    if error.cls_name in _TOLD:
        return message.partition(": ")[2] or message
    return f"{message} (the traceback is in the log of run {run_id} in the Dagster UI)"


def _numbers(result: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    return {
        event.asset_key.to_user_string(): {name: value.value for name, value in event.materialization.metadata.items()}
        for event in result.all_events
        if event.is_step_materialization and event.asset_key is not None
    }
