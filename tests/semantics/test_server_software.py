"""What headers are taken to say of a server: known names or nothing, and never a word of theirs."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.answers import Ask, Headers, NotModified, Purpose, Redirected, Response, Timing
from incremental_crawl.semantics.server_software import (
    NOTHING_SAID,
    Cache,
    HostSigns,
    Sign,
    Software,
    cache_of,
    server_of,
    signs,
)
from incremental_crawl.semantics.server_ways import CACHE_WAYS, WAYS, told_of
from incremental_crawl.semantics.trust_verdict import host_verdict

DATE = "Mon, 05 Jan 2026 10:00:00 GMT"
ASK = Ask("http://shop.example/", Purpose.SWEEP, etag='"1"', last_modified=DATE)
TIMING = Timing(datetime(2026, 5, 1, tzinfo=UTC))


def ok(*headers: tuple[str, str], status: int = 200) -> Response:
    return Response(status, headers, b"page", TIMING)


def server(*headers: tuple[str, str]) -> Software | None:
    told = signs(ASK, ok(*headers))
    assert told is not None
    return told.server


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("nginx", Software.NGINX),
        ("nginx/1.22.1 (Ubuntu)", Software.NGINX),
        ("openresty/1.25.3.1", Software.OPENRESTY),
        ("Tengine", Software.TENGINE),
        ("Angie/1.7.0", Software.ANGIE),
        ("Apache", Software.APACHE),
        ("Apache/2.4.71 (Debian) OpenSSL/3.0.15", Software.APACHE),
        ("lighttpd/1.4.69", Software.LIGHTTPD),
        ("Caddy", Software.CADDY),
        ("h2o/2.2.5", Software.H2O),
        ("SimpleHTTP/0.6 Python/3.11.2", Software.SIMPLE_HTTP),
        ("Python/3.11 aiohttp/3.9.5", Software.AIOHTTP),
        ("uvicorn", Software.UVICORN),
        ("Werkzeug/3.0.1 Python/3.11.2", Software.WERKZEUG),
        ("  NGINX  ", Software.NGINX),
        ("Apache-Coyote/1.1", Software.OTHER),
        ("own (nginx/1.2)", Software.OTHER),
        ("own (nginx", Software.OTHER),
        ("nginxer/1 not-nginx", Software.OTHER),
        ("express", Software.OTHER),
        ("cloudflare", Software.OTHER),
        ("", None),
    ],
)
def test_a_server_header_names_a_known_product_or_another_one(value: str, known: Software | None) -> None:
    assert server(("server", value)) is known


@pytest.mark.parametrize(
    ("headers", "known"),
    [
        ((("etag", 'W/"1234-1700000000123"'),), Software.SIRV),
        ((("etag", 'W/"77-1234-2026-01-05T10:00:00.250Z"'),), Software.HTTP_SERVER),
        ((("etag", '"77-1234-"2026-01-05T10:00:00.250Z""'),), Software.HTTP_SERVER),
        ((("etag", f'"{"0af1" * 10}"'), ("content-disposition", 'inline; filename="a.html"')), Software.SERVE),
        ((("etag", f'"{"0af1" * 10}"'),), None),
        ((("etag", 'W/"4d2-19bcd"'),), None),
        ((("x-powered-by", "Express"),), Software.EXPRESS),
        ((("x-powered-by", "PHP/8.2"),), None),
    ],
)
def test_who_says_no_name_is_known_by_its_tags_or_by_x_powered_by(headers: Headers, known: Software | None) -> None:
    assert server(*headers) is known
    proxied = server(("server", "nginx"), *headers)
    assert proxied is (known or Software.NGINX), "the maker of the page answers conditions, not the proxy before it"


@pytest.mark.parametrize(
    ("headers", "known"),
    [
        ((("via", "1.1 varnish (Varnish/7.1)"),), Cache.VARNISH),
        ((("via", "1.1 front.example (squid/5.7)"), ("age", "0")), Cache.SQUID),
        ((("via", "1.0 fred"), ("via", "1.1 varnish")), Cache.VARNISH),
        ((("via", "1.1 squid.example"),), None),
        ((("via", "2 edge"), ("age", "17")), Cache.UNNAMED),
        ((("age", "0"),), None),
        ((("age", "-3"),), None),
        ((("age", "³"),), None),
        ((), None),
    ],
)
def test_via_names_a_cache_and_an_age_shows_one(headers: Headers, known: Cache | None) -> None:
    assert cache_of(headers) is known


def test_a_304_without_what_was_sent_is_a_sign() -> None:
    def seen(ask: Ask, *headers: tuple[str, str]) -> frozenset[Sign]:
        told = signs(ask, NotModified(headers, TIMING))
        assert told is not None
        return told.seen

    assert seen(ASK) == {Sign.NO_TAG_IN_304, Sign.NO_DATE_IN_304}
    assert seen(ASK, ("etag", '"1"'), ("last-modified", DATE)) == set()
    assert seen(Ask(ASK.url, Purpose.SWEEP, etag='"1"')) == {Sign.NO_TAG_IN_304}


def test_a_304_without_a_tag_confirms_the_tag_that_was_sent() -> None:
    told = signs(Ask(ASK.url, Purpose.SWEEP, etag='W/"1234-1700000000123"'), NotModified((), TIMING))
    assert told == HostSigns(Software.SIRV, None, frozenset({Sign.NO_TAG_IN_304}))


def test_a_strong_tag_with_a_coding_is_a_sign_where_nginx_would_have_made_it_weak() -> None:
    coded = (("etag", '"1"'), ("content-encoding", "gzip"))
    for name, software, seen in (
        ("nginx", Software.NGINX, {Sign.SIBLING}),
        ("openresty", Software.OPENRESTY, {Sign.SIBLING}),
        ("Apache", Software.APACHE, set()),
    ):
        assert signs(ASK, ok(("server", name), *coded)) == HostSigns(software, None, frozenset(seen))
    weak = signs(ASK, ok(("server", "nginx"), ("etag", 'W/"1"'), ("content-encoding", "gzip")))
    plain = signs(ASK, ok(("server", "nginx"), ("etag", '"1"')))
    assert weak == plain == HostSigns(Software.NGINX)


def test_errors_and_redirects_say_nothing() -> None:
    named = (("server", "nginx"),)
    assert signs(ASK, ok(*named, status=502)) is None
    assert signs(ASK, Redirected(301, named, "/", TIMING)) is None


def test_what_is_known_stays_until_another_name_comes() -> None:
    known = HostSigns(Software.NGINX, Cache.VARNISH, frozenset({Sign.SIBLING}))
    assert known.after(NOTHING_SAID) == known
    assert known.after(HostSigns(Software.APACHE)).server is Software.APACHE
    assert known.after(HostSigns(Software.OTHER)).server is Software.OTHER
    assert known.after(HostSigns(cache=Cache.UNNAMED)).cache is Cache.VARNISH
    assert HostSigns(cache=Cache.UNNAMED).after(known).cache is Cache.VARNISH
    assert known.after(HostSigns(seen=frozenset({Sign.NO_TAG_IN_304}))).seen == {Sign.SIBLING, Sign.NO_TAG_IN_304}


def test_every_name_has_its_ways_and_every_way_what_is_done_about_it() -> None:
    assert set(WAYS) == set(Software) - {Software.OTHER}
    assert set(CACHE_WAYS) == set(Cache)
    for way in (way for ways in (*WAYS.values(), *CACHE_WAYS.values()) for way in ways):
        assert way.count("(") == 1
        assert "), so " in way or "), which " in way


def test_one_sentence_for_the_server_and_one_for_the_cache() -> None:
    assert told_of(HostSigns(Software.OTHER)) == told_of(NOTHING_SAID) == []
    (told,) = told_of(HostSigns(Software.NGINX))
    assert told.startswith("its Server header says nginx: wants tag and date both")
    assert len(told_of(HostSigns(Software.NGINX, Cache.VARNISH))) == 2
    assert host_verdict([], HostSigns(Software.OTHER)) == host_verdict([])


NAMES = ("server", "via", "x-powered-by", "age", "etag", "last-modified", "content-disposition", "content-encoding")
LATIN = st.text(st.characters(max_codepoint=255))
FOREIGN = "zqj"
PRODUCTS = st.sampled_from(
    ["nginx/", "Apache ", "1.1 varnish (", "1.1 x (squid/", "Express", "h2o/", 'W/"1-2', "inline; "]
)
VALUES = (
    LATIN
    | st.tuples(PRODUCTS, LATIN).map(lambda own: f"{own[0]}{FOREIGN}{own[1]}")
    | st.tuples(LATIN, PRODUCTS).map(lambda own: f"{FOREIGN}{own[0]} {own[1]}{FOREIGN}")
)
SENTENCES = {
    sentence
    for software, cache, tag, date, sibling in product(
        (None, *Software), (None, *Cache), (True, False), (True, False), (True, False)
    )
    for sentence in told_of(
        HostSigns(
            software,
            cache,
            frozenset(
                sign
                for sign, given_ in ((Sign.NO_TAG_IN_304, tag), (Sign.NO_DATE_IN_304, date), (Sign.SIBLING, sibling))
                if given_
            ),
        )
    )
}


@given(st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=6), st.booleans())
def test_any_header_bytes_give_known_sentences_or_none(headers: list[tuple[str, str]], confirmed: bool) -> None:
    answer = NotModified(tuple(headers), TIMING) if confirmed else ok(*headers)
    told = signs(ASK, answer)
    assert told is not None
    assert set(told_of(told)) <= SENTENCES
    assert FOREIGN not in host_verdict([], told)


@given(LATIN)
def test_no_value_is_too_strange(value: str) -> None:
    every = tuple((name, value) for name in NAMES)
    assert server_of(every, value) in (None, *Software)
    assert cache_of(every) in (None, *Cache)
