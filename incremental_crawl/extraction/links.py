"""The links of a page that may be followed."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from incremental_crawl.semantics.urls import InvalidUrl, canonical_url

_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})


def links_of(tree: LexborHTMLParser, base: str) -> tuple[str, ...]:
    """Where `a` and `area` elements lead, absolute, each once, in page order.

    Left out: links that ask not to be followed (`nofollow`, `ugc`, `sponsored`) and what is no http or https URL.
    """
    found: dict[str, None] = {}
    for node in tree.css("a[href], area[href]"):
        url = _target(node, base)
        if url:
            found[url] = None
    return tuple(found)


def _target(node: LexborNode, base: str) -> str | None:
    attributes = node.attributes
    href = (attributes.get("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    if not _NOT_FOLLOWED.isdisjoint((attributes.get("rel") or "").lower().split()):
        return None
    try:
        return canonical_url(href, base)
    except InvalidUrl:
        return None
