"""The edge where time comes in. `INCREMENTAL_CRAWL_NOW` sets it for tests and for looking at another day."""

from __future__ import annotations

import os
from datetime import UTC, datetime

NOW_VARIABLE = "INCREMENTAL_CRAWL_NOW"


def now() -> datetime:
    """The current time (UTC, aware), or the ISO 8601 instant in `INCREMENTAL_CRAWL_NOW`."""
    fixed = os.environ.get(NOW_VARIABLE)
    if not fixed:
        return datetime.now(UTC)
    moment = datetime.fromisoformat(fixed)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
