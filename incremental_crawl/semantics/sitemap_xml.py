"""Sitemaps and feeds in XML, read as a stream by expat: what comes before a fault is kept, a DTD is refused."""

from __future__ import annotations

from collections.abc import Iterable
from xml.parsers import expat

from incremental_crawl.semantics.feed import FEED_LAYOUTS
from incremental_crawl.semantics.sitemap_content import LONGEST_ADDRESS, Reading, SitemapKind
from incremental_crawl.semantics.sitemap_layout import Layout
from incremental_crawl.semantics.xml_text import XmlRepair

MOST_NESTED = 100

_LAYOUTS = {
    "urlset": Layout(SitemapKind.URLSET, ("url",), ("loc",), ("lastmod",)),
    "sitemapindex": Layout(SitemapKind.INDEX, ("sitemap",), ("loc",), ("lastmod",)),
    **FEED_LAYOUTS,
}

_NO_LAYOUT = Layout(SitemapKind.UNKNOWN, (), (), ())


class _Refused(Exception):
    """The document cannot be a sitemap or a feed that is safe to read."""


def read_xml(pieces: Iterable[str], reading: Reading, skipped_lines: int) -> None:
    """Reads XML text into `reading`; `skipped_lines` is how many lines of blanks were removed before it."""
    repair = XmlRepair()
    reader = _Reader(reading, skipped_lines)
    try:
        for piece in repair.repaired(pieces):
            reader.feed(piece)
        reader.close()
    except _Refused as refusal:
        reading.stop(f"{reader.position()}: {refusal}")
    except expat.ExpatError as error:
        position = f"line {error.lineno + skipped_lines}, column {error.offset + 1}"
        reading.stop(f"{position}: {expat.ErrorString(error.code)}; what follows is not read")
    finally:
        if repair.ampersands:
            reading.warn(f"{repair.ampersands} times & was read as &amp;")


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
        self._text: list[str] | None = None
        self._characters_left = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    def feed(self, text: str) -> None:
        if text:
            self._parser.Parse(text, False)

    def close(self) -> None:
        self._parser.Parse("", True)

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
                self._keep(self._name(qualified), self._fields)
            elif self._depth == self._layout.item_depth:
                self._reading.add(*self._layout.entry(self._fields), self.position())
                self._fields = None
        self._depth -= 1

    def _keep(self, name: str, fields: dict[str, str]) -> None:
        text = "".join(self._text or ()).strip()
        if text:
            fields.setdefault(name, text)
        self._text = None
