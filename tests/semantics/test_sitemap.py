"""Sitemaps, sitemap indexes, feeds and lists of URLs, as the field sends them."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.gzip_layers import DECODED_LIMIT_BYTES
from incremental_crawl.semantics.sitemap import read_sitemap
from incremental_crawl.semantics.sitemap_content import SitemapEntry, SitemapKind

HERE = "https://site.example/maps/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
TWO_PAGES = ["https://site.example/a", "https://site.example/b"]


def urlset(*items: str) -> bytes:
    urls = "".join(f"<url>{item}</url>" for item in items)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACE}>{urls}</urlset>'.encode()


def locs(addresses: Iterable[str]) -> list[str]:
    return [f"<loc>{address}</loc>" for address in addresses]


@dataclass(frozen=True)
class Read:
    """All of a document."""

    kind: SitemapKind
    entries: list[SitemapEntry]
    warnings: list[str]
    complete: bool


def urls_of(content: Read) -> list[str]:
    return [entry.url for entry in content.entries]


def read(body: bytes, alternates: bool = False) -> Read:
    entries: list[SitemapEntry] = []
    content = read_sitemap(body, HERE, lambda batch, _: entries.extend(batch), alternates)
    assert content.entries == len(entries)
    assert content.example == (entries[0].url if entries else None)
    return Read(content.kind, entries, content.warnings, content.complete)


TWO = urlset(*locs(TWO_PAGES))


def test_a_urlset_gives_addresses_and_lastmod_as_written() -> None:
    content = read(
        urlset("<loc>\n https://site.example/a\t</loc><lastmod> 2026-11-30 </lastmod>", *locs(TWO_PAGES[1:]))
    )
    assert content == Read(
        SitemapKind.URLSET, [SitemapEntry(TWO_PAGES[0], "2026-11-30"), SitemapEntry(TWO_PAGES[1])], [], True
    )


def test_an_index_gives_its_sitemaps() -> None:
    content = read(
        f"<sitemapindex {NAMESPACE}><sitemap><loc>/a.xml.gz</loc><lastmod>x</lastmod></sitemap></sitemapindex>".encode()
    )
    assert content.kind is SitemapKind.INDEX
    assert content.entries == [SitemapEntry("https://site.example/a.xml.gz", "x")]


@pytest.mark.parametrize(
    "body",
    [
        TWO,
        gzip.compress(TWO),
        gzip.compress(gzip.compress(TWO)),
        gzip.compress(TWO[:70]) + gzip.compress(TWO[70:]),
        gzip.compress(TWO) + bytes(512),
        gzip.compress(gzip.compress(TWO[:70]) + gzip.compress(TWO[70:])),
        gzip.compress(b"") + gzip.compress(TWO),
    ],
    ids=["plain", "gzip", "twice", "two members", "padded", "members in gzip", "empty member"],
)
def test_compression_is_seen_by_its_magic_number(body: bytes) -> None:
    content = read(body)
    assert (urls_of(content), content.warnings, content.complete) == (TWO_PAGES, [], True)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (gzip.compress(TWO)[:-20], "ends early"),
        (gzip.compress(TWO)[:-8] + b"\0\0\0\0\0\0\0\0", "damaged"),
        (gzip.compress(TWO) + b"<html>", "other bytes"),
        (gzip.compress(gzip.compress(gzip.compress(TWO))), "more than 2 times"),
        (b"\x1f\x8b", "ends early"),
    ],
)
def test_damaged_compression_is_a_warning_and_never_complete(body: bytes, says: str) -> None:
    content = read(body)
    assert not content.complete
    assert says in content.warnings[-1]
    assert content.warnings[-1].startswith(HERE)
    assert set(urls_of(content)) <= set(TWO_PAGES)


def test_what_came_before_damage_is_kept() -> None:
    addresses = [f"https://site.example/{number}" for number in range(20_000)]
    content = read(gzip.compress(urlset(*locs(addresses)))[:-1000])
    assert 1_000 < len(content.entries) < 20_000
    assert urls_of(content) == addresses[: len(content.entries)]
    assert not content.complete


def test_a_decompression_bomb_is_stopped_at_the_limit() -> None:
    squeezer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(squeezer.compress(bytes(1 << 20)) for _ in range(200)) + squeezer.flush()
    content = read(gzip.compress(bomb))
    assert not content.complete
    assert f"larger than {DECODED_LIMIT_BYTES} bytes" in content.warnings[-1]


def test_a_document_beyond_the_limit_is_read_up_to_it() -> None:
    padding = b"<!--" + b"x" * 1000 + b"-->"
    body = TWO.removesuffix(b"</urlset>") + padding * (DECODED_LIMIT_BYTES // len(padding) + 1) + b"</urlset>"
    content = read(body)
    assert urls_of(content) == TWO_PAGES
    assert not content.complete


def test_escapes_cdata_bare_ampersands_and_entities() -> None:
    content = read(
        urlset(
            *locs(
                [
                    "http://site.example/s?a=1&amp;b=2",
                    "\n<![CDATA[ http://site.example/s?a=3&b=4 ]]>\n",
                    "http://site.example/s?a=5&b=6",
                    "http://site.example/caf&eacute;",
                    "http://site.example/&#x70;age",
                    "http://site.example/ok",
                ]
            )
        )
    )
    assert urls_of(content) == [
        "http://site.example/s?a=1&b=2",
        "http://site.example/s?a=3&b=4",
        "http://site.example/s?a=5&b=6",
        "http://site.example/café",
        "http://site.example/page",
        "http://site.example/ok",
    ]
    assert content.complete
    assert content.warnings == [f"{HERE}: 1 times & was read as &amp;"]


@pytest.mark.parametrize("unknown", ["&nosuchthing;", "&#0;", "&#xD83D;", "&#x110000;", "\x0b", "\ufffe"])
def test_what_cannot_be_known_costs_its_entry_only(unknown: str) -> None:
    content = read(urlset(*locs([TWO_PAGES[0], f"https://site.example/x{unknown}y", TWO_PAGES[1]])))
    assert urls_of(content) == TWO_PAGES
    assert "cannot be read" in content.warnings[0]
    assert "line 1, column" in content.warnings[0]


def test_bytes_in_no_known_encoding_cost_their_entry_only() -> None:
    content = read(urlset(*locs([TWO_PAGES[0], "https://site.example/caf@", TWO_PAGES[1]])).replace(b"@", b"\xe9"))
    assert urls_of(content) == TWO_PAGES


@given(st.data())
def test_wherever_pieces_are_cut_the_repair_is_the_same(data: st.DataObject) -> None:
    from incremental_crawl.semantics.xml_text import XmlRepair

    parts = st.sampled_from(
        ["a&b", "&amp;", "&eacute;", "<![CDATA[", "]]>", "x", "&#65;", "&#0;", "]", "<", "&", "\x01"]
    )
    text = "".join(data.draw(st.lists(parts, max_size=12)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    repair = XmlRepair()
    assert "".join(map(repair.part, pieces)) + repair.whole("") == XmlRepair().whole(text)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "http://127.0.0.1:1/ping">]>',
        "<!DOCTYPE urlset ["
        '<!ENTITY l0 "lollollol">'
        + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
        + '<!ENTITY x "&l8;">]>',
        '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/sitemap.dtd">',
        "<!DOCTYPE html>",
    ],
    ids=["file", "network", "expansion", "external", "html"],
)
def test_a_dtd_is_refused_and_no_address_taken(doctype: str) -> None:
    body = TWO.replace(b"<urlset", doctype.encode() + b"<urlset").replace(b"/a<", b"/&x;<")
    content = read(body)
    assert content.entries == []
    assert "rejected: DTD" in content.warnings[0]
    assert not content.complete


def test_broken_xml_gives_what_came_before_and_the_position() -> None:
    content = read(b"\n\n<urlset>\n<url><loc>https://site.example/a</loc></url>\n<url></oops></urlset>")
    assert urls_of(content) == TWO_PAGES[:1]
    assert content.warnings == [f"{HERE}: line 5, column 8: mismatched tag; what follows is not read"]
    assert not content.complete


def test_a_document_cut_in_an_entry_does_not_give_half_an_address() -> None:
    content = read(TWO[: TWO.index(b"/b<") + 1])
    assert urls_of(content) == TWO_PAGES[:1]
    assert not content.complete


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf" + TWO,
        b"\r\n  " + TWO,
        TWO.decode().encode("utf-16"),
        TWO.decode().encode("utf-16-be"),
        TWO.replace(b"UTF-8", b"no-such-charset"),
        TWO.replace(b"UTF-8", b"zip"),
        TWO.replace(b' encoding="UTF-8"', b""),
        TWO.replace(NAMESPACE.encode(), b""),
        TWO.replace(NAMESPACE.encode(), b'xmlns="https://www.google.com/schemas/sitemap/0.84"'),
        TWO.replace(b"<", b"<s:").replace(b"<s:?", b"<?").replace(b"<s:/", b"</s:"),
    ],
)
def test_marks_blanks_encodings_and_namespaces_do_not_matter(body: bytes) -> None:
    content = read(body)
    assert (urls_of(content), content.complete) == (TWO_PAGES, True)


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1251", "shift_jis", "gbk", "euc-kr"])
def test_a_declared_encoding_is_used(encoding: str) -> None:
    letter = {"iso-8859-1": "é", "windows-1251": "ж", "shift_jis": "日", "gbk": "中", "euc-kr": "한"}[encoding]
    text = urlset(f"<loc>https://site.example/{letter}</loc>").decode().replace("UTF-8", encoding)
    assert urls_of(read(text.encode(encoding))) == [f"https://site.example/{letter}"]


def test_addresses_of_images_and_alternates_are_not_pages() -> None:
    content = read(
        urlset(
            "<loc>https://site.example/a</loc><image:loc>https://site.example/direct.png</image:loc>"
            "<image:image><image:loc>https://site.example/i.png</image:loc></image:image>"
            '<xhtml:link rel="alternate" href="https://site.example/de"/>'
            "<news><loc>https://site.example/n</loc></news>"
        )
    )
    assert urls_of(content) == TWO_PAGES[:1]


def test_an_entry_without_a_usable_address_is_a_warning() -> None:
    content = read(
        urlset("<lastmod>2026-01-01</lastmod>", "<loc> </loc>", f"<loc>/{'x' * 20_000}</loc>", *locs(TWO_PAGES))
    )
    assert urls_of(content) == TWO_PAGES
    assert len(content.warnings) == 3
    assert content.complete


def test_relative_addresses_are_resolved_and_others_left_as_they_are() -> None:
    content = read(urlset(*locs(["/a", "b", "//other.example/c", "HTTP://Site.Example:80/d#e"])))
    assert urls_of(content) == [
        "https://site.example/a",
        "https://site.example/maps/b",
        "https://other.example/c",
        "HTTP://Site.Example:80/d#e",
    ]


def test_warnings_are_limited_in_number() -> None:
    content = read(urlset(*["<loc/>"] * 1000))
    assert len(content.warnings) == 21
    assert content.warnings[-1] == f"{HERE}: and 980 more warnings"


def test_more_entries_than_the_protocol_allows_are_kept_and_reported() -> None:
    content = read(urlset(*locs(f"https://site.example/{number}" for number in range(60_001))))
    assert len(content.entries) == 60_001
    assert content.warnings == [f"{HERE}: 60001 entries, the protocol allows 50000; all are kept"]
    assert content.complete


def test_deep_nesting_is_refused() -> None:
    content = read(b"<urlset>" + b"<a>" * 1000)
    assert "nested" in content.warnings[0]
    assert not content.complete


@pytest.mark.parametrize(
    "body", [b"", b"  \n", b"<html><body>Not found</body></html>", b"Not found", b'{"a": 1}', b"{", b"[1]"]
)
def test_what_is_neither_sitemap_nor_feed_is_unknown(body: bytes) -> None:
    content = read(body)
    assert (content.kind, content.entries, content.complete) == (SitemapKind.UNKNOWN, [], False)
    assert content.warnings


def test_a_list_of_urls_is_read_line_by_line() -> None:
    content = read(b"\xef\xbb\xbfhttps://site.example/a\r\n\r\n# comment\r\n  https://site.example/b")
    assert content.kind is SitemapKind.TEXT
    assert urls_of(content) == TWO_PAGES
    assert len(content.warnings) == 1
    assert "'# comment'" in content.warnings[0]


def test_robots_txt_listed_as_a_sitemap_gives_nothing() -> None:
    content = read(b"User-agent: *\nSitemap: https://site.example/s.xml\n")
    assert (content.kind, content.entries) == (SitemapKind.UNKNOWN, [])


def test_an_rss_feed_gives_links_and_dates_as_written() -> None:
    content = read(
        b'<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://site.example/</link>'
        b'<atom:link href="https://site.example/feed" rel="self"/>'
        b"<item><link>https://site.example/a</link><pubDate>Mon, 30 Nov 2026 12:00:00 GMT</pubDate>"
        b"<guid>https://site.example/other</guid></item>"
        b"<item><guid>https://site.example/b</guid></item>"
        b'<item><guid isPermaLink="false">17</guid></item></channel></rss>'
    )
    assert content.kind is SitemapKind.FEED
    assert content.entries == [
        SitemapEntry(TWO_PAGES[0], "Mon, 30 Nov 2026 12:00:00 GMT"),
        SitemapEntry(TWO_PAGES[1]),
    ]
    assert len(content.warnings) == 1


def test_an_rss_1_feed_is_read() -> None:
    content = read(
        b'<rdf:RDF xmlns:rdf="r" xmlns="x" xmlns:dc="d"><channel><link>https://site.example/</link></channel>'
        b"<item><link>https://site.example/a</link><dc:date>2026-11-30</dc:date></item></rdf:RDF>"
    )
    assert content.entries == [SitemapEntry(TWO_PAGES[0], "2026-11-30")]


def test_an_atom_feed_gives_alternate_links_and_updated() -> None:
    content = read(
        b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://site.example/"/><updated>2026-01-01T00:00:00Z</updated>'
        b'<entry><link rel="enclosure" href="https://site.example/a.mp3"/><link rel="alternate" href="/a"/>'
        b"<published>2026-11-01T00:00:00Z</published><updated>2026-11-30T00:00:00Z</updated></entry>"
        b'<entry><link href="/b"/><published>2026-11-02T00:00:00Z</published></entry></feed>'
    )
    assert content.kind is SitemapKind.FEED
    assert content.entries == [
        SitemapEntry(TWO_PAGES[0], "2026-11-30T00:00:00Z"),
        SitemapEntry(TWO_PAGES[1], "2026-11-02T00:00:00Z"),
    ]


def test_a_json_feed_is_read() -> None:
    items: list[object] = [
        {"url": "/a", "date_published": "p", "date_modified": "m"},
        {"url": TWO_PAGES[1], "date_published": "p"},
        {"url": 5},
        "no item",
    ]
    content = read(json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}).encode())
    assert content.kind is SitemapKind.FEED
    assert content.entries == [SitemapEntry(TWO_PAGES[0], "m"), SitemapEntry(TWO_PAGES[1], "p")]
    assert len(content.warnings) == 2


def test_json_nested_without_end_is_refused() -> None:
    assert not read(b'{"items":' + b"[" * 200_000).complete


def test_a_large_sitemap_is_read_quickly() -> None:
    body = urlset(*locs(f"https://site.example/{number}" for number in range(50_000)))
    started = time.perf_counter()
    assert len(read(gzip.compress(body)).entries) == 50_000
    assert time.perf_counter() - started < 3


@given(st.binary(max_size=200) | st.binary(max_size=200).map(gzip.compress))
def test_any_bytes_are_read_without_an_error(body: bytes) -> None:
    content = read(body)
    assert content.complete or content.warnings


@given(st.integers(0, len(TWO)), st.binary(max_size=3))
def test_a_sitemap_with_damage_anywhere_is_read_without_an_error(at: int, damage: bytes) -> None:
    content = read(TWO[:at] + damage + TWO[at + len(damage) :])
    assert content.complete or content.warnings
