"""Where the entries of a kind of XML document are, and which of their elements hold address, date and hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from incremental_crawl.semantics.sitemap_content import SitemapKind

HINTS = ("changefreq", "priority")


@dataclass(frozen=True, slots=True)
class Layout:
    """`path` leads from below the root to an entry; of `addresses` and `dates` the first that is there counts.

    `hints` are the names of elements that the entries of this kind may have besides.
    """

    kind: SitemapKind
    path: tuple[str, ...]
    addresses: tuple[str, ...]
    dates: tuple[str, ...]
    hints: tuple[str, ...] = ()

    @property
    def item_depth(self) -> int:
        """How deep an entry is nested, the root being 1."""
        return len(self.path) + 1

    def attribute_address(self, name: str, attributes: Mapping[str, str]) -> str | None:
        """The address that a feed's `<link href>` names, where it is the page itself (RFC 4287 §4.2.7.2)."""
        if name != "link" or name not in self.addresses or attributes.get("rel", "alternate") != "alternate":
            return None
        return attributes.get("href")

    def alternate(self, name: str, attributes: Mapping[str, str]) -> str | None:
        """The address that `<xhtml:link rel="alternate" hreflang href>` names: the page in another language."""
        if self.kind is not SitemapKind.URLSET or name.rpartition(":")[2] != "link" or "hreflang" not in attributes:
            return None
        return attributes.get("href") if attributes.get("rel", "").lower() == "alternate" else None

    def reads_text(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether the element's text is an address, a date or a hint; a `guid` may say that it is none (RSS 2.0)."""
        if name == "guid" and attributes.get("isPermaLink", "true").lower() == "false":
            return False
        return name in self.addresses or name in self.dates or name in self.hints

    def address(self, fields: Mapping[str, str]) -> str | None:
        """The address among the elements of one entry."""
        return _first(self.addresses, fields)

    def date(self, fields: Mapping[str, str]) -> str | None:
        """The date among the elements of one entry."""
        return _first(self.dates, fields)


def _first(names: tuple[str, ...], fields: Mapping[str, str]) -> str | None:
    return next((fields[name] for name in names if name in fields), None)
