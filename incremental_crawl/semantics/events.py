"""The kinds of change events, and the identity that keeps an event from being published twice."""

from __future__ import annotations

import hashlib
from enum import StrEnum


class EventKind(StrEnum):
    """What happened to a page; the `kind` column of the page_diffs dataset."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"
    RESTORED = "restored"
    MOVED = "moved"
    CORRECTED = "corrected"


def event_id(visit: int, site: str, url: str, item_key: str | None, kind: str, extractor_version: str | None) -> str:
    """The same however often a visit is resumed, and sortable by visit; only a correction names its rules."""
    parts = [site, url, item_key or "", kind]
    if kind == EventKind.CORRECTED:
        parts.append(extractor_version or "")
    digest = hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{visit:010d}-{digest[:24]}"
