"""Body retention: whole days of raw bodies go, records and hashes stay.

A pruned file is first replaced by one without rows, so that a reader which has already listed it still opens a valid
file; the empty file and its folder go at a later pruning, a day after.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq

from incremental_crawl.storage import body_files
from incremental_crawl.storage.durable import sync_directory
from incremental_crawl.storage.layout import EMPTY_DAY, Dataset, SiteLayout
from incremental_crawl.storage.parquet import write_empty
from incremental_crawl.storage.publication import write_copies
from incremental_crawl.storage.state import open_state

EMPTY_FILE_LINGERS = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What one pruning of a site removed."""

    site: str
    days: tuple[date, ...]
    bodies: int
    bytes: int


def first_kept_day(now: datetime, keep_days: int) -> date:
    """Bodies of earlier days are past the window; a day is dropped only as a whole."""
    return now.date() - timedelta(days=keep_days)


def sites_with_bodies(root: Path) -> list[str]:
    """Sites that have a folder in the body_snapshots dataset, configured or not."""
    return sorted(path.name.removeprefix("site=") for path in (root / Dataset.BODY_SNAPSHOTS).glob("site=*"))


def expired_days(layout: SiteLayout, keep_from: date) -> list[date]:
    """Days before `keep_from` that still hold bodies."""
    return [day for day, folder in _days(layout) if day < keep_from and any(_with_rows(folder))]


def prune(layout: SiteLayout, now: datetime, keep_days: int, wait_s: float = 60.0) -> Pruned:
    """Drop the site's bodies older than `keep_days` days. Raises `SiteLocked` while a crawl runs.

    The state learns first that the days are gone, so that no reader is sent to a body that is not there.
    """
    keep_from = first_kept_day(now, keep_days)
    if layout.state_file.exists():
        with open_state(layout, "prune", now, wait_s) as state:
            if str(keep_from) > (state.meta("first_kept_day") or ""):
                state.set_meta("first_kept_day", str(keep_from))
                write_copies(state)
            return _drop(layout, now, keep_from)
    return _drop(layout, now, keep_from)


def _drop(layout: SiteLayout, now: datetime, keep_from: date) -> Pruned:
    days, bodies, size = [], 0, 0
    for day, folder in _days(layout):
        if day >= keep_from:
            continue
        for path in _with_rows(folder):
            bodies += pq.read_metadata(path).num_rows
            size += path.stat().st_size
            days.append(day)
            _empty(path, now)
        _remove_lingering(folder, now)
    return Pruned(layout.site, tuple(dict.fromkeys(days)), bodies, size)


def _days(layout: SiteLayout) -> Iterator[tuple[date, Path]]:
    for folder in sorted(layout.dataset(Dataset.BODY_SNAPSHOTS).glob("day=*")):
        day = date.fromisoformat(folder.name.removeprefix("day="))
        if day != EMPTY_DAY:
            yield day, folder


def _with_rows(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.glob("*.parquet")):
        if pq.read_metadata(path).num_rows:
            yield path


def _empty(path: Path, now: datetime) -> None:
    write_empty(path, body_files.SCHEMA)
    os.utime(path, (now.timestamp(), now.timestamp()))


def _remove_lingering(folder: Path, now: datetime) -> None:
    emptied = [path for path in folder.glob("*.parquet") if not pq.read_metadata(path).num_rows]
    if any(now.timestamp() - path.stat().st_mtime < EMPTY_FILE_LINGERS.total_seconds() for path in emptied):
        return
    for path in emptied:
        path.unlink()
    folder.rmdir()
    sync_directory(folder.parent)
