"""How a stored record is read: its JSON value, and the fields whose changes are news."""

from __future__ import annotations

import json
from typing import Any

from incremental_crawl.config.site import SiteConfig
from incremental_crawl.semantics.record_diff import PAGE_TEXT


def record_value(record: str | None) -> Any:
    """The JSON value of a stored record: an object of fields, or a list of lines; None for none."""
    return None if record is None else json.loads(record)


def tracked_fields(site: SiteConfig, page_type: str | None) -> frozenset[str] | None:
    """The names of the page type's tracked fields; None (all) for pages without declared fields."""
    for declared in site.extract:
        if declared.name == page_type and declared.fields:
            return frozenset(name for name, own in declared.fields.items() if own.track)
    return None


def fields_of_correction(site: SiteConfig, page_type: str | None, old: Any, new: Any) -> frozenset[str] | None:
    """The fields that a change of the rules is told of: the tracked ones, and those that are declared no more."""
    tracked = tracked_fields(site, page_type)
    if tracked is None:
        return None
    untracked = {name for kind in site.extract if kind.name == page_type for name in kind.fields} - tracked
    found = {name for record in (old, new) if isinstance(record, dict) for name in record}
    return (tracked | found | {PAGE_TEXT}) - untracked
