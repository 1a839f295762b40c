"""Cookies live for one fetch, by the rules of RFC 6265, at a time that is handed in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.cookies import FetchCookies, cookie_names, joined

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
PAGE = "https://shop.example/a/page"


def sent_to(url: str, *lines: str, later: timedelta = timedelta(0), source: str = PAGE) -> str | None:
    """What a request to `url` carries after an answer from `source` set `lines`."""
    cookies = FetchCookies()
    cookies.take(source, tuple(("set-cookie", line) for line in lines), NOW)
    return cookies.header(url, NOW + later)


def test_a_cookie_comes_back_to_where_it_was_set() -> None:
    assert sent_to(PAGE, "seen=1; Path=/") == "seen=1"
    assert sent_to(PAGE, "seen=1", "b=2") in ("seen=1; b=2", "b=2; seen=1")
    assert FetchCookies().header(PAGE, NOW) is None


@pytest.mark.parametrize(
    ("line", "url", "comes"),
    [
        ("a=1; Path=/", "https://shop.example/other", True),
        ("a=1", "https://shop.example/other", False),
        ("a=1; Path=/b", "https://shop.example/b/c", True),
        ("a=1; Path=/b", "https://shop.example/bc", False),
        ("a=1; Path=/; Secure", "http://shop.example/a", False),
        ("a=1; Path=/; Secure", "https://shop.example/a", True),
        ("a=1; Path=/", "https://www.shop.example/a", False),
        ("a=1; Path=/; Domain=shop.example", "https://www.shop.example/a", True),
        ("a=1; Path=/; Domain=other.example", "https://other.example/a", False),
        ("a=1; Path=/; Domain=example", "https://other.example/a", False),
    ],
)
def test_domain_path_and_secure_are_heeded(line: str, url: str, comes: bool) -> None:
    assert sent_to(url, line) == ("a=1" if comes else None)


@pytest.mark.parametrize(
    ("attribute", "later", "comes"),
    [
        ("Max-Age=60", 59, True),
        ("Max-Age=60", 61, False),
        ("Max-Age=0", 0, False),
        ("Expires=Thu, 01 May 2031 12:01:00 GMT", 30, True),
        ("Expires=Thu, 01 May 2031 12:01:00 GMT", 90, False),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0, False),
        ("Max-Age=" + "9" * 5000, 0, False),
    ],
)
def test_the_moment_that_is_handed_in_decides_about_expiry(attribute: str, later: int, comes: bool) -> None:
    line = f"a=1; Path=/; {attribute}"
    assert sent_to(PAGE, line, later=timedelta(seconds=later)) == ("a=1" if comes else None)


def test_a_later_answer_replaces_and_takes_back() -> None:
    cookies = FetchCookies()
    cookies.take(PAGE, (("set-cookie", "a=1; Path=/"),), NOW)
    cookies.take(PAGE, (("set-cookie", "a=2; Path=/"),), NOW)
    assert cookies.header(PAGE, NOW) == "a=2"
    cookies.take(PAGE, (("set-cookie", "a=; Path=/; Max-Age=0"),), NOW)
    assert cookies.header(PAGE, NOW) is None


def test_what_could_break_a_request_is_not_kept() -> None:
    assert sent_to(PAGE, "a=1\x00; Path=/", "b=" + "x" * 5000, "", "=", ";;;") is None
    many = [f"c{number}={number}; Path=/" for number in range(200)]
    assert len(cookie_names(sent_to(PAGE, *many))) == 50


def test_values_are_kept_byte_for_byte() -> None:
    assert sent_to(PAGE, 'a="q\xe9 =, x"; Path=/') == 'a="q\xe9 =, x"'


def test_a_standing_cookie_and_those_of_the_fetch_make_one_line() -> None:
    assert joined(None, None) is None
    assert joined("login=x; lang=de", None) == "login=x; lang=de"
    assert joined(None, "seen=1") == "seen=1"
    assert joined("login=x; lang=de", "lang=en; seen=1") == "login=x; lang=en; seen=1"
    assert cookie_names("b=1; a=2;; b=3") == ("a", "b")
    assert cookie_names(None) == ()


@given(st.lists(st.text(st.characters(max_codepoint=255), max_size=80), max_size=6))
def test_no_line_a_server_may_send_does_harm(lines: list[str]) -> None:
    sent = sent_to(PAGE, *lines)
    assert sent is None or not set(sent) & set("\r\n\0")


PARTS = ["a=1", "a", "path=/", "Path", "domain=.", "domain=example", "expires=x", "max-age=-1", "=", "secure"]


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=5).map("; ".join), max_size=4))
def test_no_mixture_of_attributes_does_harm(lines: list[str]) -> None:
    sent_to(PAGE, *lines)
