"""Feeds as lists of pages: RSS 0.9 to 2.0, Atom 0.3 and 1.0, and JSON Feed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from incremental_crawl.semantics.sitemap_content import Reading, SitemapKind
from incremental_crawl.semantics.sitemap_layout import Layout

# JSON cannot be read as a stream: as objects in memory it is up to fifty times its size.
JSON_LIMIT_CHARACTERS = 5 * 1024 * 1024

_RSS_ADDRESSES = ("link", "guid")
_RSS_DATES = ("pubdate", "dc:date", "atom:updated")
_ATOM_DATES = ("updated", "modified", "published", "issued", "created")  # RFC 4287, and Atom 0.3 before it

FEED_LAYOUTS = {
    "rss": Layout(SitemapKind.FEED, ("channel", "item"), _RSS_ADDRESSES, _RSS_DATES),
    "rdf": Layout(SitemapKind.FEED, ("item",), _RSS_ADDRESSES, _RSS_DATES),
    "feed": Layout(SitemapKind.FEED, ("entry",), ("link",), _ATOM_DATES),
}


def read_json_feed(pieces: Iterator[str], reading: Reading) -> None:
    """Reads a JSON Feed into `reading`: each item's `url`, with `date_modified` or else `date_published`."""
    text = "".join(pieces)
    if len(text) > JSON_LIMIT_CHARACTERS:
        reading.stop(f"rejected: a JSON feed of more than {JSON_LIMIT_CHARACTERS} characters")
        return
    try:
        items = _items(json.loads(text))
    except json.JSONDecodeError as error:
        reading.stop(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})")
    except (TypeError, ValueError, RecursionError):
        reading.stop("rejected: JSON that is no feed (an object with a list of items)")
    else:
        reading.kind = SitemapKind.FEED
        for number, item in enumerate(items, start=1):
            _read_item(item if isinstance(item, dict) else {}, reading, f"item {number}")


def _items(document: object) -> list[object]:
    items = document.get("items") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise TypeError("no list of items")
    return items


def _read_item(item: dict[str, Any], reading: Reading, where: str) -> None:
    reading.add(_text(item, "url"), where, _text(item, "date_modified") or _text(item, "date_published"))


def _text(item: dict[str, Any], name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) else None
