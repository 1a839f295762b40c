"""A visit in a process of its own that is killed at a durable step, or by whoever started it: `python -m` this."""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

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


def visit(folder: str, settings: dict[str, Any], moment: str, step: str, nth: int) -> None:
    """Visit the site of the folder at the moment, in small batches, until `step` is reached for the `nth` time."""
    batches.MAX_OUTCOMES = BATCH
    body_snapshots.FETCH_CHUNK = BATCH
    body_snapshots.DECIDE_CHUNK = BATCH
    site = CrawledSite(Path(folder), settings)
    with observed_by(KillAt(step, nth)):
        print("begun", os.getpid(), flush=True)
        site.visit(datetime.fromisoformat(moment))


def main() -> None:
    """Arguments: folder, settings (JSON), moment, step, nth."""
    folder, settings, moment, step, nth = sys.argv[1:]
    visit(folder, json.loads(settings), moment, step, int(nth))


if __name__ == "__main__":
    main()
