"""Rules of robots.txt."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.robots import PARSED_BYTES, RobotsRules

AGENT = "ExampleBot"
SITE = "https://site.example"


def allowed(body: bytes, path: str, agent: str = AGENT) -> bool:
    return RobotsRules.parse(body).allowed(SITE + path, agent)


@pytest.mark.parametrize(
    "body", [b"\xef\xbb\xbfUser-agent: *\nDisallow: /", b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /"]
)
def test_a_byte_order_mark_does_not_void_the_first_line(body: bytes) -> None:
    assert not allowed(body, "/anything")


def test_groups_of_one_agent_in_any_letter_case_are_merged() -> None:
    body = b"User-agent: ExampleBot\nDisallow: /a\n\nUser-agent: examplebot\nDisallow: /b\n\nUser-agent: *\nDisallow: /"
    assert not allowed(body, "/a")
    assert not allowed(body, "/b")
    assert allowed(body, "/c")
    assert not allowed(body, "/c", "OtherBot")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: OtherBot\nUser-agent: ExampleBot\nDisallow: /x",
        b"User-agent: *\n\nDisallow: /x",
        b"User-agent: *\nSitemap: https://site.example/s.xml\nCrawl-delay: 5\nDisallow: /x",
        b"User-agent: *\rDisallow: /x\r",
        b"User-agent: * # all\nDisallow: /x # not this",
        b"User-agent: *\r\nDisallow: /x\r\n",
    ],
)
def test_every_way_to_write_one_rule_denies(body: bytes) -> None:
    assert not allowed(body, "/x")
    assert allowed(body, "/y")


def test_the_longest_rule_wins_and_wildcards_work() -> None:
    body = b"User-agent: *\nDisallow: /shop\nAllow: /shop/books\nDisallow: /*.pdf$"
    assert not allowed(body, "/shop/cart")
    assert allowed(body, "/shop/books/1")
    assert not allowed(body, "/a/b.pdf")
    assert allowed(body, "/a/b.pdf?x=1")


def test_the_product_token_is_found_in_a_whole_user_agent_field() -> None:
    body = b"User-agent: ExampleBot\nDisallow: /x"
    assert not allowed(body, "/x", "Mozilla/5.0 (compatible; ExampleBot/1.0; +https://bot.example)")


def test_a_comment_holds_no_rule_whatever_white_space_is_in_it() -> None:
    body = "User-agent: *\n# note\u2028Disallow: /a\x0bDisallow: /b\x85Disallow: /c".encode()
    assert all(allowed(body, path) for path in ("/a", "/b", "/c"))


def test_a_long_file_counts_up_to_the_limit_and_a_line_that_is_cut_is_no_rule() -> None:
    lines = [b"User-agent: *"] + [b"Disallow: /p%06d" % number for number in range(40_000)]
    rules = RobotsRules.parse(b"\n".join(lines))
    assert rules.truncated
    assert not rules.allowed(f"{SITE}/p000001", AGENT)
    assert rules.allowed(f"{SITE}/other", AGENT)
    assert rules.allowed(f"{SITE}/p039999", AGENT)


@given(st.integers(min_value=0, max_value=40))
def test_wherever_the_cut_falls_no_rule_is_widened(shift: int) -> None:
    head = b"User-agent: *\nDisallow: /private/\n"
    rule = b"Disallow: /only/this/page.html\n"
    body = head + b"#" * (PARSED_BYTES - len(head) - shift - 1) + b"\n" + rule * 3
    rules = RobotsRules.parse(body)
    assert rules.allowed(f"{SITE}/only/", AGENT)
    assert rules.allowed(f"{SITE}/only/this/page.html", AGENT) is (shift < len(rule.rstrip()))
    assert not rules.allowed(f"{SITE}/private/a", AGENT)


def test_a_body_that_was_cut_while_it_was_received_loses_its_last_line() -> None:
    body = b"User-agent: *\nDisallow: /a\nDisallow: /"
    assert RobotsRules.parse(body, complete=False).allowed(f"{SITE}/b", AGENT)
    assert not RobotsRules.parse(body, complete=False).allowed(f"{SITE}/a", AGENT)
    assert RobotsRules.parse(body, complete=False).truncated
    assert not RobotsRules.parse(body).allowed(f"{SITE}/b", AGENT)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10.0),
        ("0.2", 0.2),
        ("301", 60.0),
        ("86400", 60.0),
        ("1e9", 60.0),
        ("-1", None),
        ("abc", None),
        ("nan", None),
        ("inf", None),
        ("", None),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds_up_to_a_minute(value: str, seconds: float | None) -> None:
    rules = RobotsRules.parse(f"User-agent: *\nCrawl-delay: {value}\nDisallow: /x".encode())
    assert rules.crawl_delay(AGENT) == seconds


def test_a_crawl_delay_belongs_to_its_group() -> None:
    rules = RobotsRules.parse(b"User-agent: other\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /x")
    assert rules.crawl_delay(AGENT) is None
    assert rules.crawl_delay("Other/2") == 9.0


def test_sitemaps_are_listed_once_in_order_and_as_written() -> None:
    body = b"Sitemap: https://site.example/b.xml\nsitemap:/a.xml\nUser-agent: *\nSitemap: https://site.example/b.xml"
    assert RobotsRules.parse(body).sitemaps == ("https://site.example/b.xml", "/a.xml")


def test_no_file_allows_all() -> None:
    rules = RobotsRules.allow_all()
    assert rules.allowed(f"{SITE}/", AGENT)
    assert rules.crawl_delay(AGENT) is None
    assert rules.sitemaps == ()
    assert not rules.truncated


def test_rules_travel_between_processes() -> None:
    rules = pickle.loads(pickle.dumps(RobotsRules.parse(b"User-agent: *\nDisallow: /x")))
    assert not rules.allowed(f"{SITE}/x", AGENT)


@given(st.binary(max_size=300))
def test_any_bytes_are_rules_of_some_kind(body: bytes) -> None:
    rules = RobotsRules.parse(body)
    assert rules.allowed(f"{SITE}/robots.txt", AGENT)
    assert isinstance(rules.sitemaps, tuple)
