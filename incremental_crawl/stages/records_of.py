"""How a stored record is read: its JSON value, and the fields whose changes are news."""

from __future__ import annotations

import json
from typing import Any

from incremental_crawl.config.site import SiteConfig


def record_value(record: str | None) -> Any:
    """The JSON value of a stored record: an object of fields, or a list of lines; None for none."""
    return None if record is None else json.loads(record)


def tracked_fields(site: SiteConfig, page_type: str | None) -> frozenset[str] | None:
    """The names of the page type's tracked fields; None (all) for pages without declared fields."""
    for declared in site.extract:
        if declared.name == page_type and declared.fields:
            return frozenset(name for name, own in declared.fields.items() if own.track)
    return None
