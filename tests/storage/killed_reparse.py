"""A re-parse in a process of its own that is killed at a durable step: `python -m` this."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

from incremental_crawl.stages import page_diffs, page_records, records
from incremental_crawl.storage.durable import observed_by
from tests.crawl.killed_visit import KillAt
from tests.crawl.visiting import CrawledSite


def reparse(site: CrawledSite, first: datetime, last: datetime) -> None:
    """The three stages of the job, over the days of two moments."""
    run = site.run(day=first)
    for stage in (page_records.run, page_diffs.run, records.run):
        site.reports[stage.__module__.rsplit(".", 1)[-1]] = stage(run, last.date())


def main() -> None:
    """Arguments: folder, settings (JSON), first and last moment, step, nth."""
    folder, settings, first, last, step, nth = sys.argv[1:]
    site = CrawledSite(Path(folder), json.loads(settings), datetime.fromisoformat(last))
    with observed_by(KillAt(step, int(nth))):
        reparse(site, datetime.fromisoformat(first), datetime.fromisoformat(last))


if __name__ == "__main__":
    main()
