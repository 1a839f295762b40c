"""Canonical lines, version 1: the visible text, links and images of a page, one line each, with their places.

A text node is one line, a `pre` one line for each of its own. What is left out: scripts, styles, frames, drawings,
furniture (see `furniture`) unless it holds more than 30 % of the text, and what a load says of itself (`line_scrub`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from incremental_crawl.extraction.furniture import is_furniture
from incremental_crawl.extraction.line_links import image_line, link_line
from incremental_crawl.extraction.line_scrub import scrub
from incremental_crawl.extraction.places import BODY, Place, child_place
from incremental_crawl.semantics.digest import well_formed

_LONG_TEXT = 2_000
_LARGEST_FURNITURE = 0.3
_MOST_ELEMENTS = 50_000
_UNSEEN = frozenset("script style noscript template iframe svg object math head".split())
_VERBATIM = frozenset({"pre", "textarea", "listing", "xmp"})
_UNSEEN_IN_VERBATIM = "script, style, noscript, template, svg"
_ADDRESSES = "a[href], img"
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class PlacedLines:
    """Lines and, at the same positions, their places (`Place.path`)."""

    lines: tuple[str, ...]
    paths: tuple[int, ...]


def html_lines(tree: LexborHTMLParser) -> PlacedLines:
    """The canonical lines of a parsed page; none for a page without a body."""
    walk = _Walk()
    if tree.body is not None:
        walk.run(tree.body)
    return walk.finished()


def plain_lines(text: str) -> PlacedLines:
    """The lines of a text that is no HTML, without empty ones and without white space at their ends."""
    walk = _Walk()
    walk.add_verbatim(text, BODY.path)
    return walk.finished()


@dataclass(slots=True, eq=False)
class _Element:
    """What the rules say of an element, the same for all elements of equal name, attributes and parent."""

    place: Place
    path: int
    unseen: bool = False
    verbatim: bool = False
    furniture: bool = False
    children: dict[str | tuple[str, str, str, str], _Element] = field(default_factory=dict)

    def child(self, tag: str, classes: str, identity: str, role: str) -> _Element:
        """The element of that name and those attributes below this one."""
        place = child_place(self.place, tag, classes, identity)
        return _Element(place, place.path, tag in _UNSEEN, tag in _VERBATIM, is_furniture(tag, classes, role))


class _Elements:
    """The elements met so far in this process; pages of a site share most of them, so that few are made anew."""

    def __init__(self) -> None:
        self.body = _Element(BODY, BODY.path)
        self.count = 0

    def plain(self, parent: _Element, tag: str) -> _Element:
        """An element without attributes."""
        known = parent.children.get(tag)
        return self._new(parent, tag, tag, "", "", "") if known is None else known

    def of(self, parent: _Element, tag: str, attributes: Mapping[str, str | None]) -> _Element:
        """An element with attributes, of which class, id and role count."""
        get = attributes.get
        key = (tag, get("class") or "", get("id") or "", get("role") or "")
        known = parent.children.get(key)
        return self._new(parent, key, *key) if known is None else known

    def _new(
        self, parent: _Element, key: str | tuple[str, str, str, str], tag: str, classes: str, identity: str, role: str
    ) -> _Element:
        element = parent.child(tag, classes, identity, role)
        self.count += 1
        parent.children[key] = element
        return element

    def forget_if_many(self) -> None:
        """Starts anew above a bound, since ids can make every element of every page a new one."""
        if self.count > _MOST_ELEMENTS:
            self.body.children.clear()
            self.count = 0


_ELEMENTS = _Elements()


@dataclass(slots=True)
class _Walk:
    """One pass over a body; `furniture` holds [low, high) ranges of lines, inner ones first."""

    lines: list[str] = field(default_factory=list)
    paths: list[int] = field(default_factory=list)
    verbatim: set[int] = field(default_factory=set)
    furniture: list[tuple[int, int]] = field(default_factory=list)

    def run(self, body: LexborNode) -> None:  # noqa: C901, PLR0912
        """Depth first with a stack of its own: pages nest thousands of elements deep.

        This loop is most of the cost of extraction, hence its length.
        """
        plain, of, add_text = _ELEMENTS.plain, _ELEMENTS.of, self._add_text
        stack: list[tuple[LexborNode, _Element, int]] = []
        parent, element, start = body, _ELEMENTS.body, 0
        node = body.first_child
        text = ""
        while True:
            if node is None:
                if text:
                    add_text(text, element.path)
                    text = ""
                if element.furniture:
                    self.furniture.append((start, len(self.lines)))
                if not stack:
                    break
                node = parent.next
                parent, element, start = stack.pop()
            elif node.is_text_node:
                # Collected, since a comment may part one text into several nodes.
                if text or not node.is_empty_text_node:
                    text += node.text_content or ""
                node = node.next
            elif node.is_element_node:
                if text:
                    add_text(text, element.path)
                    text = ""
                tag = node.tag or ""
                attributes = node.attributes
                entered = of(element, tag, attributes) if attributes else plain(element, tag)
                if tag in ("a", "img"):
                    self._add_address(tag, attributes, entered.path)
                child = None if entered.unseen else node.first_child
                if child is None or (entered.verbatim and self._add_whole(node, entered)):
                    node = node.next
                elif not entered.furniture and child.is_text_node and child.next is None:
                    add_text(child.text_content or "", entered.path)
                    node = node.next
                else:
                    stack.append((parent, element, start))
                    parent, element, start = node, entered, len(self.lines)
                    node = child
            else:
                node = node.next
        _ELEMENTS.forget_if_many()

    def _add_text(self, text: str, path: int) -> None:
        line = " ".join(text.split())
        if len(line) > _LONG_TEXT:
            for part in _NEWLINE.split(text):
                self._add_line(" ".join(part.split()), path)
        elif line:
            self.lines.append(line if line.isascii() else _composed(line))
            self.paths.append(path)

    def _add_line(self, line: str, path: int) -> None:
        if line:
            self.lines.append(line if line.isascii() else _composed(line))
            self.paths.append(path)

    def _add_whole(self, node: LexborNode, element: _Element) -> bool:
        """Adds the lines of a verbatim element, then its links and images; whether that was possible."""
        if node.css_first(_UNSEEN_IN_VERBATIM) is not None:
            return False
        start = len(self.lines)
        self.add_verbatim(node.text(), element.path)
        for inner in node.css(_ADDRESSES):
            self._add_address(inner.tag or "", inner.attributes, element.path)
        if element.furniture:
            self.furniture.append((start, len(self.lines)))
        return True

    def add_verbatim(self, text: str, path: int) -> None:
        """Adds each line of the text, its indentation kept."""
        start = len(self.lines)
        for line in _NEWLINE.split(text):
            self._add_line(line.rstrip(), path)
        self.verbatim.update(range(start, len(self.lines)))

    def _add_address(self, tag: str, attributes: Mapping[str, str | None], path: int) -> None:
        line = link_line(attributes.get("href") or "") if tag == "a" else image_line(_image_source(attributes))
        self._add_line(line or "", path)

    def finished(self) -> PlacedLines:
        """The lines without small furniture and without what the load says of itself."""
        scrub(self.lines, self.verbatim)
        dropped = self._dropped()
        if not dropped:
            return PlacedLines(tuple(self.lines), tuple(self.paths))
        kept = [index for index in range(len(self.lines)) if index not in dropped]
        return PlacedLines(tuple(self.lines[i] for i in kept), tuple(self.paths[i] for i in kept))

    def _dropped(self) -> set[int]:
        if not self.furniture:
            return set()
        most = _LARGEST_FURNITURE * sum(map(len, self.lines))
        small = (run for run in self.furniture if sum(map(len, self.lines[run[0] : run[1]])) <= most)
        return {index for run in small for index in range(*run)}


def _composed(line: str) -> str:
    return line if line.isascii() else unicodedata.normalize("NFC", well_formed(line))


def _image_source(attributes: Mapping[str, str | None]) -> str:
    source = attributes.get("src") or ""
    return source if source and not source.startswith("data:") else attributes.get("data-src") or ""
