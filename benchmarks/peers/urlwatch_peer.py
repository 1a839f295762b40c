"""urlwatch: a `url` job for each page, its own database, run once a visit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from urlwatch.config import CommandConfig  # type: ignore[import-not-found]
from urlwatch.main import Urlwatch  # type: ignore[import-not-found]
from urlwatch.storage import CacheMiniDBStorage, UrlsYaml, YamlConfigStorage  # type: ignore[import-not-found]

from benchmarks.peers.answers import READ_S, Tell

_JOB: dict[str, Any] = {
    # Documented for pages: compare the text, not the markup.
    "filter": ["html2text"],
    "timeout": READ_S,
    # Documented for passing failures: they are no errors, and the next request is conditional again.
    "ignore_connection_errors": True,
    "ignore_timeout_errors": True,
    "ignore_too_many_redirects": True,
    "ignore_incomplete_reads": True,
    "ignore_http_error_codes": "401, 402, 403, 408, 418, 425, 429, 451, 5xx, 999",
}
_EVENTS = {"new": ["new"], "changed": ["changed"]}


def visit(urls: Sequence[str], folder: Path, tell: Tell) -> None:
    """Run all jobs; tell what the database holds and what was reported."""
    files = [folder / name for name in ("urlwatch.yaml", "urls.yaml", "hooks.py", "cache.db")]
    settings, jobs, hooks, cache = map(str, files)
    files[1].write_text(yaml.safe_dump_all([{"url": url, **_JOB} for url in urls]), encoding="utf-8")
    config = CommandConfig([], "urlwatch", str(folder), str(folder), settings, jobs, hooks, cache, verbose=False)
    if not files[0].exists():
        YamlConfigStorage.write_default_config(settings)
    program = Urlwatch(config, YamlConfigStorage(settings), CacheMiniDBStorage(cache), UrlsYaml(jobs))
    program.run_jobs()
    verbs = {state.job.url: state.verb for state in program.report.job_states}
    for job in program.jobs:
        text = program.cache_storage.load(job, job.get_guid())[0]
        tell(url=job.url, text=text or None, events=_EVENTS.get(str(verbs.get(job.url)), []))
