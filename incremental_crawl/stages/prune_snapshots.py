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

DEFAULT_KEEP_DAYS = 7


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was pruned per site, and the sites that were in use, with the sentence that says by whom."""

    pruned: tuple[Pruned, ...]
    in_use: dict[str, str]


def run(data_dir: Path, keep_days: Mapping[str, int], now: datetime, wait_s: float = 60.0) -> PruneReport:
    """Prune all sites that have bodies; `keep_days` by site, seven days for a site that is no longer configured."""
    pruned, in_use = [], {}
    for site in retention.sites_with_bodies(data_dir):
        try:
            days = keep_days.get(site, DEFAULT_KEEP_DAYS)
            pruned.append(retention.prune(SiteLayout(data_dir, site), now, days, wait_s))
        except SiteLocked as locked:
            in_use[site] = str(locked)
    return PruneReport(tuple(pruned), in_use)


def overdue(data_dir: Path, keep_days: Mapping[str, int], now: datetime) -> dict[str, list[str]]:
    """Days whose bodies are past the window, by site; for the sensor, which only looks."""
    found: dict[str, list[str]] = {}
    for site in retention.sites_with_bodies(data_dir):
        keep_from = retention.first_kept_day(now, keep_days.get(site, DEFAULT_KEEP_DAYS))
        days = retention.expired_days(SiteLayout(data_dir, site), keep_from)
        if days:
            found[site] = [day.isoformat() for day in days]
    return found
