"""Durable steps: what must be on disk before the next step may rely on it, and the hook that fault tests use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from incremental_crawl.storage.overlay import overlay

TEMPORARY = ".tmp"


class DurableStep(StrEnum):
    """Every moment between two durable writes, in the order of a visit."""

    VISIT_OPENED = "visit_opened"
    SOURCES_STORED = "sources_stored"
    SPOOL_SYNCED = "spool_synced"
    BATCH_COMMITTED = "batch_committed"
    JOURNAL_FOLDED = "journal_folded"
    PROPOSALS_COMMITTED = "proposals_committed"
    RECORDS_FOLDED = "records_folded"
    TOMBSTONES_COMMITTED = "tombstones_committed"
    EVENTS_COMMITTED = "events_committed"
    PUBLISHING_MARKED = "publishing_marked"
    FILE_WRITTEN = "file_written"
    FILE_RENAMED = "file_renamed"
    OUTBOX_EMPTIED = "outbox_emptied"
    SPOOL_REMOVED = "spool_removed"


_observers: list[Callable[[DurableStep], None]] = []


def reached(step: DurableStep) -> None:
    """Tell the observers that `step` is on disk; without observers this does nothing."""
    for observer in _observers:
        observer(step)


@contextmanager
def observed_by(observer: Callable[[DurableStep], None]) -> Iterator[None]:
    """Call `observer` after every durable step inside the block (fault injection)."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def sync_directory(path: Path) -> None:
    """Make the directory's entries durable (a rename is only then safe from power loss)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path, hollow: bool = False) -> Iterator[Path]:
    """Yield a temporary name beside `path`; afterwards fsync it and rename it over `path`, whole or not at all.

    What is written is a Parquet file; one that is replaced goes on serving its readers (see `storage.overlay`, also
    for `hollow`). The temporary name starts with a dot and has another suffix, so that no reader's glob ever matches
    it; it is the same every time (the site's lock is held), so that a kill leaves at most one behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}{TEMPORARY}")
    try:
        yield temporary
        if path.exists():
            overlay(path, temporary, hollow)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        reached(DurableStep.FILE_WRITTEN)
        temporary.replace(path)
        sync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)
    reached(DurableStep.FILE_RENAMED)
