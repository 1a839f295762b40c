"""Addresses that are recognised as plain are those that the whole way of parsing would leave as they are."""

from __future__ import annotations

import re
from string import ascii_letters, digits

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incremental_crawl.semantics.plain_urls import marked, plain_on
from incremental_crawl.semantics.tracking_params import NAMES, SESSION_NAMES, without_tracking
from incremental_crawl.semantics.urls import Scope, canonical_url

HOSTS = (
    "shop.example",
    "shop.example:8443",
    "127.0.0.1:80",
    "[::1]:8080",
    "a.b-c.example:443",
    "xn--bcher-kva.example",
)
STRIPPED = ("utm_*", "Sid", "*id", "a.b", "x-*-y", "é*")
PLAIN = re.compile(plain_on(HOSTS) or "")
TRACKING = re.compile(marked((*NAMES, *SESSION_NAMES), ignore_case=True) or "")
OWN = re.compile(marked(STRIPPED, ignore_case=False) or "")
SCOPE = Scope(frozenset(HOSTS))

PARTS = st.sampled_from(
    [
        *(
            "/",
            "//",
            ".",
            "..",
            "%2e",
            "%2E",
            "%2f",
            "%2F",
            "%C3%A9",
            "%",
            "%4",
            "?",
            "&",
            "=",
            ";",
            "#",
            "@",
            ":",
            "\\",
        ),
        *("'", " ", "\t", "é", "+", "*", "(", ")", "(S(lit3py55t21z5v55vlm25s55))", "{", "|", "^", "[", "]", "~", "a"),
        *("B", "9", "index.html", "utm_source", "UTM_x", "Sid", "sid", "gclid", "x-1-y", "a.b", "jsessionid", "p=1"),
        *("0123456789abcdef" * 2, "%75tm_a"),
    ]
)
TAILS = st.lists(PARTS, max_size=10).map("".join) | st.text(ascii_letters + digits + "/.;=&?%#", max_size=40)
SCHEMES = st.sampled_from(["http://", "https://", "HTTP://", "ftp://", "//", ""])
AUTHORITIES = st.sampled_from(
    [
        *HOSTS,
        "Shop.Example",
        "u@shop.example",
        "shop.example.",
        "other.example",
        "shop.example:443",
        "shop.example:0443",
    ]
)
ADDRESSES = st.tuples(SCHEMES, AUTHORITIES, TAILS).map("".join)


@given(ADDRESSES)
@example("https://shop.example/")
@example("https://shop.example/?")
@example("https://shop.example/a/.b")
@example("https://shop.example/a%2E%2E/b")
@example("https://shop.example/a?b#")
@example("https://shop.example/a\n")
def test_a_plain_address_is_canonical_and_on_its_host(address: str) -> None:
    if PLAIN.search(address) is None or address.endswith("\n"):  # for RE2, which is to read it, $ is only the end
        return
    assert canonical_url(address, "https://other.example/x") == address
    assert SCOPE.contains(address)


@given(ADDRESSES)
@example("https://shop.example/p;jsessionid=1")
@example("https://shop.example/(S(lit3py55t21z5v55vlm25s55))/x")
@example("https://shop.example/?a=1&UTM_source=2")
@example("https://shop.example/?sid=0123456789abcdef0123456789abcdef")
def test_nothing_is_removed_from_a_plain_address_without_marks(address: str) -> None:
    if PLAIN.search(address) is None or address.endswith("\n"):
        return
    if TRACKING.search(address) is None:
        assert without_tracking(address) == address
    if OWN.search(address) is None:
        assert canonical_url(address, strip_params=STRIPPED) == address


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/a/b/c.html",
        "/category/12/product-7_x.html?ref=3&page=2",
        "/a//b/",
        "/%E6%97%A5?q=%E6%97%A5+x",
        "/a?",
        "/a?b&c=&=d",
        "/~me/a;b=c,d",
        "/a?url=https://x.example/?y=z",
    ],
)
@pytest.mark.parametrize("host", ["https://shop.example", "http://shop.example:8443", "http://[::1]:8080"])
def test_what_sites_usually_list_is_plain(host: str, target: str) -> None:
    assert PLAIN.search(host + target)


@pytest.mark.parametrize("host", ["127.0.0.1:80", "a.b-c.example:443", "Shop.Example", "1.2", "no host", ""])
def test_a_host_that_is_written_otherwise_in_a_canonical_url_is_never_recognised(host: str) -> None:
    assert plain_on([host]) is None


def test_without_names_there_are_no_marks() -> None:
    assert marked([], ignore_case=True) is None
