"""Canonical URLs, URL patterns and scopes."""

from __future__ import annotations

import pickle
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.urls import (
    InvalidUrl,
    Pattern,
    Scope,
    canonical_url,
    host_of,
    location_url,
    origin_of,
)

TRACKING = ("utm_*", "PHPSESSID", "jsessionid")
URL_TAILS = st.text(alphabet=ascii_letters + digits + "/.;=&?%#:@*[]|\\ '\"é日\t\n\ud83d", max_size=60)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("HTTP://Site.Example:80/a", "http://site.example/a"),
        ("https://site.example:443", "https://site.example/"),
        ("https://site.example:8443/", "https://site.example:8443/"),
        ("http://site.example/a/../b/./c", "http://site.example/b/c"),
        ("http://site.example/a/%2e%2E/b", "http://site.example/b"),
        ("http://site.example/a#part", "http://site.example/a"),
        ("http://site.example/%c3%a9?q=%c3%a9", "http://site.example/%C3%A9?q=%C3%A9"),
        ("http://site.example/café x", "http://site.example/caf%C3%A9%20x"),
        ("http://site.example/日本", "http://site.example/%E6%97%A5%E6%9C%AC"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("  http://site.example/a\n", "http://site.example/a"),
        ("http://site.example\\a", "http://site.example/a"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://site.example/\ud83d", "http://site.example/%EF%BF%BD"),
        ("http://site.example/%zz", "http://site.example/%zz"),
    ],
)
def test_one_spelling_for_each_page(written: str, canonical: str) -> None:
    assert canonical_url(written) == canonical


@pytest.mark.parametrize(
    "url",
    [
        "http://site.example/x/",
        "http://site.example/x",
        "http://site.example/x?b=2&a=1&b=1",
        "http://site.example/X",
        "http://site.example/x%3Fy=1",
        "http://site.example/..%2F..%2Ftmp",
        "http://site.example/a%00b",
        "http://site.example/?",
        "http://site.example/p;jsessionid=E460A9?utm_source=a",
        "http://site.example/~a/[b]",
    ],
)
def test_what_may_be_another_page_stays_as_it_is(url: str) -> None:
    assert canonical_url(url) == url


@pytest.mark.parametrize(
    ("reference", "resolved"),
    [
        ("../up", "http://site.example/up"),
        ("//other.example/z", "http://other.example/z"),
        ("?q=1", "http://site.example/dir/page?q=1"),
        ("#part", "http://site.example/dir/page"),
        ("", "http://site.example/dir/page"),
        ("next", "http://site.example/dir/next"),
    ],
)
def test_references_are_resolved_against_the_base(reference: str, resolved: str) -> None:
    assert canonical_url(reference, "http://site.example/dir/page") == resolved


@pytest.mark.parametrize(
    "text", ["", "shop", "http://", "http://a b/", "ftp://site.example/", "file:///etc/hostname", "mailto:a@b.example"]
)
def test_what_cannot_be_crawled_is_refused_with_the_text_in_the_message(text: str) -> None:
    with pytest.raises(InvalidUrl) as refused:
        canonical_url(text)
    assert repr(text) in str(refused.value)


def test_an_error_names_the_page_the_link_was_found_on() -> None:
    with pytest.raises(InvalidUrl, match=r"found at 'https://site\.example/here'"):
        canonical_url("javascript:void(0)", "https://site.example/here")


@pytest.mark.parametrize(
    ("url", "stripped"),
    [
        ("http://s.example/p;jsessionid=E460A9.node_2?x=1", "http://s.example/p?x=1"),
        ("http://s.example/p;jsessionid=1/q;v=2", "http://s.example/p/q;v=2"),
        ("http://s.example/p;a=1;jsessionid=1;b=2", "http://s.example/p;a=1;b=2"),
        ("http://s.example/p?PHPSESSID=1", "http://s.example/p"),
        ("http://s.example/p?a=1&utm_source=x&b=2&utm_medium=y", "http://s.example/p?a=1&b=2"),
        ("http://s.example/p?%75tm_source=x&a", "http://s.example/p?a"),
        ("http://s.example/p?utm=1&xutm_source=2", "http://s.example/p?utm=1&xutm_source=2"),
        ("http://s.example/p?phpsessid=1", "http://s.example/p?phpsessid=1"),
        ("http://s.example/a/..;jsessionid=1/b", "http://s.example/b"),
        ("http://s.example/p?", "http://s.example/p?"),
    ],
)
def test_listed_parameters_are_removed_from_query_and_path(url: str, stripped: str) -> None:
    assert canonical_url(url, strip_params=TRACKING) == stripped


@given(URL_TAILS, st.sampled_from([(), TRACKING, ("*",), ("a*",)]))
def test_canonicalising_twice_changes_nothing(tail: str, strip_params: tuple[str, ...]) -> None:
    try:
        once = canonical_url("http://site.example/" + tail, strip_params=strip_params)
    except InvalidUrl:
        return
    assert canonical_url(once, strip_params=strip_params) == once
    assert "#" not in once
    assert once.isascii()


@given(URL_TAILS)
def test_a_path_never_changes_the_host(tail: str) -> None:
    url = canonical_url("http://site.example:8080/" + tail)
    assert host_of(url) == "site.example:8080"
    assert origin_of(url) == "http://site.example:8080"


def test_origin_and_host_leave_out_default_ports_and_credentials() -> None:
    assert origin_of("https://me:secret@Site.Example:443/x@y") == "https://site.example"
    assert host_of("http://[::1]:8765/a") == "[::1]:8765"
    with pytest.raises(InvalidUrl):
        origin_of("ftp://site.example/")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/product/*", "/product/1", True),
        ("/product/*", "/product/", True),
        ("/product/*", "/product/1/reviews", False),
        ("/product/*", "/shop/product/1", False),
        ("/product/**", "/product/1/reviews?page=2", True),
        ("/catalogue/*_*/index.html", "/catalogue/a-book_12/index.html", True),
        ("/catalogue/*_*/index.html", "/catalogue/index.html", False),
        ("/**/index.html", "/a/b/index.html", True),
        ("/**/index.html", "/index.html", True),
        ("/**/index.html", "/aindex.html", False),
        ("**.pdf", "/files/a.pdf", True),
        ("**.pdf", "/files/a.pdf?v=1", False),
        ("**?page=*", "/list?page=2", True),
        ("/list?page=*", "/listXpage=2", False),
        ("/a.b", "/aXb", False),
        ("/日本/*", "/%E6%97%A5%E6%9C%AC/1", True),
        ("/caf%c3%a9", "/caf%C3%A9", True),
        ("re:/item-[0-9]+$", "/a/item-12", True),
        ("re:/item-[0-9]+$", "/a/item-12b", False),
        (r"re:^https://site\.example/x", "/x", True),
    ],
)
def test_a_pattern_describes_path_and_query(pattern: str, path: str, matches: bool) -> None:
    assert Pattern.parse(pattern).matches("https://site.example" + path) is matches


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "starts with"),
        ("product/*", "starts with"),
        ("*.pdf", "starts with"),
        ("https://site.example/a", "scheme"),
        ("/a#b", "fragment"),
        ("re:", "needs a regular expression"),
        ("re:(", "not a regular expression"),
    ],
)
def test_a_pattern_that_cannot_work_is_refused_with_a_reason(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Pattern.parse(text)


def test_patterns_are_values() -> None:
    pattern = Pattern.parse("/a/**")
    assert pickle.loads(pickle.dumps(pattern)) == pattern
    assert {pattern, Pattern.parse("/a/**")} == {pattern}
    assert pickle.loads(pickle.dumps(pattern)).matches("http://site.example/a/b")


def test_a_scope_is_its_hosts_narrowed_by_patterns() -> None:
    scope = Scope(frozenset({"site.example"}), (Pattern.parse("/docs/**"),), (Pattern.parse("**.pdf"),))
    assert scope.contains("https://site.example/docs/a")
    assert scope.contains("http://site.example/docs/a")
    assert not scope.contains("https://site.example/blog/a")
    assert not scope.contains("https://site.example/docs/a.pdf")
    assert not scope.contains("https://site.example:8443/docs/a")
    assert not scope.contains("https://site.example.evil.example/docs/a")
    assert not scope.contains("no url")


def test_a_scope_without_patterns_is_all_of_its_hosts() -> None:
    assert Scope(frozenset({"site.example:8443"})).contains("https://site.example:8443/any?thing")


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        (b"/caf\xc3\xa9 x", "https://a.example/caf%C3%A9%20x"),
        (b"/caf\xe9", "https://a.example/caf%E9"),
        (b"?q=\xe9&x=\xc3\xa9", "https://a.example/x/y?q=%E9&x=%C3%A9"),
        (b"../up", "https://a.example/up"),
        (b"/t#frag", "https://a.example/t"),
        (b"#frag", "https://a.example/x/y"),
        (b"//other.example/z", "https://other.example/z"),
        (b"\\\\other.example\\z", "https://other.example/z"),
        (b"HTTP://A.Example:80/%c3%a9", "http://a.example/%C3%A9"),
        (b"http://h\xc3\xa9.example/", "http://xn--h-bga.example/"),
        (b" /a\tb ", "https://a.example/ab"),
        (b"/100%", "https://a.example/100%"),
    ],
)
def test_a_location_of_odd_bytes_leads_where_browsers_go(location: bytes, leads_to: str) -> None:
    assert location_url(location.decode("latin-1"), "https://a.example/x/y") == leads_to


@pytest.mark.parametrize(
    "location", ["file:///etc/hostname", "javascript:alert(1)", "data:,x", "//", "http://[::1", "mailto:a"]
)
def test_a_location_that_is_no_page_leads_nowhere(location: str) -> None:
    with pytest.raises(InvalidUrl):
        location_url(location, "https://a.example/x/y")


@given(st.text(st.characters(max_codepoint=255), max_size=50))
def test_the_bytes_of_a_location_give_a_canonical_url_or_none(location: str) -> None:
    try:
        url = location_url(location, "https://a.example/x/y")
    except InvalidUrl:
        return
    assert url.isascii()
    assert canonical_url(url) == url
