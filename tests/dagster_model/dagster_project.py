"""A project in a folder of its own, loaded into Dagster as at the moment that the test chooses."""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from incremental_crawl.storage.layout import SiteLayout
from tests.crawl.visiting import NAME, CrawledSite
from tests.origins.documents import DocumentsOrigin

ROOT = Path(__file__).parents[2]
FIRST_DAY = date(2024, 5, 1)
FRIDAY = datetime(2024, 5, 3, 12, tzinfo=UTC)
SITE = NAME
ASSETS = (
    "sitemap_urls",
    "revalidation_sweep",
    "body_snapshots",
    "page_records",
    "tombstones",
    "page_diffs",
    "records",
)


@dataclass(frozen=True)
class Ran:
    """A run that ended, whether well or not."""

    result: dg.ExecuteInProcessResult

    @property
    def success(self) -> bool:
        """Whether all of it succeeded."""
        return self.result.success

    @property
    def started(self) -> list[str]:
        """The steps that were begun."""
        return [event.step_key for event in self.result.all_events if event.is_step_start and event.step_key]

    @property
    def materialized(self) -> list[tuple[str, str]]:
        """Asset and partition of every materialization."""
        return [
            (event.asset_key.to_user_string(), str(event.partition))
            for event in self.result.all_events
            if event.is_step_materialization and event.asset_key is not None
        ]

    @property
    def failures(self) -> list[str]:
        """The innermost message of every failed step."""
        messages = []
        for event in self.result.all_events:
            error = event.step_failure_data.error if event.is_step_failure else None
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                messages.append(error.message.strip())
        return messages

    @property
    def checks(self) -> dict[str, bool]:
        """The asset checks that were made, and whether they passed."""
        return {one.check_name: one.passed for one in self.result.get_asset_check_evaluations()}

    def evaluation(self, check: str) -> dg.AssetCheckEvaluation:
        """What the check said."""
        [found] = [one for one in self.result.get_asset_check_evaluations() if one.check_name == check]
        return found

    def metadata(self, asset: str) -> dict[str, Any]:
        """The metadata of the asset's materialization in this run."""
        [found] = self.result.asset_materializations_for_node(asset)
        return dict(found.metadata)


@dataclass
class DagsterProject:
    """Site files and data under `folder`, and an instance; `load` reads the definitions anew."""

    folder: Path
    instance: dg.DagsterInstance
    monkeypatch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        self.sites.mkdir()
        # Dagster warns of the tags that it gives to runs with two dimensions.
        warnings.filterwarnings("ignore", message="Non-compliant tag keys like .'dagster/partition/")
        self.monkeypatch.setenv("DAGSTER_HOME", str(self.home))
        self.monkeypatch.setenv("INCREMENTAL_CRAWL_SITES", str(self.sites))
        self.monkeypatch.setenv("INCREMENTAL_CRAWL_DATA", str(self.data))
        self.monkeypatch.setenv("INCREMENTAL_CRAWL_FIRST_DAY", FIRST_DAY.isoformat())
        self.at(FRIDAY)

    @property
    def home(self) -> Path:
        """The folder of the instance."""
        return Path(self.instance.root_directory)

    @property
    def sites(self) -> Path:
        """The folder of the site files."""
        return self.folder / "sites"

    @property
    def data(self) -> Path:
        """The data root."""
        return self.folder / "data"

    @property
    def layout(self) -> SiteLayout:
        """Where the files of the site `site` lie."""
        return SiteLayout(self.data, SITE)

    def at(self, moment: datetime, origin: DocumentsOrigin | None = None) -> None:
        """From now on it is this moment, for runs, for schedules, and at the origin."""
        if origin is not None:
            origin.moment = moment
        self.monkeypatch.setenv("INCREMENTAL_CRAWL_NOW", moment.isoformat())

    def site_file(self, name: str, settings: dict[str, Any] | str) -> None:
        """Write a site file."""
        text = settings if isinstance(settings, str) else yaml.safe_dump(settings)
        (self.sites / f"{name}.yaml").write_text(text, encoding="utf-8")

    def crawled(self, origin: DocumentsOrigin, settings: dict[str, Any], *moments: datetime) -> CrawledSite:
        """The site `site` with these settings after visits at these moments, made without Dagster."""
        site = CrawledSite(self.folder, settings)
        for moment in moments:
            origin.moment = moment
            site.visit(moment)
        return site

    def load(self) -> dg.Definitions:
        """The definitions as a code location that starts now would load them."""
        for name in [
            name for name in sys.modules if name.startswith(("incremental_crawl.def", "incremental_crawl.cli"))
        ]:
            self.monkeypatch.delitem(sys.modules, name)
        definitions = importlib.import_module("incremental_crawl.definitions").defs
        assert isinstance(definitions, dg.Definitions)
        return definitions

    def run(self, job: str, day: date | None, site: str = SITE, last_day: date | None = None) -> Ran:
        """Run a job to its end for a partition, for a range of days, or without any partition (`day` None)."""
        tags = {}
        if day is not None and last_day is not None:
            tags = {
                "dagster/asset_partition_range_start": f"{day}|{site}",
                "dagster/asset_partition_range_end": f"{last_day}|{site}",
            }
        definition = self.load().resolve_job_def(job)
        result = definition.execute_in_process(
            instance=self.instance,
            partition_key=f"{day}|{site}" if day is not None and not tags else None,
            tags=tags,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
        return Ran(result)

    def tick(self, schedule: str) -> list[str] | str:
        """What a schedule asks for at the present moment: partition keys, or the reason for skipping."""
        definitions = self.load()
        context = dg.build_schedule_context(instance=self.instance, repository_def=definitions.get_repository_def())
        evaluated = definitions.resolve_schedule_def(schedule).evaluate_tick(context)
        if evaluated.skip_message:
            return evaluated.skip_message
        return [str(request.partition_key) for request in evaluated.run_requests or ()]


def succeeded(ran: Ran) -> Ran:
    """The run, which must have succeeded."""
    assert ran.success, (ran.failures, ran.checks)
    return ran
