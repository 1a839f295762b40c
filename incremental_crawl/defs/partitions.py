"""Partitions: what was observed of a site in the visits opened on a day (UTC). Key `2026-11-30|bookshop`."""

from __future__ import annotations

from datetime import date

import dagster as dg

from incremental_crawl.defs.project import DAY, SITE, project, site_names


def partition_key(day: date, site: str) -> str:
    """The key of a site's day."""
    return f"{day.isoformat()}|{site}"


day_by_site = dg.MultiPartitionsDefinition(
    {
        DAY: dg.DailyPartitionsDefinition(start_date=project().first_day.isoformat(), end_offset=1),
        SITE: dg.StaticPartitionsDefinition(site_names()),
    }
)
