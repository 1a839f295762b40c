"""Body retention for every site: raw bodies past their window go, records and hashes stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from incremental_crawl.storage import retention
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.lock import SiteLocked
from incremental_crawl.storage.retention import Pruned
from incremental_crawl.storage.state import StateTooNew, StateUnusable

DEFAULT_KEEP_DAYS = 7


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was pruned per site, and the sites that could not be opened, with the sentence that says why."""

    pruned: tuple[Pruned, ...]
    in_use: dict[str, str]


def run(data_dir: Path, keep_days: Mapping[str, int], now: datetime, wait_s: float = 60.0) -> PruneReport:
    """Prune all sites that have bodies; `keep_days` by site, seven days for a site that is no longer configured."""
    pruned, in_use = [], {}
    for site in retention.sites_with_bodies(data_dir):
        try:
            days = keep_days.get(site, DEFAULT_KEEP_DAYS)
            pruned.append(retention.prune(SiteLayout(data_dir, site), now, days, wait_s))
        except (SiteLocked, StateTooNew, StateUnusable) as refused:
            in_use[site] = str(refused)
    return PruneReport(tuple(pruned), in_use)


def overdue(data_dir: Path, keep_days: Mapping[str, int], now: datetime) -> dict[str, list[str]]:
    """Days whose bodies are past the window, by site; for the sensor, which only looks."""
    found: dict[str, list[str]] = {}
    for site in retention.sites_with_bodies(data_dir):
        days = retention.expired_days(SiteLayout(data_dir, site), now, keep_days.get(site, DEFAULT_KEEP_DAYS))
        if days:
            found[site] = [day.isoformat() for day in days]
    return found
