"""The links of a page that lead to pages."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from incremental_crawl.semantics.urls import InvalidUrl, canonical_url

_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# An iframe holds a part of its page (a map, a form), a frame of a frameset is the page.
_LINKS = 'a[href], area[href], frame[src], link[rel~="next" i][href], link[rel~="prev" i][href]'


@dataclass(frozen=True, slots=True)
class Links:
    """Absolute URLs, each once, in page order. `discouraged` are those that only links marked as such lead to."""

    open: tuple[str, ...] = ()
    discouraged: tuple[str, ...] = ()


NO_LINKS = Links()


def links_of(tree: LexborHTMLParser, base: str) -> Links:
    """Where links, image maps, frames and the neighbours of a series lead; what is no http or https URL is left out.

    Discouraged are links with `nofollow`, `ugc` or `sponsored` in `rel`.
    """
    found: dict[str, bool] = {}
    for node in tree.css(_LINKS):
        url = _target(node, base)
        if url is not None:
            found[url] = found.get(url, False) or _is_open(node)
    return Links(
        tuple(url for url, is_open in found.items() if is_open),
        tuple(url for url, is_open in found.items() if not is_open),
    )


def _is_open(node: LexborNode) -> bool:
    return _NOT_FOLLOWED.isdisjoint((node.attributes.get("rel") or "").lower().split())


def _target(node: LexborNode, base: str) -> str | None:
    attributes = node.attributes
    address = (attributes.get("src" if node.tag == "frame" else "href") or "").strip()
    if not address or address.startswith("#"):
        return None
    try:
        return canonical_url(address, base)
    except InvalidUrl:
        return None
