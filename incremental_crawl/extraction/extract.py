"""One page to one record: bytes and rules in, an `Extract` out; no clock, no input or output."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from incremental_crawl.extraction.body_kind import body_kind
from incremental_crawl.extraction.canonical_lines import PlacedLines, html_lines, plain_lines
from incremental_crawl.extraction.decoding import decode
from incremental_crawl.extraction.emptiness import no_text
from incremental_crawl.extraction.field_values import Surroundings
from incremental_crawl.extraction.fields import read_record
from incremental_crawl.extraction.links import NO_LINKS, Links, links_of
from incremental_crawl.extraction.main_text import main_text
from incremental_crawl.extraction.metadata import Metadata, base_url, read_metadata
from incremental_crawl.extraction.rules import ExtractionRules, PageType
from incremental_crawl.semantics.digest import canonical_json, sha256_bytes, sha256_text

LARGEST_BODY = 10_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """What is extracted from: the canonical URL, the body without content-coding, the Content-Type as received.

    `known_charset` is the charset of the page's current record; it counts where nothing is declared.
    """

    url: str
    body: bytes
    content_type: str | None = None
    known_charset: str | None = None


@dataclass(frozen=True, slots=True)
class Extract:
    """What a page holds.

    `record` is canonical JSON: an object of fields, or for pages without fields the array of their canonical lines;
    then `lines` and `paths` are those lines and their places, which the noise mask needs. `content_sha256` covers the
    tracked fields, or the lines. With a `fault`, a sentence, `record` and `content_sha256` are None.
    """

    url: str
    page_type: str
    extractor_version: str
    body_sha256: str
    record: str | None = None
    content_sha256: str | None = None
    lines: tuple[str, ...] = ()
    paths: tuple[int, ...] = ()
    meta_sha256: str | None = None
    title: str | None = None
    canonical_link: str | None = None
    main_text: str | None = None
    charset: str | None = None
    charset_source: str | None = None
    charset_conflict: str | None = None
    links: Links = NO_LINKS
    noindex: bool = False
    nofollow: bool = False
    fault: str | None = None


def extract(page: Page, rules: ExtractionRules, want_links: bool = False, want_main_text: bool = True) -> Extract:
    """Extracts one page. Faults of the page are in the result, never raised.

    `links` are filled only with `want_links` (absolute, each once), `main_text` only with `want_main_text`.
    """
    kind = rules.for_url(page.url)
    blank = Extract(page.url, kind.name, rules.version_of(kind), sha256_bytes(page.body))
    form = body_kind(page.body, page.content_type)
    if not page.body.strip(b"\0\t\n\f\r "):
        return replace(blank, fault=f"empty: the body has {len(page.body)} bytes and no text")
    if form == "binary":
        return replace(blank, fault=f"not text: the server calls it {page.content_type or 'nothing'}")
    if len(page.body) > LARGEST_BODY:
        return replace(blank, fault=f"too large: {len(page.body)} bytes, at most {LARGEST_BODY} are extracted")
    decoded = decode(page.body, page.content_type, page.known_charset)
    blank = replace(blank, charset=decoded.charset, charset_source=decoded.source, charset_conflict=decoded.conflict)
    if form == "plain" and not kind.fields:
        text = decoded.text if want_main_text else None
        return _with_lines(replace(blank, meta_sha256=Metadata().sha256, main_text=text), plain_lines(decoded.text))
    return _from_html(blank, decoded.text, rules, kind, want_links, want_main_text)


def _from_html(
    blank: Extract, html: str, rules: ExtractionRules, kind: PageType, want_links: bool, want_main_text: bool
) -> Extract:
    tree = LexborHTMLParser(html.encode("utf-8", "replace"))
    if _remove(tree, kind.ignore):
        html = tree.html or ""
    base = base_url(tree, blank.url)
    metadata = read_metadata(tree, base)
    described = replace(
        blank,
        meta_sha256=metadata.sha256,
        title=metadata.title,
        canonical_link=metadata.canonical_link,
        noindex=metadata.noindex,
        nofollow=metadata.nofollow,
        links=links_of(tree, base) if want_links else NO_LINKS,
        main_text=main_text(html) if want_main_text else None,
    )
    if kind.fields:
        return _with_fields(described, tree, rules, kind, base)
    return _with_lines(described, html_lines(tree), tree.css_first("script") is not None)


def _with_fields(
    described: Extract, tree: LexborHTMLParser, rules: ExtractionRules, kind: PageType, base: str
) -> Extract:
    record = read_record(tree, kind.fields, Surroundings(base, rules.strip_params, rules.timezone))
    if record.fault is not None:
        return replace(described, fault=record.fault)
    tracked = {field.name: record.values[field.name] for field in kind.fields if field.track}
    return replace(described, record=canonical_json(record.values), content_sha256=sha256_text(canonical_json(tracked)))


def _with_lines(described: Extract, placed: PlacedLines, scripts: bool = False) -> Extract:
    if not placed.lines:
        return replace(described, fault=no_text(scripts))
    # The lines are in NFC and well formed already, so that this is their canonical JSON.
    record = json.dumps(placed.lines, ensure_ascii=False, separators=(",", ":"))
    return replace(described, record=record, content_sha256=sha256_text(record), lines=placed.lines, paths=placed.paths)


def _remove(tree: LexborHTMLParser, selectors: Sequence[str]) -> bool:
    """Takes the selected elements out of the tree; whether there were any. The page itself stays."""
    chosen = {node.mem_id: node for selector in selectors for node in _selected(tree, selector)}
    # Decided before anything is freed: a node inside a removed one must not be touched again.
    outermost = [node for node in chosen.values() if not _is_inside(node, chosen)]
    for node in outermost:
        node.decompose()
    return bool(outermost)


def _selected(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    try:
        return [node for node in tree.css(selector) if node.tag not in ("html", "head", "body")]
    except (SelectolaxError, ValueError):
        return []


def _is_inside(node: LexborNode, chosen: Container[int]) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.mem_id in chosen:
            return True
        parent = parent.parent
    return False
