"""Runs whose process died: ended here, so that they do not count as running for ever and hold up their site's queue.

Dagster watches the processes that its own daemon launched, as long as both live. It cannot see that a run inside a
killed `incremental-crawl` is over, nor any run that went down together with the machine.
"""

from __future__ import annotations

import time
from pathlib import Path

import dagster as dg
from filelock import FileLock, Timeout

# A file this young may belong to a run that has made it and is about to lock it.
_SETTLED_S = 5.0
_held: dict[str, FileLock] = {}


def hold_as_running(instance: dg.DagsterInstance, run_id: str) -> None:
    """Hold the run's lock; the operating system frees it when this process ends, however it ends."""
    if run_id not in _held:
        lock = FileLock(_folder(instance) / f"{run_id}.lock")
        lock.acquire()
        _held[run_id] = lock


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark the runs whose process is gone as failed, and return their ids. The visits go on from their last batch."""
    return [path.stem for path in sorted(_folder(instance).glob("*.lock")) if _ended(instance, path)]


def _ended(instance: dg.DagsterInstance, path: Path) -> bool:
    run = instance.get_run_by_id(path.stem)
    if run is None or run.is_finished:
        _held.pop(path.stem, None)
        path.unlink(missing_ok=True)
        return False
    if path.stem in _held or time.time() - path.stat().st_mtime < _SETTLED_S or not _is_free(path):
        return False
    instance.report_run_failed(run, "The process of this run is gone. The next run goes on from its last batch.")
    path.unlink(missing_ok=True)
    return True


def _is_free(path: Path) -> bool:
    try:
        with FileLock(path, timeout=0):
            return True
    except Timeout:
        return False


def _folder(instance: dg.DagsterInstance) -> Path:
    folder = Path(instance.root_directory) / "running"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
