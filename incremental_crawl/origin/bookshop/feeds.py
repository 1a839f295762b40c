"""What the shop publishes for machines: robots.txt, a sitemap index with two children, and an Atom feed."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from datetime import datetime
from xml.sax.saxutils import escape

from incremental_crawl.origin.bookshop.pages import CATEGORY_PATHS, SHOP_NAME, money
from incremental_crawl.origin.bookshop.world import OPENED_AT, World, moment

SITEMAP_INDEX = "/sitemap.xml"
SITEMAP_OF_PAGES = "/sitemap-pages.xml"
SITEMAP_OF_BOOKS = "/sitemap-books.xml.gz"
FEED_ENTRIES = 20
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def robots_txt(base_url: str) -> str:
    """Everything but the basket is open to everyone."""
    return f"User-agent: *\nDisallow: /basket\nDisallow: /newsletter\n\nSitemap: {base_url}{SITEMAP_INDEX}\n"


def sitemap_index(base_url: str, world: World) -> str:
    """The two sitemaps, with the moment at which each last changed."""
    children = "".join(
        f"<sitemap><loc>{base_url}{path}</loc><lastmod>{world.at_moment.isoformat()}</lastmod></sitemap>\n"
        for path in (SITEMAP_OF_PAGES, SITEMAP_OF_BOOKS)
    )
    return f"{_DECLARATION}<sitemapindex {_NAMESPACE}>\n{children}</sitemapindex>\n"


def sitemap_of_pages(base_url: str, world: World, text_paths: Iterable[str]) -> str:
    """The front page, the categories and the pages of plain text."""
    entries = [("/", world.at_moment)]
    entries += [(path, shelf_moment(world, name)) for path, name in CATEGORY_PATHS.items()]
    entries += [(path, OPENED_AT) for path in text_paths]
    return _urlset(base_url, entries)


def sitemap_of_books(base_url: str, world: World) -> bytes:
    """Every book that has a page, as gzipped XML; a book that is gone is not listed, one that is back is."""
    entries = [(state.path, state.last_modified) for state in world.live]
    return gzip.compress(_urlset(base_url, entries).encode(), compresslevel=6, mtime=0)


def shelf_moment(world: World, category: str) -> datetime:
    """When the page of a category last changed."""
    return moment(world.shelf_changed_at.get(category, 0))


def _urlset(base_url: str, entries: Iterable[tuple[str, datetime]]) -> str:
    urls = "".join(
        f"<url><loc>{base_url}{path}</loc><lastmod>{at.isoformat()}</lastmod></url>\n" for path, at in entries
    )
    return f"{_DECLARATION}<urlset {_NAMESPACE}>\n{urls}</urlset>\n"


def atom_feed(base_url: str, world: World) -> str:
    """The books whose pages changed last, newest first (RFC 4287)."""
    entries = "".join(
        f'<entry><title>{escape(state.facts.title)}</title><link href="{base_url}{state.path}"/>'
        f"<id>urn:tidewater:{state.facts.sku}</id><updated>{state.last_modified.isoformat()}</updated>"
        f"<summary>{escape(state.facts.author)}, {money(state.price)}</summary></entry>\n"
        for state in world.recently_changed(FEED_ENTRIES)
    )
    return (
        f'{_DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom">\n<title>{SHOP_NAME}</title>\n'
        f'<id>urn:tidewater:feed</id>\n<link rel="self" href="{base_url}/feed.atom"/>\n'
        f"<author><name>{SHOP_NAME}</name></author>\n"
        f"<updated>{world.at_moment.isoformat()}</updated>\n{entries}</feed>\n"
    )
