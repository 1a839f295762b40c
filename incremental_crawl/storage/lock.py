"""One writer per site: an operating-system lock whose error names the holder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout


class SiteLocked(Exception):
    """Another process works on the site; the message says which, since when and what to do."""


@contextmanager
def site_lock(path: Path, purpose: str, now: datetime, wait_s: float = 60.0) -> Iterator[None]:
    """Hold the lock at `path`, waiting at most `wait_s` seconds. Raises `SiteLocked`.

    The operating system frees it when the process dies, however it dies. The note beside it only names the holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=wait_s)
    try:
        lock.acquire()
    except Timeout:
        raise SiteLocked(_sentence(path)) from None
    note = _note(path)
    try:
        holder = {"pid": os.getpid(), "purpose": purpose, "since": now.astimezone(UTC).isoformat(timespec="seconds")}
        note.write_text(json.dumps(holder), encoding="utf-8")
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def holder(path: Path) -> str | None:
    """Who holds the lock as far as the note beside it tells, or None."""
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
        return f"process {note['pid']} ({note['purpose']}, since {note['since']})"
    except (OSError, ValueError, KeyError):
        return None


def _note(path: Path) -> Path:
    return path.with_suffix(".holder.json")


def _sentence(path: Path) -> str:
    who = holder(path) or "another process"
    return f"site {path.stem} is in use by {who}; wait for it to end, or stop that process, and start again"
