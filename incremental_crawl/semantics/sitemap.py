"""Sitemaps and feeds, from bytes to entries: tolerant of what the field sends, safe against what it should not.

A pure reading: nothing is fetched, and nothing here proves that a page changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from incremental_crawl.semantics.feed import read_json_feed
from incremental_crawl.semantics.gzip_layers import UnreadableGzip, without_gzip
from incremental_crawl.semantics.plain_entries import PlainEntries
from incremental_crawl.semantics.sitemap_content import Reading, SitemapContent, SitemapKind, Take
from incremental_crawl.semantics.sitemap_xml import read_xml
from incremental_crawl.semantics.xml_text import decoded_text

__all__ = ["SitemapContent", "SitemapKind", "read_sitemap"]

_BLANKS = "\ufeff \t\r\n"
_HTML = "<!doctype html"  # in any case, which XML does not allow
_WEB = ("http://", "https://")


def read_sitemap(body: bytes, url: str, take: Take, alternates: bool = False) -> SitemapContent:
    """Reads, as a stream, a sitemap, sitemap index, RSS, Atom or JSON feed or plain list of URLs (sitemaps.org).

    `body` has its content-coding removed and may be gzip (by its magic number, two layers, 50 MiB decoded). `url` is
    the document's own: relative addresses are resolved against it. `take` is given the entries, batch by batch; with
    `alternates` the addresses in other languages (hreflang) are entries too. Never raises for what the body holds:
    broken documents give what could be read, `complete` False and warnings with line and column. A DTD is refused.
    """
    reading = Reading(url, take, alternates)
    try:
        blanks, pieces = _started(decoded_text(without_gzip(body)))
        _read(pieces, reading, blanks.count("\n"))
    except UnreadableGzip as fault:
        reading.stop(str(fault))
    return reading.content()


def _read(pieces: Iterator[str], reading: Reading, skipped_lines: int) -> None:
    start = next(pieces, "")
    rest = chain([start], pieces)
    match start[:1]:
        case "":
            reading.stop("empty")
        case "<" if start[: len(_HTML)].lower() == _HTML:
            reading.stop(f"line {1 + skipped_lines}, column 1: rejected: DTD (an HTML page, not a sitemap)")
        case "<":
            read_xml(rest, reading, skipped_lines, PlainEntries(language_links=not reading.alternates))
        case "{":
            read_json_feed(rest, reading)
        case _:
            _read_list(rest, reading, skipped_lines)


def _started(pieces: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The blanks before the text, which XML does not allow, and the text without them."""
    blanks: list[str] = []
    for piece in pieces:
        text = piece.lstrip(_BLANKS)
        blanks.append(piece[: len(piece) - len(text)])
        if text:
            return "".join(blanks), chain([text], pieces)
    return "".join(blanks), iter(())


def _read_list(pieces: Iterator[str], reading: Reading, skipped_lines: int) -> None:
    for number, line in enumerate(_lines(pieces), start=1 + skipped_lines):
        address = line.strip()
        if address.lower().startswith(_WEB):
            reading.kind = SitemapKind.TEXT
            reading.add(address, f"line {number}")
        elif address:
            reading.warn(f"line {number}, column 1: {address[:100]!r} is no http or https URL; this line is left out")
    if reading.kind is SitemapKind.UNKNOWN:
        reading.stop("rejected: neither XML nor a list of URLs")


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    held: list[str] = []
    for piece in pieces:
        *ended, rest = piece.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if ended:
            yield "".join((*held, ended[0]))
            yield from ended[1:]
            held = []
        held.append(rest)
    yield "".join(held)
