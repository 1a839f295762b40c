"""Entries of a sitemap that are written the plain way, recognised many at a time by a regular expression.

Every generator writes them so: `<url>` with `<loc>`, then `<lastmod>`, `<changefreq>` and `<priority>` in some order,
each at most once and without markup inside, then perhaps elements of extensions. An XML parser says the same about such
entries, fifteen times more slowly; whatever is written otherwise is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

ENTRY_END = "</url>"

_FIELDS = ("lastmod", "changefreq", "priority")
_FIELD_TAG = re.compile(f"<({'|'.join(_FIELDS)})>")

_BLANKS = r"[ \t\r\n]*+"
# Most letters of the world; neither blanks nor markup, nor what XML does not allow or no one can read.
_LETTER = "[!-%'-;=?-~\u00a1-\u167f\u1681-\u1fff\u3001-\ud7ff]"
# At most 13,000 characters, so that no address is too long, nor too far inside its element.
_LOC_BLANKS = r"[ \t\r\n]{0,99}+"
_LOC = rf"<loc>{_LOC_BLANKS}(https?:{_LETTER}{{0,800}}+(?:&amp;{_LETTER}{{0,800}}+){{0,15}}+){_LOC_BLANKS}</loc>"

_NAME = "[a-z]++:[a-z_]++"
_PROSE = "(?:[^<>&\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|&amp;)*+"
_LANGUAGE_LINK = '<xhtml:link rel="alternate" hreflang="[^"<&]*+" href="(?:[^"<&]|&amp;)*+" ?/>'


@dataclass(frozen=True, slots=True)
class PlainRun:
    """Entries that follow each other, column by column as written (`""` or None is nothing), and where they end."""

    urls: Sequence[str]
    lastmods: Sequence[str | None]
    changefreqs: Sequence[str | None]
    priorities: Sequence[str | None]
    end: int


class PlainEntries:
    """Recognises plain entries; the order of their elements is taken from the text.

    With `language_links` False, entries that name the page in other languages are not plain: their links are wanted.
    """

    def __init__(self, language_links: bool) -> None:
        self._language_links = language_links
        self._order = _FIELDS

    def run(self, text: str, start: int) -> PlainRun | None:
        """The plain entries of which the first begins at `start`, or after blanks there; None where there is none."""
        rows = self._rows(text, start) or self._rows_in_written_order(text, start)
        if not rows:
            return None
        end = _end_of_entries(text, start, len(rows))
        locs, *fields = list(zip(*rows, strict=True))[: 1 + len(_FIELDS)]
        column = dict(zip(self._order, fields, strict=True))
        escaped = text.find("&", start, end) >= 0
        urls = [loc.replace("&amp;", "&") for loc in locs] if escaped else locs
        return PlainRun(urls, column["lastmod"], column["changefreq"], column["priority"], end)

    def _rows(self, text: str, start: int) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = _entry(self._order, self._language_links).findall(text, start)
        if rows and not rows[-1][0]:
            rows.pop()  # what follows the last plain entry
        return rows

    def _rows_in_written_order(self, text: str, start: int) -> list[tuple[str, ...]]:
        """The same once more, where the first entry has its elements in another order."""
        written = _FIELD_TAG.findall(text, start, text.find(ENTRY_END, start) + 1)
        order = tuple(dict.fromkeys((*written, *_FIELDS)))
        if order == self._order:
            return []
        self._order = order
        return self._rows(text, start)


def _end_of_entries(text: str, start: int, count: int) -> int:
    """Where so many entries that begin at `start` end; each has its end once."""
    if text.count(ENTRY_END, start) == count:
        return text.rfind(ENTRY_END) + len(ENTRY_END)
    end = start
    for _ in range(count):
        end = text.index(ENTRY_END, end) + len(ENTRY_END)
    return end


@lru_cache
def _entry(order: tuple[str, ...], language_links: bool) -> re.Pattern[str]:
    """One entry with its elements in this order, or, where there is none, all that follows; there are six orders."""
    fields = "".join(rf"(?:<{name}>({_LETTER}{{0,200}}+)</{name}>{_BLANKS})?" for name in order)
    entry = rf"{_BLANKS}<url>{_BLANKS}{_LOC}{_BLANKS}{fields}{_extensions(language_links)}</url>"
    return re.compile(rf"{entry}|(?s:.+)")


def _extensions(language_links: bool) -> str:
    """Elements with a prefix, and those inside them, of which the entry says nothing."""
    leaf, inner = (rf"<(?P<{name}>{_NAME})>{_PROSE}</(?P={name})>" for name in ("leaf", "inner"))
    group = rf"<(?P<group>{_NAME})>{_BLANKS}(?:{inner}{_BLANKS})*</(?P=group)>"
    kinds = [leaf, group, *([_LANGUAGE_LINK] if language_links else [])]
    return rf"(?:(?:{'|'.join(kinds)}){_BLANKS})*"
