"""Where a run says how far it is: the listener that the command line sets, else the run's log now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from incremental_crawl.stages.site_run import Progress

_EVERY_S = 10.0
_listener: ContextVar[Progress | None] = ContextVar("progress_listener", default=None)


@contextmanager
def heard_by(listener: Progress) -> Iterator[None]:
    """Send the progress of runs inside the block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def progress(log: Callable[[str], None]) -> Progress:
    """The listener that is set, else one that writes a line to `log` every ten seconds."""
    listening = _listener.get()
    if listening is not None:
        return listening
    last = time.monotonic()

    def to_log(stage: str, done: int, total: int | None) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY_S:
            last = time.monotonic()
            log(f"{stage}: {done} of {total}" if total is not None else f"{stage}: {done}")

    return to_log
