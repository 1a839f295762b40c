"""Sitemaps and feeds in XML, read as a stream by expat: what comes before a fault is kept, a DTD is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.parsers import expat

from incremental_crawl.semantics.feed import FEED_LAYOUTS
from incremental_crawl.semantics.plain_entries import ENTRY_END, PlainEntries, PlainRun
from incremental_crawl.semantics.sitemap_content import LONGEST_ADDRESS, Reading, SitemapKind
from incremental_crawl.semantics.sitemap_layout import HINTS, Layout
from incremental_crawl.semantics.xml_text import XmlRepair

MOST_NESTED = 100
# The parser begins anew with markup that is not at its end, and never forgets the name of an element or attribute.
MOST_MARKUP_BYTES = 1024 * 1024
MOST_NAMES = 1_000

_LAYOUTS = {
    "urlset": Layout(SitemapKind.URLSET, ("url",), ("loc",), ("lastmod",), HINTS),
    "sitemapindex": Layout(SitemapKind.INDEX, ("sitemap",), ("loc",), ("lastmod",)),
    **FEED_LAYOUTS,
}
_NO_LAYOUT = Layout(SitemapKind.UNKNOWN, (), (), ())
_MOST_HELD = 64 * 1024
_LINE_ENDS = re.compile(r"[\r\n]+")


class _Refused(Exception):
    """The document cannot be a sitemap or a feed that is safe to read."""


def read_xml(pieces: Iterable[str], reading: Reading, skipped_lines: int, plain: PlainEntries) -> None:
    """Reads XML text into `reading`; `skipped_lines` is how many lines of blanks were removed before it.

    What `plain` recognises where the parser stands between two entries is taken at once; the parser reads the rest.
    """
    repair = XmlRepair()
    reader = _Reader(reading, skipped_lines)
    try:
        _read(pieces, reader, repair, plain)
    except _Refused as refusal:
        reading.stop(f"{reader.position()}: {refusal}")
    except expat.ExpatError as error:
        position = f"line {error.lineno + skipped_lines}, column {error.offset + 1}"
        reading.stop(f"{position}: {expat.ErrorString(error.code)}; what follows is not read")
    finally:
        if repair.ampersands:
            reading.warn(f"{repair.ampersands} times & was read as &amp;")


def _read(pieces: Iterable[str], reader: _Reader, repair: XmlRepair, plain: PlainEntries) -> None:
    held = ""
    for piece in pieces:
        text, at = held + piece, 0
        while (end := text.find(ENTRY_END, at) + len(ENTRY_END)) >= len(ENTRY_END):
            if reader.is_between_entries and (run := plain.run(text, at)) is not None:
                at = reader.take(run, text, at)
            else:
                reader.feed(repair.whole(text[at:end]))
                at = end
        held = text[at:]
        if len(held) > _MOST_HELD:
            reader.feed(repair.part(held))
            held = ""
    reader.feed(repair.whole(held))
    reader.close()


class _Reader:
    """Follows the elements down to the entries of the root's layout and collects each entry's fields."""

    def __init__(self, reading: Reading, skipped_lines: int) -> None:
        self._reading = reading
        self._skipped_lines = skipped_lines
        self._layout = _NO_LAYOUT
        self._prefix = ""
        self._depth = 0
        self._path: list[str] = []
        self._fields: dict[str, str] | None = None
        self._alternates: list[str] = []
        self._text: list[str] | None = None
        self._characters_left = 0
        self._fed_bytes = 0
        self._entry_end_byte = -len(ENTRY_END) - 1
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    @property
    def is_between_entries(self) -> bool:
        """Whether `</url>` of an entry of a sitemap is the very last that was fed."""
        return self._entry_end_byte + len(ENTRY_END) == self._fed_bytes

    def feed(self, text: str) -> None:
        if text:
            encoded = text.encode()
            self._fed_bytes += len(encoded)
            self._parser.Parse(encoded, False)
            if self._fed_bytes - self._parser.CurrentByteIndex > MOST_MARKUP_BYTES:
                raise _Refused(f"rejected: a tag or comment of more than {MOST_MARKUP_BYTES} bytes")

    def take(self, run: PlainRun, text: str, start: int) -> int:
        """Takes the entries at `start` of `text` and returns where they end.

        The parser gets blanks in their place, so that it counts lines and columns right.
        """
        self._reading.add_plain(run.urls, run.lastmods, run.changefreqs, run.priorities)
        passed = text[start : run.end]
        last_line = max(passed.rfind("\n"), passed.rfind("\r")) + 1
        line_ends = _LINE_ENDS.findall(passed) if "\r" in passed else ["\n" * passed.count("\n")]
        self.feed(" ".join(line_ends) + " " * (len(passed) - last_line))
        self._entry_end_byte = self._fed_bytes - len(ENTRY_END)
        return run.end

    def close(self) -> None:
        self._parser.Parse(b"", True)

    def position(self) -> str:
        line = self._parser.CurrentLineNumber + self._skipped_lines
        return f"line {line}, column {self._parser.CurrentColumnNumber + 1}"

    def _doctype(self, name: str, _system: str | None, _public: str | None, _internal: bool) -> None:
        hint = " (an HTML page, not a sitemap)" if name.lower() == "html" else ""
        raise _Refused(f"rejected: DTD{hint}")

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        item_depth = self._layout.item_depth
        if self._depth == 1:
            self._root(qualified)
        elif self._depth > MOST_NESTED:
            raise _Refused(f"rejected: elements nested more than {MOST_NESTED} deep")
        elif len(self._parser.intern) > MOST_NAMES:
            raise _Refused(f"rejected: more than {MOST_NAMES} names of elements and attributes")
        elif self._depth <= item_depth:
            self._path[self._depth - 2 :] = [self._name(qualified)]
            self._fields = {} if tuple(self._path) == self._layout.path else None
        elif self._fields is not None and self._depth == item_depth + 1:
            self._field(self._name(qualified), attributes, self._fields)

    def _root(self, qualified: str) -> None:
        prefix, _, local = qualified.rpartition(":")
        layout = _LAYOUTS.get(local.lower())
        if layout is None:
            raise _Refused(f"rejected: <{qualified[:100]}> begins neither a sitemap nor a feed")
        self._prefix = f"{prefix.lower()}:" if prefix else ""
        self._layout = layout
        self._reading.kind = layout.kind

    def _name(self, qualified: str) -> str:
        """Lower case, without the prefix where it is the root's: `image:loc` is not `loc`."""
        return qualified.lower().removeprefix(self._prefix)

    def _field(self, name: str, attributes: dict[str, str], fields: dict[str, str]) -> None:
        address = self._layout.attribute_address(name, attributes)
        if address is not None:
            fields.setdefault(name, address)
        if self._reading.alternates and (alternate := self._layout.alternate(name, attributes)) is not None:
            self._alternates.append(alternate)
        self._text = [] if self._layout.reads_text(name, attributes) else None
        self._characters_left = LONGEST_ADDRESS + 1

    def _characters(self, text: str) -> None:
        if self._text is None or self._depth != self._layout.item_depth + 1:
            return
        if self._characters_left > 0:
            self._text.append(text)
            self._characters_left -= len(text)

    def _end(self, qualified: str) -> None:
        if self._fields is not None:
            if self._depth == self._layout.item_depth + 1:
                self._keep(self._name(qualified))
            elif self._depth == self._layout.item_depth:
                self._add(self._fields)
                self._fields = None
                if self._layout.kind is SitemapKind.URLSET and not self._prefix:
                    self._entry_end_byte = self._parser.CurrentByteIndex
        self._depth -= 1

    def _keep(self, name: str) -> None:
        text = "".join(self._text or ()).strip()
        self._text = None
        if not text or self._fields is None:
            return
        if name == "loc" and name in self._fields:  # an entry that its writer forgot to close
            self._add(self._fields)
            self._fields = {}
        self._fields.setdefault(name, text)

    def _add(self, fields: dict[str, str]) -> None:
        where = self.position()
        hints = (fields.get(name) for name in HINTS)
        self._reading.add(self._layout.address(fields), where, self._layout.date(fields), *hints)
        for alternate in self._alternates:
            self._reading.add(alternate, where)
        self._alternates = []
