"""Where the entries of a kind of XML document are, and which of their elements hold address and date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from incremental_crawl.semantics.sitemap_content import SitemapKind


@dataclass(frozen=True, slots=True)
class Layout:
    """`path` leads from below the root to an entry; of `addresses` and `dates` the first that is there counts."""

    kind: SitemapKind
    path: tuple[str, ...]
    addresses: tuple[str, ...]
    dates: tuple[str, ...]

    @property
    def item_depth(self) -> int:
        """How deep an entry is nested, the root being 1."""
        return len(self.path) + 1

    def attribute_address(self, name: str, attributes: Mapping[str, str]) -> str | None:
        """The address that a feed's `<link href>` names, where it is the page itself (RFC 4287 §4.2.7.2)."""
        if name != "link" or name not in self.addresses or attributes.get("rel", "alternate") != "alternate":
            return None
        return attributes.get("href")

    def reads_text(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether the element's text is an address or a date; a `guid` may say that it is no address (RSS 2.0)."""
        if name == "guid" and attributes.get("isPermaLink", "true").lower() == "false":
            return False
        return name in self.addresses or name in self.dates

    def entry(self, fields: Mapping[str, str]) -> tuple[str | None, str | None]:
        """Address and date from the elements of one entry, each None where it has none."""
        return _first(self.addresses, fields), _first(self.dates, fields)


def _first(names: tuple[str, ...], fields: Mapping[str, str]) -> str | None:
    return next((fields[name] for name in names if name in fields), None)
