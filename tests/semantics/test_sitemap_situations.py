"""What sitemaps and feeds look like in the field, one situation a row: what is read of it, and whether all was.

The situations are those that the tests of other parsers of sitemaps are about, and their neighbours.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field

import pytest

from incremental_crawl.semantics.sitemap import read_sitemap
from incremental_crawl.semantics.sitemap_content import SitemapEntry, SitemapKind

HERE = "https://garden.example/maps/sitemap.xml"
PROTOCOL = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>'
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'


@dataclass(frozen=True)
class Situation:
    """A document, the paths that are read from it, and a piece of the first warning where there is one."""

    name: str
    document: str | bytes
    paths: list[str]
    complete: bool = True
    says: str | None = None
    kind: SitemapKind = SitemapKind.URLSET
    alternates: bool = False
    dates: list[str | None] = field(default_factory=list)


def urlset(*inside: str, root: str = PROTOCOL) -> str:
    """A sitemap of entries with this inside."""
    entries = "\n".join(f"<url>{each}</url>" for each in inside)
    return f"{DECLARED}\n<urlset {root}>\n{entries}\n</urlset>"


def loc(path: str, more: str = "") -> str:
    """The inside of an entry."""
    return f"<loc>https://garden.example/{path}</loc>{more}"


def index(*inside: str) -> str:
    """An index of sitemaps with this inside."""
    entries = "".join(f"<sitemap>{each}</sitemap>" for each in inside)
    return f"{DECLARED}<sitemapindex {PROTOCOL}>{entries}</sitemapindex>"


def rss(*items: str, version: str = "2.0", head: str = "") -> str:
    """A feed of these items."""
    inside = "".join(f"<item>{item}</item>" for item in items)
    channel = f"<channel><title>News</title><link>https://garden.example/</link>{head}{inside}</channel>"
    return f'{DECLARED}<rss version="{version}">{channel}</rss>'


def atom(*entries: str, root: str = ATOM) -> str:
    """A feed of these entries."""
    inside = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'{DECLARED}<feed {root}><title>News</title><link href="https://garden.example/"/>{inside}</feed>'


def link(path: str, rel: str = "") -> str:
    """A link of an entry of Atom."""
    return f'<link {rel and f"rel={rel!r} "}href="https://garden.example/{path}"/>'


NEWS = (
    "<news:news><news:publication><news:name>The Bed</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-11-30</news:publication_date><news:title>Beans &lt;and&gt; peas</news:title>"
    "</news:news>"
)
VIDEO = (
    "<video:video><video:thumbnail_loc>https://garden.example/t.jpg</video:thumbnail_loc>"
    "<video:content_loc>https://garden.example/v.mp4</video:content_loc>"
    '<video:player_loc allow_embed="yes">https://garden.example/player</video:player_loc>'
    '<video:price currency="EUR">1,99</video:price><video:tvshow><video:episode_number/></video:tvshow></video:video>'
)
IMAGE = (
    "<image:image><image:loc>https://garden.example/i.png</image:loc><image:caption>A bed</image:caption>"
    "<image:license>https://garden.example/licence</image:license></image:image>"
)
PAGEMAP = (
    '<PageMap xmlns="http://www.google.com/schemas/sitemap-pagemap/1.0"><DataObject type="document">'
    '<Attribute name="loc">https://garden.example/not-a-page</Attribute></DataObject></PageMap>'
)
LANGUAGES = (
    '<xhtml:link rel="alternate" hreflang="de" href="https://garden.example/de"/>'
    '<xhtml:link rel="alternate" hreflang="de-CH" href="/de-ch"/>'
    '<xhtml:link rel="alternate" hreflang="en" href="https://garden.example/en"/>'
    '<xhtml:link rel="alternate" hreflang="fr"/>'
    '<xhtml:link rel="alternate" href="https://garden.example/no-language"/>'
    '<xhtml:link hreflang="it" href="https://garden.example/no-rel"/>'
    '<xhtml:link rel="alternate" media="only screen" href="https://garden.example/mobile"/>'
    '<xhtml:link rel="canonical" hreflang="en" href="https://garden.example/canonical"/>'
)
XXE = '<!DOCTYPE urlset [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'
LAUGHS = "".join(f'<!ENTITY h{n} "{f"&h{n - 1};" * 10}">' for n in range(1, 10))

SITEMAPS = [
    Situation("the protocol's own form", urlset(loc("a"), loc("b?x=1&amp;y=2")), ["a", "b?x=1&y=2"]),
    Situation("an old namespace", urlset(loc("a"), root='xmlns="http://www.google.com/schemas/sitemap/0.84"'), ["a"]),
    Situation("a namespace with a typing error", urlset(loc("a"), root='xmlns="http://www.sitemap.org/0.9"'), ["a"]),
    Situation("no namespace", urlset(loc("a"), root=""), ["a"]),
    Situation("entries out of the namespace", urlset(loc("a")).replace("<url>", '<url xmlns="">'), ["a"]),
    Situation("elements that nobody knows", urlset(loc("a", "<rating>5</rating><b><c/></b>")), ["a"]),
    Situation("blanks around an address", urlset("<loc> \n\thttps://garden.example/a </loc>"), ["a"]),
    Situation("blanks that only Unicode knows", urlset("<loc>\u00a0https://garden.example/a\u2003</loc>"), ["a"]),
    Situation("an address in CDATA", urlset("<loc>\n<![CDATA[ https://garden.example/a?b&c ]]>\n</loc>"), ["a?b&c"]),
    Situation("half an address in CDATA", urlset("<loc>https://garden.example/a<![CDATA[?b&c]]></loc>"), ["a?b&c"]),
    Situation(
        "marks that no one sees around an address",
        urlset(
            "<loc>\ufeffhttps://garden.example/a</loc>",
            "<loc> \u200bhttps://garden.example/b\u200b\n</loc>",
            loc("c\u200b"),
        ),
        ["a", "b", "c"],
    ),
    Situation("escapes that CDATA does not undo", urlset("<loc><![CDATA[/a?b&amp;c]]></loc>"), ["a?b&amp;c"]),
    Situation("an address escaped twice", urlset(loc("a?b&amp;amp;c")), ["a?b&amp;c"]),
    Situation("all escapes", urlset(loc("&quot;&apos;&lt;&gt;&#38;&#x26;&AMP;")), ["\"'<>&&&"]),
    Situation("an address in pieces", urlset(loc("a&#43;b<!-- here -->c")), ["a+bc"]),
    Situation(
        "an empty lastmod",
        urlset(loc("a", "<lastmod/>"), loc("b", "<lastmod> </lastmod>")),
        ["a", "b"],
        dates=[None, None],
    ),
    Situation("lastmod in CDATA", urlset(loc("a", "<lastmod><![CDATA[2026-11]]></lastmod>")), ["a"], dates=["2026-11"]),
    Situation(
        "lastmod with an escape",
        urlset(loc("a", "<lastmod>2026-11-30T10:00&#43;01:00</lastmod>")),
        ["a"],
        dates=["2026-11-30T10:00+01:00"],
    ),
    Situation("lastmod that is no date", urlset(loc("a", "<lastmod>last week</lastmod>")), ["a"], dates=["last week"]),
    Situation("an empty sitemap", urlset(), []),
    Situation("an entry with nothing", urlset("<!-- nothing -->", loc("a")), ["a"], says="without an address"),
    Situation(
        "an element inside an address",
        urlset("<loc><url>https://garden.example/x</url></loc>", loc("a")),
        ["a"],
        says="without an address",
    ),
    Situation(
        "a stylesheet",
        urlset(loc("a")).replace("<urlset", '<?xml-stylesheet type="text/xsl" href="/s.xsl"?><urlset'),
        ["a"],
    ),
    Situation("a mark and blanks before the declaration", "\ufeff\n \t\r\n" + urlset(loc("a")), ["a"]),
    Situation(
        "comments everywhere", urlset("<!-- a -->" + loc("a") + "<!-- <loc>https://garden.example/x</loc> -->"), ["a"]
    ),
    Situation(
        "an entry that is commented out",
        urlset(loc("a")).replace("</urlset>", f"<!-- <url>{loc('x')}</url> --></urlset>"),
        ["a"],
    ),
    Situation("upper case", urlset(loc("a")).replace("url>", "URL>").replace("loc>", "Loc>"), ["a"]),
    Situation(
        "an address on another host",
        urlset("<loc>https://other.example/x</loc>", loc("a")),
        ["https://other.example/x", "a"],
    ),
    Situation("an address outside of the sitemap's folder", urlset("<loc>/elsewhere</loc>"), ["elsewhere"]),
    Situation(
        "an address with another scheme", urlset("<loc>ftp://garden.example/x</loc>"), ["ftp://garden.example/x"]
    ),
    Situation("an address without a scheme", urlset("<loc>garden.example/x</loc>"), ["maps/garden.example/x"]),
    Situation("an address with a fragment", urlset(loc("a#part")), ["a#part"]),
    Situation("an address listed twice", urlset(loc("a"), loc("a")), ["a", "a"]),
    Situation("letters beyond ASCII", urlset(loc("gärten/日本")), ["gärten/日本"]),
    Situation("XML 1.1", urlset(loc("a")).replace('"1.0"', '"1.1"'), ["a"]),
    Situation(
        "entries in other elements",
        urlset(loc("a")).replace("<url>", "<group><url>").replace("</url>", "</url></group>"),
        [],
    ),
    Situation(
        "an include",
        urlset(loc("a"), '<loc><xi:include href="file:///etc/hostname" parse="text"/></loc>'),
        ["a"],
        says="without an address",
    ),
]
EXTENSIONS = [
    Situation("news", urlset(loc("a", NEWS), loc("b", NEWS)), ["a", "b"]),
    Situation("video", urlset(loc("a", VIDEO)), ["a"]),
    Situation("images", urlset(IMAGE + loc("a", IMAGE + IMAGE)), ["a"]),
    Situation("mobile", urlset(loc("a", "<mobile:mobile/>")), ["a"]),
    Situation("page maps", urlset(loc("a", PAGEMAP)), ["a"]),
    Situation("all of them", urlset(loc("a", NEWS + VIDEO + IMAGE + PAGEMAP + LANGUAGES)), ["a"]),
    Situation("languages, not asked for", urlset(loc("en", LANGUAGES), loc("b")), ["en", "b"]),
    Situation(
        "languages, asked for",
        urlset(loc("en", LANGUAGES), loc("b")),
        ["en", "de", "de-ch", "en", "b"],
        alternates=True,
    ),
    Situation(
        "languages of each of many",
        urlset(*(loc(f"{n}", f'<xhtml:link rel="alternate" hreflang="de" href="/de/{n}"/>') for n in range(3))),
        ["0", "de/0", "1", "de/1", "2", "de/2"],
        alternates=True,
    ),
    Situation(
        "languages under another prefix",
        urlset(loc("a", '<x:link hreflang="de" rel="Alternate" href="/de"/>')),
        ["a", "de"],
        alternates=True,
    ),
    Situation(
        "languages of an entry without an address",
        urlset(LANGUAGES),
        ["de", "de-ch", "en"],
        alternates=True,
        says="without an address",
    ),
]
BROKEN = [
    Situation(
        "the end is missing",
        urlset(loc("a"), loc("b")).removesuffix("</urlset>"),
        ["a", "b"],
        False,
        "no element found",
    ),
    Situation(
        "cut inside an address",
        urlset(loc("a"), loc("b"))[: -len("b</loc></url>\n</urlset>")],
        ["a"],
        False,
        "no element found",
    ),
    Situation(
        "cut inside a tag", urlset(loc("a"), loc("b"))[: -len("oc></url>\n</urlset>")], ["a"], False, "unclosed token"
    ),
    Situation(
        "cut inside the news of the third",
        urlset(*(loc(path, NEWS) for path in "abc")).partition("</news:title></news:news></url>\n</urlset>")[0],
        ["a", "b"],
        False,
        "line 5",
    ),
    Situation(
        "cut inside a comment", urlset(loc("a")).removesuffix("</urlset>") + "<!-- not", ["a"], False, "unclosed token"
    ),
    Situation(
        "an end too many",
        urlset("<!-- not well formed -->", loc("a")).replace("\n</urlset>", "</url></urlset>"),
        ["a"],
        False,
        "mismatched tag",
    ),
    Situation(
        "something after the end",
        urlset(loc("a")) + "<p>Served in 0.2 s</p>",
        ["a"],
        False,
        "junk after document element",
    ),
    Situation("a comment after the end", urlset(loc("a")) + "\n<!-- served in 0.2 s -->\n", ["a"]),
    Situation(
        "an attribute without quotes",
        urlset(loc("a")).replace("</urlset>", "<url lang=en><loc>/b</loc></url></urlset>"),
        ["a"],
        False,
        "not well-formed",
    ),
    Situation(
        "a bare ampersand", urlset(loc("a?b=1&c=2"), loc("d")), ["a?b=1&c=2", "d"], says="1 times & was read as &amp;"
    ),
    Situation(
        "bare ampersands that look like entities",
        urlset(loc("a?b=1&copy=2&reg=3&amp=4&"), loc("d?&;&&")),
        ["a?b=1&copy=2&reg=3&amp=4&", "d?&;&&"],
        says="7 times & was read as &amp;",
    ),
    Situation(
        "a bare ampersand in an attribute and a comment",
        urlset("<!-- a & b -->" + loc("a")).replace("<urlset", '<urlset by="x & y"'),
        ["a"],
        says="2 times",
    ),
    Situation("half of a character", urlset(loc("&#xD83D;&#xDE00;"), loc("&#128512;")), ["😀"], says="cannot be read"),
    Situation("CDATA without an end", urlset(loc("a"), f"<loc><![CDATA[{HERE}"), ["a"], False, "unclosed CDATA"),
    Situation("a bare angle bracket", urlset(loc("a"), loc("b?x<3"), loc("c")), ["a"], False, "not well-formed"),
    Situation("an entity of HTML", urlset(loc("caf&eacute;"), loc("a")), ["café", "a"]),
    Situation("an entity of nobody", urlset(loc("x&nobody;"), loc("a")), ["a"], says="cannot be read"),
    Situation(
        "entries that are not closed",
        f"<urlset><url>{loc('a', '<lastmod>1</lastmod>')}{loc('b')}{loc('c', '<lastmod>3</lastmod>')}</url></urlset>",
        ["a", "b", "c"],
        dates=["1", None, "3"],
    ),
    Situation(
        "an entry without its root",
        f"<url>{loc('a')}</url>",
        [],
        False,
        "begins neither a sitemap nor a feed",
        SitemapKind.UNKNOWN,
    ),
    Situation("an unknown entity without a root", "<url>&k;", [], False, "begins neither", SitemapKind.UNKNOWN),
    Situation(
        "a page of HTML",
        "<!doctype html><html><body>Not here</body></html>",
        [],
        False,
        "an HTML page",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a page of XHTML",
        "<html xmlns='http://www.w3.org/1999/xhtml'><head/></html>",
        [],
        False,
        "<html> begins",
        SitemapKind.UNKNOWN,
    ),
    Situation("nonsense", "this is no sitemap at all", [], False, "rejected", SitemapKind.UNKNOWN),
    Situation("bytes of an image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", [], False, "rejected", SitemapKind.UNKNOWN),
    Situation("zlib instead of gzip", b"x\x9c\x03\0\0\0\0\x01", [], False, "rejected", SitemapKind.UNKNOWN),
]
DANGEROUS = [
    Situation(
        "an external entity",
        XXE + urlset(loc("&secret;")).removeprefix(DECLARED),
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "an external entity beside good entries",
        DECLARED + XXE + urlset(loc("a"), loc("&secret;")).removeprefix(DECLARED),
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "entities that grow",
        f'<!DOCTYPE x [<!ENTITY h0 "ha">{LAUGHS}]>' + urlset(loc("&h9;")).removeprefix(DECLARED),
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a parameter entity",
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/">%p;]><urlset/>',
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "an external DTD",
        '<!DOCTYPE rss PUBLIC "-//N//DTD RSS 0.91//EN" "http://127.0.0.1:1/rss.dtd"><rss/>',
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a DTD in UTF-16",
        (XXE + urlset(loc("&secret;")).removeprefix(DECLARED)).encode("utf-16"),
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a DTD in UTF-7",
        b'<?xml version="1.0" encoding="UTF-7"?>+ADw-!DOCTYPE x+AD4-<urlset/>',
        [],
        False,
        "not well-formed",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a DTD after a comment, compressed",
        gzip.compress(f"{DECLARED}<!-- x --><?x?>{XXE}<urlset/>".encode()),
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a DTD of a feed",
        f"{XXE}<rss><channel><item><link>&secret;</link></item></channel></rss>",
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "a DTD of an index",
        f"{XXE}<sitemapindex><sitemap><loc>/&secret;</loc></sitemap></sitemapindex>",
        [],
        False,
        "rejected: DTD",
        SitemapKind.UNKNOWN,
    ),
    Situation(
        "places that name other files",
        urlset(
            loc("a"), "<loc>b</loc>", root='xml:base="http://127.0.0.1:1/" xsi:schemaLocation="x http://127.0.0.1:1/"'
        ),
        ["a", "maps/b"],
    ),
    Situation(
        "a tag without end", urlset(loc("a"), f'<loc x="{"x" * 1_500_000}"/>'), ["a"], False, "more than 1048576 bytes"
    ),
    Situation("a comment without end", urlset(loc("a")) + "<!--" + "x" * 1_500_000, ["a"], False, "more than 1048576"),
    Situation(
        "names without end", urlset(loc("a"), *(f"<n{n}/>" for n in range(2_000))), ["a"], False, "more than 1000 names"
    ),
    Situation(
        "attributes without end",
        urlset(loc("a"), "<x " + " ".join(f'n{n}=""' for n in range(2_000)) + "/><y/>"),
        ["a"],
        False,
        "more than 1000 names",
    ),
    Situation("an entity that no one declared", urlset(loc("&secret;"), loc("a")), ["a"], says="cannot be read"),
    Situation(
        "a DTD that came too late",
        urlset(loc("a")).replace("</urlset>", f"{XXE}</urlset>"),
        ["a"],
        False,
        "not well-formed",
    ),
]
INDEXES = [
    Situation(
        "sitemaps by name",
        index(loc("a.xml.gz", "<lastmod>2026</lastmod>"), "<loc>b.xml?x=1&amp;y=2</loc>"),
        ["a.xml.gz", "maps/b.xml?x=1&y=2"],
        kind=SitemapKind.INDEX,
        dates=["2026", None],
    ),
    Situation(
        "one without an address",
        index("<lastmod>2026</lastmod>", loc("a.xml")),
        ["a.xml"],
        says="without an address",
        kind=SitemapKind.INDEX,
    ),
    Situation("one that is not closed", index(loc("a.xml") + loc("b.xml")), ["a.xml", "b.xml"], kind=SitemapKind.INDEX),
    Situation(
        "comments and blank lines",
        "\n\n" + index("<!-- made by a cache -->" + loc("a.xml")),
        ["a.xml"],
        kind=SitemapKind.INDEX,
    ),
    Situation(
        "cut after an address",
        index(loc("a.xml"), loc("b.xml", "<lastmod/>"))[:-45],
        ["a.xml"],
        False,
        kind=SitemapKind.INDEX,
        says="line 1",
    ),
    Situation(
        "escapes, CDATA and a bare ampersand",
        index(loc("a?x=1&amp;y=2"), "<loc> <![CDATA[ /b?x=1&y=2 ]]> </loc>", loc("c?x=1&y=2")),
        ["a?x=1&y=2", "b?x=1&y=2", "c?x=1&y=2"],
        says="1 times &",
        kind=SitemapKind.INDEX,
    ),
    Situation("compressed", gzip.compress(index(loc("a.xml")).encode()), ["a.xml"], kind=SitemapKind.INDEX),
    Situation("itself", index(f"<loc>{HERE}</loc>"), ["maps/sitemap.xml"], kind=SitemapKind.INDEX),
    Situation("pages in an index", f"<sitemapindex><url>{loc('a')}</url></sitemapindex>", [], kind=SitemapKind.INDEX),
    Situation("sitemaps in a sitemap", f"<urlset><sitemap>{loc('a')}</sitemap></urlset>", []),
]
LISTS = [
    Situation(
        "one address a line",
        "https://garden.example/a?b=1&c=2\nhttps://garden.example/d",
        ["a?b=1&c=2", "d"],
        kind=SitemapKind.TEXT,
    ),
    Situation(
        "blank lines, other lines",
        "\n\nhttps://garden.example/a\n\n\nplants:\nhttps://garden.example/b\n",
        ["a", "b"],
        says="'plants:'",
        kind=SitemapKind.TEXT,
    ),
    Situation(
        "indented",
        gzip.compress(b"   https://garden.example/a\r\n\t\thttps://garden.example/b"),
        ["a", "b"],
        kind=SitemapKind.TEXT,
    ),
    Situation("a mark before", "\ufeffhttps://garden.example/a", ["a"], kind=SitemapKind.TEXT),
    Situation(
        "an address without a scheme",
        "www.garden.example/x\nhttps://garden.example/a#b",
        ["a#b"],
        says="no http or https URL",
        kind=SitemapKind.TEXT,
    ),
    Situation(
        "line ends of old", "https://garden.example/a\rhttps://garden.example/b\r", ["a", "b"], kind=SitemapKind.TEXT
    ),
    Situation(
        "escapes are part of the address",
        "https://garden.example/a?b=1&amp;c=2",
        ["a?b=1&amp;c=2"],
        kind=SitemapKind.TEXT,
    ),
    Situation("in capitals", "HTTPS://GARDEN.EXAMPLE/A", ["HTTPS://GARDEN.EXAMPLE/A"], kind=SitemapKind.TEXT),
]
FEED = SitemapKind.FEED
FEEDS = [
    Situation(
        "RSS 2.0",
        rss("<link>https://garden.example/a?b&amp;c</link><pubDate>Mon, 30 Nov 2026 10:00:00 +0100</pubDate>"),
        ["a?b&c"],
        kind=FEED,
        dates=["Mon, 30 Nov 2026 10:00:00 +0100"],
    ),
    Situation("RSS without items", rss(head="<pubDate>Mon, 30 Nov 2026 10:00:00 GMT</pubDate>"), [], kind=FEED),
    Situation(
        "RSS with the permanent link only",
        rss('<guid isPermaLink="true">https://garden.example/a</guid>'),
        ["a"],
        kind=FEED,
    ),
    Situation(
        "RSS with an id that is no address",
        rss('<guid isPermaLink="false">https://garden.example/x</guid>'),
        [],
        says="without an address",
        kind=FEED,
    ),
    Situation(
        "RSS with link and id",
        rss("<guid>https://garden.example/x</guid><link>https://garden.example/a</link>"),
        ["a"],
        kind=FEED,
    ),
    Situation(
        "RSS dates of all kinds",
        rss(
            *(
                f"<link>/{n}</link>{date}"
                for n, date in enumerate(
                    [
                        "<pubDate>Mon, 30 Nov 26 10:00 GMT</pubDate>",
                        "<pubDate>30 Nov 2026</pubDate>",
                        "<pubDate/>",
                        "",
                        "<dc:date>2026-11-30</dc:date>",
                    ]
                )
            )
        ),
        ["0", "1", "2", "3", "4"],
        kind=FEED,
        dates=["Mon, 30 Nov 26 10:00 GMT", "30 Nov 2026", None, None, "2026-11-30"],
    ),
    Situation("RSS in CDATA", rss("<link><![CDATA[https://garden.example/a?b&c]]></link>"), ["a?b&c"], kind=FEED),
    Situation(
        "RSS 0.91", rss("<title>A</title><link>https://garden.example/a</link>", version="0.91"), ["a"], kind=FEED
    ),
    Situation(
        "RSS with the picture of the channel",
        rss("<link>/a</link>", head="<image><url>https://garden.example/i.png</url><link>/x</link></image>"),
        ["a"],
        kind=FEED,
    ),
    Situation(
        "RSS with attachments",
        rss(
            '<link>/a</link><enclosure url="https://garden.example/a.mp3"/><media:content url="/b.mp4"/>'
            "<comments>/c</comments>"
        ),
        ["a"],
        kind=FEED,
    ),
    Situation(
        "RSS 0.90",
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><link>/x</link></channel><item><title>A</title><link>https://garden.example/a</link></item></rdf:RDF>',
        ["a"],
        kind=FEED,
    ),
    Situation(
        "RSS 1.0",
        '<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="/x">'
        '<items><rdf:Seq><rdf:li resource="/y"/></rdf:Seq></items></channel><image><link>/z</link></image>'
        '<item rdf:about="/a"><link>/a</link><dc:date>2026</dc:date></item></rdf:RDF>',
        ["a"],
        kind=FEED,
        dates=["2026"],
    ),
    Situation(
        "Atom 1.0",
        atom(link("a") + "<id>tag:1</id><updated>2026-11-30T10:00:00Z</updated>"),
        ["a"],
        kind=FEED,
        dates=["2026-11-30T10:00:00Z"],
    ),
    Situation("Atom without entries", atom(), [], kind=FEED),
    Situation(
        "Atom with links of all kinds",
        atom(link("x", "self") + link("y", "edit") + link("z", "enclosure") + link("a", "alternate") + link("b")),
        ["a"],
        kind=FEED,
    ),
    Situation(
        "Atom with a page inside",
        atom(
            link("a")
            + '<content type="xhtml"><div><link href="/x"/><a href="/y"/></div></content><author><uri>/z</uri></author>'
        ),
        ["a"],
        kind=FEED,
    ),
    Situation(
        "feeds with bare ampersands and entities of HTML",
        atom('<link href="/caf&eacute;?x=1&y=2"/>', link("z")),
        ["caf%C3%A9?x=1&y=2", "z"],
        says="1 times &",
        kind=FEED,
    ),
    Situation("a compressed feed", gzip.compress(b"\xef\xbb\xbf" + atom(link("a")).encode()), ["a"], kind=FEED),
    Situation(
        "Atom with an id only", atom("<id>https://garden.example/x</id>"), [], says="without an address", kind=FEED
    ),
    Situation(
        "Atom 0.3",
        atom(
            link("a", "alternate") + "<issued>2026-11-01</issued>",
            link("b", "alternate") + "<created>1</created><modified>2026-11-30</modified>",
            root='version="0.3" xmlns="http://purl.org/atom/ns#"',
        ),
        ["a", "b"],
        kind=FEED,
        dates=["2026-11-01", "2026-11-30"],
    ),
    Situation(
        "Atom under a prefix",
        atom(link("a")).replace("<", "<a:").replace("<a:?", "<?").replace("<a:/", "</a:"),
        ["a"],
        kind=FEED,
    ),
    Situation("a feed that is cut", rss("<link>/a</link>", "<link>/b</link>")[:-40], ["a"], False, "line 1", FEED),
    Situation(
        "JSON Feed",
        '{"version": "https://jsonfeed.org/version/1", "home_page_url": "/x", "feed_url": "/y", '
        '"items": [{"id": "1", "url": "/a", '
        '"external_url": "https://other.example/", "date_modified": "2026-11-30"}]}',
        ["a"],
        kind=FEED,
        dates=["2026-11-30"],
    ),
    Situation(
        "JSON Feed with broken letters",
        '{"items": [{"url": "/\\ud83d", "date_published": "\\ud83d"}, {"url": "/a"}]}',
        ["a"],
        says="cannot be read",
        kind=FEED,
    ),
    Situation("JSON that is cut", '{"items": [{"url": "/a"}', [], False, "not JSON", SitemapKind.UNKNOWN),
]
ALL = [*SITEMAPS, *EXTENSIONS, *BROKEN, *DANGEROUS, *INDEXES, *LISTS, *FEEDS]


def read(document: str | bytes, alternates: bool = False) -> tuple[SitemapKind, list[SitemapEntry], list[str], bool]:
    """All of a document."""
    entries: list[SitemapEntry] = []
    body = document.encode() if isinstance(document, str) else document
    content = read_sitemap(body, HERE, lambda batch, _: entries.extend(batch), alternates)
    return content.kind, entries, content.warnings, content.complete


@pytest.mark.parametrize("situation", ALL, ids=lambda situation: situation.name)
def test_a_situation(situation: Situation) -> None:
    kind, entries, warnings, complete = read(situation.document, situation.alternates)
    paths = [entry.url.removeprefix("https://garden.example/") for entry in entries]
    assert (kind, paths, complete) == (situation.kind, situation.paths, situation.complete), warnings
    assert (situation.says or "") in " ".join(warnings)
    assert bool(warnings) == (situation.says is not None), warnings
    if situation.dates:
        assert [entry.lastmod for entry in entries] == situation.dates


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.8", 0.8),
        ("1", 1.0),
        ("1.0", 1.0),
        ("0", 0.0),
        (" .5\n", 0.5),
        ("0,7", 0.7),
        ("1.1", None),
        ("-0.5", None),
        ("NaN", None),
        ("Infinity", None),
        ("1e-1", None),
        (".", None),
        ("high", None),
        ("", None),
        ("٠.٥", None),
        ("0." + "1" * 100, None),
    ],
)
def test_a_priority_is_a_number_from_0_to_1(written: str, meant: float | None) -> None:
    _, entries, _, complete = read(urlset(loc("a", f"<priority>{written}</priority>")))
    assert [entry.priority for entry in entries] == [meant]
    assert complete


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((word, word) for word in ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")),
        (" Weekly ", "weekly"),
        ("WEEKLY", "weekly"),
        ("when we feel like it", None),
        ("", None),
    ],
)
def test_a_changefreq_is_one_of_seven_words(written: str, meant: str | None) -> None:
    _, entries, _, _ = read(urlset(loc("a", f"<changefreq>{written}</changefreq>")))
    assert [entry.changefreq for entry in entries] == [meant]


@pytest.mark.parametrize(
    "lastmod",
    ["2026", "2026-11", "2026-11-30", "2026-11-30T10:15+01:00", "2026-11-30T10:15:30.45Z", "30.11.2026", "0000-00-00"],
)
def test_lastmod_is_kept_as_written(lastmod: str) -> None:
    _, entries, _, _ = read(urlset(loc("a", f"\n  <lastmod>{lastmod}</lastmod>")))
    assert [entry.lastmod for entry in entries] == [lastmod]
