"""What a sitemap or a feed says, as data, and the record of reading one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

import ada_url

MOST_WARNINGS = 20
PROTOCOL_ENTRIES = 50_000
LONGEST_ADDRESS = 16_384
LONGEST_DATE = 200
UNREADABLE = "\ufffd"

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class SitemapKind(StrEnum):
    """What a document turned out to be; `unknown` is neither a sitemap nor a feed (an error page, for example)."""

    URLSET = "urlset"
    INDEX = "index"
    FEED = "feed"
    TEXT = "text"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One page (of an index: one sitemap): its absolute URL, not yet canonical, and lastmod exactly as written."""

    url: str
    lastmod: str | None = None


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """One document's entries in order, and sentences for people about what was wrong with it.

    `complete` is False where the document was refused or could be read only in part: then a URL that is missing from
    `entries` may still be listed. A single entry that was refused leaves it True.
    """

    kind: SitemapKind
    entries: list[SitemapEntry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    complete: bool = True


@dataclass(slots=True)
class Reading:
    """Collects what is read from the document at `url`, so that what came before a fault is kept."""

    url: str
    kind: SitemapKind = SitemapKind.UNKNOWN
    _entries: list[SitemapEntry] = field(default_factory=list)
    _warnings: list[str] = field(default_factory=list)
    _further_warnings: int = 0
    _complete: bool = True

    def add(self, address: str | None, lastmod: str | None, where: str) -> None:
        """Takes one entry, its address resolved against the document's; one that cannot be used is a warning."""
        trimmed = (address or "").strip()
        fault = _address_fault(trimmed)
        if fault is not None:
            self.warn(f"{where}: {fault}; this entry is left out")
            return
        try:
            resolved = trimmed if _ABSOLUTE.match(trimmed) else ada_url.join_url(self.url, trimmed)
        except ValueError:
            self.warn(f"{where}: {trimmed[:200]!r} is no address; this entry is left out")
            return
        self._entries.append(SitemapEntry(resolved, _date(lastmod)))

    def warn(self, sentence: str) -> None:
        """Notes a sentence about the document; beyond twenty they are only counted."""
        if len(self._warnings) < MOST_WARNINGS:
            self._warnings.append(f"{self.url}: {sentence}")
        else:
            self._further_warnings += 1

    def stop(self, sentence: str) -> None:
        """Notes why the rest of the document, or all of it, is not read."""
        self._complete = False
        self._warnings.append(f"{self.url}: {sentence}")

    def content(self) -> SitemapContent:
        """All that was read."""
        if len(self._entries) > PROTOCOL_ENTRIES:
            self._warnings.append(f"{self.url}: {len(self._entries)} entries, the protocol allows 50000; all are kept")
        if self._further_warnings:
            self._warnings.append(f"{self.url}: and {self._further_warnings} more warnings")
        return SitemapContent(self.kind, self._entries, self._warnings, self._complete)


def _date(lastmod: str | None) -> str | None:
    trimmed = (lastmod or "").strip()
    return trimmed if 0 < len(trimmed) <= LONGEST_DATE else None


def _address_fault(address: str) -> str | None:
    if not address:
        return "an entry without an address"
    if len(address) > LONGEST_ADDRESS:
        return f"an address longer than {LONGEST_ADDRESS} characters"
    if UNREADABLE in address:
        return f"{address[:200]!r} holds a character that cannot be read"
    return None
