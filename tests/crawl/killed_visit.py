"""A visit in a process of its own that is killed at a durable step, or by whoever started it: `python -m` this."""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

from incremental_crawl.stages import batches, body_snapshots
from incremental_crawl.storage.durable import DurableStep, observed_by
from tests.crawl.visiting import CrawledSite

BATCH = 8


class KillAt:
    """Kills this process when `step` is reached for the `nth` time."""

    def __init__(self, step: str, nth: int) -> None:
        self._step = step
        self._left = nth

    def __call__(self, step: DurableStep) -> None:
        if step.value == self._step:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Visit the site of the folder at the moment; arguments: folder, settings (JSON), moment, step, nth."""
    folder, settings, moment, step, nth = sys.argv[1:]
    batches.MAX_OUTCOMES = BATCH
    body_snapshots.FETCH_CHUNK = BATCH
    body_snapshots.DECIDE_CHUNK = BATCH
    site = CrawledSite(Path(folder), json.loads(settings))
    with observed_by(KillAt(step, int(nth))):
        print("begun", flush=True)
        site.visit(datetime.fromisoformat(moment))


if __name__ == "__main__":
    main()
