"""webchanges: a `url` job for each page, its own database, run once a visit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from webchanges.config import CommandConfig  # type: ignore[import-not-found]
from webchanges.main import Urlwatch  # type: ignore[import-not-found]
from webchanges.storage import (  # type: ignore[import-not-found]
    SsdbSQLite3Storage,
    YamlConfigStorage,
    YamlJobsStorage,
)

from benchmarks.peers.answers import IN_FLIGHT, READ_S, Tell

_JOB: dict[str, Any] = {
    # Documented for pages: compare the text, not the markup.
    "filters": ["html2text"],
    "timeout": READ_S,
    # No page here is under https: spares every job the reading of all certificates.
    "ssl_no_verify": True,
    # An answer without a body is a passing failure.
    "empty_as_transient": True,
    # Passing failures are no errors, and the next request is conditional again.
    "ignore_connection_errors": True,
    "ignore_timeout_errors": True,
    "ignore_too_many_redirects": True,
    "ignore_http_error_codes": "401, 402, 403, 408, 418, 425, 429, 451, 5xx, 999",
}
_EVENTS = {"new": ["new"], "changed": ["changed"]}


def visit(urls: Sequence[str], folder: Path, tell: Tell) -> None:
    """Run all jobs; tell what the database holds and what was reported."""
    settings, jobs, hooks, database = (
        folder / name for name in ("config.yaml", "jobs.yaml", "hooks.py", "snapshots.db")
    )
    jobs.write_text(yaml.safe_dump_all([{"url": url, **_JOB} for url in urls]), encoding="utf-8")
    # The check for a new release would leave this machine.
    settings.write_text(yaml.safe_dump({"version_check": {"enabled": False}}), encoding="utf-8")
    config = CommandConfig(["--max-workers", str(IN_FLIGHT)], folder, settings, jobs, hooks, database)
    stored = YamlConfigStorage(settings)
    stored.load()
    program = Urlwatch(config, stored, SsdbSQLite3Storage(database), YamlJobsStorage([jobs]))
    program.run_jobs()
    program.ssdb_storage.close()
    verbs = {state.job.url: state.verb for state in program.report.job_states}
    snapshots = SsdbSQLite3Storage(database)
    for job in program.jobs:
        text = snapshots.load(job.get_guid()).data
        tell(url=job.url, text=text or None, events=_EVENTS.get(str(verbs.get(job.url)).partition(",")[0], []))
