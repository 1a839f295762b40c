"""Body retention: whole days of raw bodies go, records and hashes stay.

A pruned file is replaced by one without rows, which at first still serves readers that are in the middle of it (see
`storage.overlay`); the bytes go at the next pruning that is an hour or more later. The file itself stays, as a hole
without disk blocks and a footer: a reader that has listed it must be able to open it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from incremental_crawl.storage import body_files, overlay, publication
from incremental_crawl.storage.durable import TEMPORARY
from incremental_crawl.storage.layout import EMPTY_DAY, Dataset, SiteLayout
from incremental_crawl.storage.lock import site_lock
from incremental_crawl.storage.parquet import write_empty
from incremental_crawl.storage.state import open_state

READERS_LINGER = timedelta(hours=1)


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


def expired_days(layout: SiteLayout, now: datetime, keep_days: int) -> list[date]:
    """Days past the window of which a pruning at `now` would remove something."""
    keep_from = first_kept_day(now, keep_days)
    return [
        day
        for day, folder in _days(layout)
        if day < keep_from and any(_rows(path) or _lingers(path, now) for path in _files(folder))
    ]


def prune(layout: SiteLayout, now: datetime, keep_days: int, wait_s: float = 60.0) -> Pruned:
    """Drop the site's bodies older than `keep_days` days. Raises `SiteLocked` while a crawl runs.

    The state and its copy learn first that the days are gone, so that no reader is sent to a body that is not there.
    """
    keep_from = first_kept_day(now, keep_days)
    with _without_bodies_before(layout, now, keep_from, wait_s):
        days, bodies, size = [], 0, 0
        for day, folder in _days(layout):
            if day >= keep_from:
                continue
            _remove_unfinished(folder)
            for path in _files(folder):
                if rows := _rows(path):
                    bodies += max(0, rows)
                    size += path.stat().st_size
                    days.append(day)
                    _empty(path, now, hollow=False)
                elif _lingers(path, now):
                    _empty(path, now, hollow=True)
        return Pruned(layout.site, tuple(dict.fromkeys(days)), bodies, size)


@contextmanager
def _without_bodies_before(layout: SiteLayout, now: datetime, keep_from: date, wait_s: float) -> Iterator[None]:
    """The site's lock, with a state that names no body of an earlier day; a site may have lost its state."""
    if not layout.state_file.exists():
        with site_lock(layout.lock_file, "prune", now, wait_s):
            yield
        return
    with open_state(layout, "prune", now, wait_s) as state:
        if str(keep_from) > (state.meta("first_kept_day") or ""):
            state.set_meta("first_kept_day", str(keep_from))
        publication.forget_bodies(state, keep_from)
        yield


def _days(layout: SiteLayout) -> Iterator[tuple[date, Path]]:
    for folder in sorted(layout.dataset(Dataset.BODY_SNAPSHOTS).glob("day=*")):
        try:
            day = date.fromisoformat(folder.name.removeprefix("day="))
        except ValueError:
            continue
        if day != EMPTY_DAY:
            yield day, folder


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def _rows(path: Path) -> int:
    """How many rows a file has; -1 where it cannot be read."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowInvalid, OSError):
        return -1


def _lingers(path: Path, now: datetime) -> bool:
    """Whether an emptied file still holds bytes of its bodies, for longer than a reader may take."""
    since = now.timestamp() - path.stat().st_mtime
    return since >= READERS_LINGER.total_seconds() and overlay.held_besides(path) > 0


def _empty(path: Path, now: datetime, hollow: bool) -> None:
    write_empty(path, body_files.SCHEMA, hollow)
    os.utime(path, (now.timestamp(), now.timestamp()))


def _remove_unfinished(folder: Path) -> None:
    """What a kill left in the middle of a file holds raw bodies too."""
    for path in folder.glob(f".*{TEMPORARY}*"):
        path.unlink(missing_ok=True)
