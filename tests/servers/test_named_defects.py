"""Every known defect of servers has a name, and a host's verdict says it: from evidence, or from what the server says.

Servers that are not installed here are stood in for by an origin that sends their headers.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import HeaderLines, Reply, Request
from incremental_crawl.semantics.server_software import NOTHING_SAID, Cache, HostSigns, Sign, Software
from incremental_crawl.semantics.server_ways import CACHE_WAYS, WAYS, told_of
from incremental_crawl.semantics.trust import Ledger, Signature, TrustMode
from incremental_crawl.semantics.trust_verdict import host_verdict
from tests.crawl.pages_origin import HTML, Answer, PagesOrigin, Scene, html
from tests.markdown import names, section, tables
from tests.servers.crawled import named

BLANK = Ledger("shop.example", "/")
SUFFIXED = Ledger("shop.example", "/", TrustMode.SUFFIX_LIST, Signature.SUFFIX, same_record=10)
LISTLESS = Ledger("shop.example", "/", TrustMode.DATE_ONLY, Signature.SUFFIX, same_record=10)
FLIPPED = Ledger("shop.example", "/", not_modified=10, flips=10)
BARE = Ledger("shop.example", "/", bodies=10, bare=10)
HEADLESS = Ledger("shop.example", "/", head_disagreed=1)
TAGLESS_304 = HostSigns(seen=frozenset({Sign.NO_TAG_IN_304}))
DATELESS_304 = HostSigns(seen=frozenset({Sign.NO_DATE_IN_304}))
SIBLING = HostSigns(seen=frozenset({Sign.SIBLING}))


@dataclass(frozen=True)
class Defect:
    """A defect by its number and name, the word for it in verdicts, and what makes a verdict say it."""

    number: int
    name: str
    word: str
    shown_by: tuple[Ledger | HostSigns, ...] = ()
    said_by: tuple[Software | Cache, ...] = ()


NGINX, APACHE, LIGHTTPD, CADDY = Software.NGINX, Software.APACHE, Software.LIGHTTPD, Software.CADDY
H2O, SERVE, SIRV, HTTP_SERVER = Software.H2O, Software.SERVE, Software.SIRV, Software.HTTP_SERVER
EXPRESS, UVICORN, WERKZEUG = Software.EXPRESS, Software.UVICORN, Software.WERKZEUG

DEFECTS = (
    Defect(1, "APACHE-SUFFIX", "SUFFIX", (SUFFIXED, LISTLESS), (APACHE,)),
    Defect(2, "APACHE/NGINX/HTTP-SERVER-AND", "AND", (), (APACHE, NGINX, HTTP_SERVER)),
    Defect(3, "NGINX-WEAK-FLIP", "FLIP", (FLIPPED,)),
    Defect(4, "VARNISH-FLIP", "FLIP", (FLIPPED,), (Cache.VARNISH,)),
    Defect(5, "NGINX-EXACT", "EXACT", (), (NGINX,)),
    Defect(6, "NGINX-2LINES", "2LINES", (), (NGINX,)),
    Defect(7, "NGINX-FILTERED", "FILTERED", (BARE,)),
    Defect(8, "LIGHTTPD-HEAD", "HEAD", (HEADLESS,), (LIGHTTPD,)),
    Defect(8, "LIGHTTPD-LIST", "LIST", (), (LIGHTTPD,)),
    Defect(9, "LIGHTTPD-STAT", "STAT", (), (LIGHTTPD,)),
    Defect(10, "CADDY-HEAD", "HEAD", (HEADLESS,), (CADDY,)),
    Defect(10, "one strong tag for all codings", "ONE-TAG", (), (CADDY, H2O, SERVE, UVICORN, APACHE)),
    Defect(11, "H2O/SERVE/SIRV/HTTP-SERVER/VARNISH-NOLIST", "NOLIST", (LISTLESS,), (H2O, SERVE, SIRV, HTTP_SERVER)),
    Defect(11, "H2O/SERVE/SIRV/HTTP-SERVER/VARNISH-NOLIST", "NOLIST", (), (Cache.VARNISH,)),
    Defect(11, "no weak comparison", "STRONG", (), (H2O, SERVE, SIRV)),
    Defect(11, "If-Modified-Since ignored", "NODATE", (), (SIRV,)),
    Defect(12, "SQUID-304", "304", (TAGLESS_304,), (Cache.SQUID,)),
    Defect(12, "SIRV-304", "304", (TAGLESS_304,), (SIRV,)),
    Defect(12, "no Last-Modified in a 304", "304", (DATELESS_304,), (WERKZEUG,)),
    Defect(13, "HTTP.SERVER", "NOTAG", (), (Software.SIMPLE_HTTP,)),
    Defect(13, "AIOHTTP", "ROUND", (), (Software.AIOHTTP,)),
    Defect(14, "SERVE", "SERVE", (), (SERVE,)),
    Defect(
        15, "HEAD and GET disagree under gzip", "HEAD", (HEADLESS,), (LIGHTTPD, CADDY, H2O, SERVE, EXPRESS, UVICORN)
    ),
    Defect(16, "SQUID", "CACHE", (HostSigns(cache=Cache.UNNAMED),), (Cache.SQUID, Cache.VARNISH)),
    Defect(17, "precompressed siblings", "SIBLING", (SIBLING,), (CADDY, SIRV, HTTP_SERVER)),
)
DOCS = Path(__file__).parents[2] / "docs" / "servers.md"


def test_none_of_the_seventeen_is_left_out() -> None:
    assert sorted({defect.number for defect in DEFECTS}) == list(range(1, 18))
    assert all(defect.shown_by or defect.said_by for defect in DEFECTS)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: f"{defect.number}-{defect.word}")
def test_the_verdict_names_it(defect: Defect) -> None:
    for shown in defect.shown_by:
        told = host_verdict([shown]) if isinstance(shown, Ledger) else host_verdict([BLANK], shown)
        assert defect.word in named(told)
    for said in defect.said_by:
        signs = HostSigns(said) if isinstance(said, Software) else HostSigns(cache=said)
        told = host_verdict([BLANK], signs)
        assert str(said) in told
        assert defect.word in named(told)
    assert named(host_verdict([BLANK], NOTHING_SAID)) == set(), "a host of which nothing is known has no defect"


def test_the_docs_have_every_defect_with_its_word_and_no_others() -> None:
    rows = tables(section(DOCS, "Named defects"))["word"]
    told = {(int(number), names(word)[0]) for word, number, *_ in rows}
    assert told == {(defect.number, defect.word) for defect in DEFECTS}


def test_no_verdict_has_a_word_that_is_not_a_named_defect() -> None:
    said = [HostSigns(own) for own in WAYS] + [HostSigns(cache=own) for own in CACHE_WAYS]
    words = {word for signs in said for word in named("".join(told_of(signs)))}
    assert words <= {defect.word for defect in DEFECTS}


STANDINS: dict[str, tuple[HeaderLines, set[str]]] = {
    "Caddy": ((("Server", "Caddy"), ("ETag", '"t1"')), {"HEAD", "ONE-TAG", "SIBLING"}),
    "h2o": ((("Server", "h2o/2.2.5"), ("ETag", '"t1"')), {"NOLIST", "STRONG", "ONE-TAG", "HEAD"}),
    "Werkzeug": ((("Server", "Werkzeug/3.0.1 Python/3.11.2"), ("ETag", '"t1"')), {"304"}),
    "Express": ((("X-Powered-By", "Express"), ("ETag", 'W/"4d2-19b8"')), {"HEAD"}),
    "sirv": ((("ETag", 'W/"1234-1700000000123"'),), {"NODATE", "NOLIST", "STRONG", "304", "SIBLING"}),
    "http-server": ((("ETag", 'W/"77-1234-2026-01-05T10:00:00.250Z"'),), {"AND", "NOLIST", "SIBLING"}),
    "serve": (
        (("ETag", f'"{"0af1" * 10}"'), ("Content-Disposition", 'inline; filename="index.html"')),
        {"SERVE", "NOLIST", "STRONG", "ONE-TAG", "HEAD"},
    ),
    "Squid": (
        (("Server", "Apache/2.4.71 (Debian)"), ("ETag", '"t1"'), ("Via", "1.1 front (squid/5.7)"), ("Age", "40")),
        {"CACHE", "304", "AND", "SUFFIX", "ONE-TAG"},
    ),
    "a cache": ((("Server", "zqj/1.0 (nginx) <b>zqj</b>"), ("ETag", '"t1"'), ("Age", "40")), {"CACHE"}),
}
"""Servers that are not installed here: the headers of their answers, and the words that their verdicts have to have."""
NO_TAG_IN_304 = {"sirv", "Squid"}


def standin(name: str) -> Answer:
    """A page that answers as this server does."""
    lines = STANDINS[name][0]
    own = dict(lines)["ETag"]

    def answered(request: Request) -> Reply:
        if request.headers.get("if-none-match") == own:
            return Reply(304, tuple(line for line in lines if line[0] != "ETag" or name not in NO_TAG_IN_304))
        return Reply(200, (HTML, *lines), html(name))

    return answered


def test_servers_that_are_not_installed_here_are_known_by_their_headers(tmp_path: Path) -> None:
    with ExitStack() as running:
        origins = {name: running.enter_context(PagesOrigin({"/": standin(name)})) for name in STANDINS}
        starts = [origin.base_url + "/" for origin in origins.values()]
        scene = Scene(tmp_path, origins["Caddy"], start_urls=starts, sitemaps="none")
        scene.visit()
        scene.visit()
        verdicts = dict(scene.site.query("SELECT host, verdict FROM {hosts}"))
    for name, origin in origins.items():
        told = verdicts[origin.base_url.removeprefix("http://")]
        assert "honoured: 1 of 1" in told
        assert named(told) == STANDINS[name][1], name
        assert ("304s came without ETag" in told) == (name in NO_TAG_IN_304)
        assert f"says {name}" in told or f"those of {name}" in told or f"{name} answered" in told
        assert "zqj" not in told, "no word of a header's"
