"""What a sitemap or a feed says, as data, and the record of reading one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias

import ada_url

from incremental_crawl.semantics.digest import well_formed

MOST_WARNINGS = 20
PROTOCOL_ENTRIES = 50_000
LONGEST_ADDRESS = 16_384
LONGEST_DATE = 200
BATCH_ENTRIES = 10_000
UNREADABLE = "\ufffd"
_UNSEEN = "\ufeff\u200b"  # what copying leaves around an address: it would make a relative one of it

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CHANGEFREQS = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_PRIORITY = re.compile(r"[0-9]{0,9}(?:[.,][0-9]{0,20})?")


class SitemapKind(StrEnum):
    """What a document turned out to be; `unknown` is neither a sitemap nor a feed (an error page, for example)."""

    URLSET = "urlset"
    INDEX = "index"
    FEED = "feed"
    TEXT = "text"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One page (of an index: one sitemap): its absolute URL, not yet canonical, and lastmod exactly as written.

    `changefreq` is one of the protocol's seven words and `priority` a number from 0 to 1; what is neither is None.
    """

    url: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: float | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """Some entries of a document in order, column by column: what `SitemapEntry` says of one."""

    urls: list[str] = field(default_factory=list)
    lastmods: list[str | None] = field(default_factory=list)
    changefreqs: list[str | None] = field(default_factory=list)
    priorities: list[float | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.urls)

    def __iter__(self) -> Iterator[SitemapEntry]:
        columns = zip(self.urls, self.lastmods, self.changefreqs, self.priorities, strict=True)
        return (SitemapEntry(*row) for row in columns)


Take: TypeAlias = Callable[[Entries, SitemapKind], None]
"""Is given the entries of a document batch by batch while it is read, and what kind of document it is."""


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """How many entries a document had, the address of the first, and sentences for people about what was wrong with it.

    `complete` is False where the document was refused or could be read only in part: then a URL that is missing from
    its entries may still be listed. A single entry that was refused leaves it True.
    """

    kind: SitemapKind
    entries: int = 0
    example: str | None = None
    warnings: list[str] = field(default_factory=list)
    complete: bool = True


class Reading:
    """Collects what is read from the document at `url`, so that what came before a fault is kept.

    With `alternates` the addresses that an entry has in other languages are entries as well.
    """

    def __init__(self, url: str, take: Take, alternates: bool = False) -> None:
        self.url = url
        self.alternates = alternates
        self.kind = SitemapKind.UNKNOWN
        self._take = take
        self._batch = Entries()
        self._count = 0
        self._example: str | None = None
        self._warnings: list[str] = []
        self._further_warnings = 0
        self._complete = True

    def add(
        self,
        address: str | None,
        where: str,
        lastmod: str | None = None,
        changefreq: str | None = None,
        priority: str | None = None,
    ) -> None:
        """Takes one entry, its address resolved against the document's; one that cannot be used is a warning."""
        trimmed = well_formed((address or "").strip().strip(_UNSEEN).strip())
        fault = _address_fault(trimmed)
        if fault is not None:
            self.warn(f"{where}: {fault}; this entry is left out")
            return
        try:
            resolved = trimmed if _ABSOLUTE.match(trimmed) else ada_url.join_url(self.url, trimmed)
        except ValueError:
            self.warn(f"{where}: {trimmed[:200]!r} is no address; this entry is left out")
            return
        self.add_plain([resolved], [_date(lastmod)], [changefreq], [priority])

    def add_plain(
        self,
        urls: Sequence[str],
        lastmods: Sequence[str | None],
        changefreqs: Sequence[str | None],
        priorities: Sequence[str | None],
    ) -> None:
        """Takes entries whose addresses are absolute, readable and not too long, and whose dates can be kept."""
        if self._example is None and urls:
            self._example = urls[0]
        batch = self._batch
        batch.urls.extend(urls)
        batch.lastmods.extend([lastmod or None for lastmod in lastmods])
        batch.changefreqs.extend(map(_changefreq, changefreqs))
        batch.priorities.extend(map(_priority, priorities))
        if len(batch) >= BATCH_ENTRIES:
            self._hand_over()

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
        """What is to say about the document, once its last entries are handed over."""
        self._hand_over()
        warnings = list(self._warnings)
        if self._count > PROTOCOL_ENTRIES:
            warnings.append(f"{self.url}: {self._count} entries, the protocol allows {PROTOCOL_ENTRIES}; all are kept")
        if self._further_warnings:
            warnings.append(f"{self.url}: and {self._further_warnings} more warnings")
        return SitemapContent(self.kind, self._count, self._example, warnings, self._complete)

    def _hand_over(self) -> None:
        if self._batch.urls:
            self._count += len(self._batch)
            self._take(self._batch, self.kind)
            self._batch = Entries()


def _date(lastmod: str | None) -> str | None:
    if not lastmod:
        return None
    trimmed = well_formed(lastmod.strip())
    return trimmed if 0 < len(trimmed) <= LONGEST_DATE else None


@lru_cache(maxsize=256)
def _changefreq(written: str | None) -> str | None:
    word = (written or "").strip().lower()
    return word if word in _CHANGEFREQS else None


@lru_cache(maxsize=256)
def _priority(written: str | None) -> float | None:
    text = (written or "").strip()
    if not _PRIORITY.fullmatch(text) or not any(map(str.isdigit, text)):
        return None
    number = float(text.replace(",", "."))
    return number if number <= 1 else None


def _address_fault(address: str) -> str | None:
    if not address:
        return "an entry without an address"
    if len(address) > LONGEST_ADDRESS:
        return f"an address longer than {LONGEST_ADDRESS} characters"
    if UNREADABLE in address:
        return f"{address[:200]!r} holds a character that cannot be read"
    return None
