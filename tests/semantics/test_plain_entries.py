"""Entries that are recognised many at a time are what the XML parser makes of them, whatever stands around them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.semantics.plain_entries import PlainEntries, PlainRun
from incremental_crawl.semantics.sitemap_content import Reading, SitemapContent, SitemapEntry
from incremental_crawl.semantics.sitemap_xml import read_xml

HERE = "https://site.example/sitemap.xml"


class NothingIsPlain(PlainEntries):
    """Leaves every entry to the parser."""

    def run(self, text: str, start: int) -> PlainRun | None:
        """None, always."""
        return None


class Counting(PlainEntries):
    """Counts what it recognised."""

    count = 0

    def run(self, text: str, start: int) -> PlainRun | None:
        """As usual."""
        run = super().run(text, start)
        self.count += len(run.urls) if run is not None else 0
        return run


def read(pieces: Iterable[str], plain: PlainEntries, alternates: bool) -> tuple[list[SitemapEntry], SitemapContent]:
    entries: list[SitemapEntry] = []
    reading = Reading(HERE, lambda batch, _: entries.extend(batch), alternates)
    read_xml(pieces, reading, 0, plain)
    return entries, reading.content()


def entry(inside: str = "", loc: str = "https://site.example/a") -> str:
    return f"<url><loc>{loc}</loc>{inside}</url>"


PLAIN = [
    entry(),
    entry("<lastmod>2026-11-30</lastmod>"),
    entry("<lastmod></lastmod><changefreq>Daily</changefreq><priority>0.7</priority>"),
    entry("\n<priority>0.3</priority>\n\t<changefreq>sometimes</changefreq>\r\n"),
    entry("<changefreq>never</changefreq><lastmod>x</lastmod><priority>7</priority>"),
    entry("<image:image><image:loc>https://site.example/i.png</image:loc></image:image>"),
    entry("<mobile:mobile></mobile:mobile><x:y>a &amp; b\n</x:y>"),
    entry('<xhtml:link rel="alternate" hreflang="de" href="/de?a&amp;b"/>'),
    "\n  <url>\n    <loc>\n https://site.example/é?a=1&amp;b=2&amp;amp;c </loc> </url>\r\n",
    entry(loc="http://site.example/" + "x" * 500),
]
ODD = [
    entry("<lastmod>1</lastmod><lastmod>2</lastmod>"),
    entry("<loc>https://site.example/second</loc>"),
    entry("<lastmod>Mon, 30 Nov 2026</lastmod>"),
    entry("<lastmod>]]></lastmod>"),
    entry("<lastmod>a&lt;b</lastmod>"),
    entry("<lastmod>" + "9" * 201 + "</lastmod>"),
    entry("<xhtml:link rel='alternate' hreflang='fr' href='/fr'/>"),
    entry("<a:b><c:d>"),
    entry("<a:b></a:c>"),
    entry("<loc/>"),
    entry(loc=""),
    entry(loc="/relative"),
    entry(loc="https://site.example/a b"),
    entry(loc="https://site.example/" + "x" * 16_400),
    entry(loc=" " * 16_400 + "https://site.example/far"),
    entry(loc="https://site.example/?a&b"),
    entry(loc="https://site.example/&eacute;&#x41;&#0;"),
    entry(loc="https://site.example/\u3000\u1680x"),
    entry(loc="https://site.example/\ufffd"),
    entry(loc="https://site.example/\x0b"),
    entry(loc="<![CDATA[https://site.example/c?a&b]]>"),
    entry(loc="<b>https://site.example/</b>"),
    "<URL><loc>https://site.example/upper</loc></URL>",
    "<url/>",
    '<url lang="x"><loc>https://site.example/attribute</loc></url>',
    f"<other>{entry()}</other>",
    f"<!-- {entry()} -->",
    f"<?pi {entry()} ?>",
    f"<![CDATA[{entry()}]]>",
    *("<!--", "-->", "<![CDATA[", "]]>", "</url>", "<url>", "</urlset>", "<", "&", "text", "\r", "\r\n", "\n\n", " "),
]
MOSTLY_PLAIN = st.lists(st.sampled_from(PLAIN) | st.sampled_from(ODD) | st.sampled_from(PLAIN), max_size=14)


@settings(max_examples=150, deadline=None)
@given(MOSTLY_PLAIN, st.booleans(), st.booleans(), st.data())
def test_recognised_or_parsed_the_document_is_the_same(
    parts: list[str], ends: bool, alternates: bool, data: st.DataObject
) -> None:
    text = "<urlset>" + "".join(parts) + ("</urlset>" if ends else "")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    parsed = read([text], NothingIsPlain(True), alternates)
    assert read(pieces, PlainEntries(not alternates), alternates) == parsed


@pytest.mark.parametrize("plain", PLAIN, ids=range(len(PLAIN)))
def test_what_generators_write_is_recognised(plain: str) -> None:
    recogniser = Counting(language_links=True)
    read(["<urlset>" + plain * 100 + "</urlset>"], recogniser, alternates=False)
    assert recogniser.count == 99, "all but the first, after which the parser stands between two entries"


def test_entries_after_an_odd_one_are_recognised_again() -> None:
    recogniser = Counting(language_links=True)
    read(["<urlset>", *((PLAIN[0] * 10 + odd) for odd in ODD[:3]), "</urlset>"], recogniser, alternates=False)
    assert recogniser.count == 29


def test_lines_and_columns_count_what_was_recognised() -> None:
    text = "<urlset>\n" + (PLAIN[1] + "\r\n") * 30 + PLAIN[1] * 5 + "<url></oops>"
    _, content = read([text], PlainEntries(True), alternates=False)
    column = len(PLAIN[1] * 5 + "<url></") + 1
    assert content.warnings == [f"{HERE}: line 32, column {column}: mismatched tag; what follows is not read"]
