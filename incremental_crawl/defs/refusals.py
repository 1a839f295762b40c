"""What was foreseen fails its step with its sentence alone; everything else keeps its traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.storage.lock import SiteLocked
from incremental_crawl.storage.state import StateTooNew, StateUnusable
from incremental_crawl.storage.visits import VisitRefused


@contextmanager
def told_in_a_sentence() -> Iterator[None]:
    """Around a step: a refused visit, a site in use or a broken file is told first and is not tried again."""
    try:
        yield
    except (ConfigError, SiteLocked, StateTooNew, StateUnusable, VisitRefused) as refused:
        raise dg.Failure(str(refused), allow_retries=False) from None
