"""What a page says about itself: title, description, OpenGraph, JSON-LD, canonical link, robots directives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser, LexborNode

from incremental_crawl.semantics.digest import canonical_json, sha256_text, well_formed
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url

_LARGEST_NUMBER = 200


@dataclass(frozen=True)
class Metadata:
    """The metadata of one page. `json_ld` holds canonical JSON, or the raw text where that is no JSON."""

    title: str | None = None
    description: str | None = None
    open_graph: tuple[tuple[str, str], ...] = ()
    json_ld: tuple[str, ...] = ()
    canonical_link: str | None = None
    robots: frozenset[str] = frozenset()

    @cached_property
    def sha256(self) -> str:
        """The digest of title, description, OpenGraph and JSON-LD."""
        return sha256_text(canonical_json([self.title, self.description, self.open_graph, self.json_ld]))

    @property
    def noindex(self) -> bool:
        """Whether the page asks not to be kept."""
        return not self.robots.isdisjoint({"noindex", "none"})

    @property
    def nofollow(self) -> bool:
        """Whether the page asks that none of its links is followed."""
        return not self.robots.isdisjoint({"nofollow", "none"})


def read_metadata(tree: LexborHTMLParser, base: str) -> Metadata:
    """The metadata of a parsed page; `base` is the URL that relative addresses start from."""
    metas = [(_key(node), node.attributes.get("content") or "") for node in tree.css("meta[content]")]
    return Metadata(
        title=_title(tree),
        description=next((_words(content) for key, content in metas if key == "description"), None),
        open_graph=tuple(sorted((key, _words(content)) for key, content in metas if key.startswith("og:"))),
        json_ld=tuple(_json_ld(tree)),
        canonical_link=_canonical_link(tree, base),
        robots=frozenset(_directives(metas)),
    )


def base_url(tree: LexborHTMLParser, url: str) -> str:
    """Where relative addresses start from: the first `base` element, resolved, or the page's own URL."""
    node = tree.css_first("base[href]")
    return _resolved(node, url) or url


def _title(tree: LexborHTMLParser) -> str | None:
    # The first title of the head, not that of a drawing in the body.
    node = tree.head.css_first("title") if tree.head is not None else None
    node = node or tree.css_first("html > body > title")
    return (_words(node.text()) or None) if node is not None else None


def _key(node: LexborNode) -> str:
    return (node.attributes.get("name") or node.attributes.get("property") or "").strip().lower()


def _json_ld(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css('script[type="application/ld+json" i]'):
        text = node.text().strip()
        if text:
            yield _canonical(text)


def _canonical(text: str) -> str:
    try:
        value = json.loads(text, parse_float=_number, parse_int=_number, parse_constant=str, strict=False)
        return canonical_json(value)
    except (ValueError, RecursionError, TypeError):
        return well_formed(text)


def _number(text: str) -> Decimal | str:
    """Numbers exactly as written; absurdly long ones stay text."""
    return Decimal(text) if len(text) <= _LARGEST_NUMBER else text


def _canonical_link(tree: LexborHTMLParser, base: str) -> str | None:
    """What the page calls its canonical address; several that differ say nothing (RFC 6596 §3)."""
    named = {_resolved(node, base) for node in tree.css('link[rel~="canonical" i][href]')}
    return named.pop() if len(named) == 1 else None


def _resolved(node: LexborNode | None, base: str) -> str | None:
    href = (node.attributes.get("href") or "").strip() if node is not None else ""
    try:
        return canonical_url(href, base) if href else None
    except InvalidUrl:
        return None


def _directives(metas: list[tuple[str, str]]) -> Iterator[str]:
    for key, content in metas:
        if key == "robots":
            yield from (word.strip().lower() for word in content.split(","))


def _words(text: str) -> str:
    return well_formed(" ".join(text.split()))
