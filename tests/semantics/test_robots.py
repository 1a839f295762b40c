"""Rules of robots.txt."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.robots import PARSED_BYTES, RobotsRules, product_token

AGENT = "ExampleBot"
SITE = "https://site.example"


def allowed(body: bytes, path: str, agent: str = AGENT) -> bool:
    return RobotsRules.parse(body).allowed(SITE + path, agent)


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /",
        b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /",
        b"Sitemap: /s.xml\n\xef\xbb\xbfUser-agent: *\n\xef\xbb\xbfDisallow: /",
        "User-agent: *\nDisallow: /".encode("utf-16"),
        b"\xfe\xff" + "User-agent: *\r\nDisallow: /".encode("utf-16-be"),
        "User-agent: *\nDisallow: /".encode("utf-16-le"),
        b"User-agent: *\0\nDisallow: /\0",
    ],
    ids=["one", "two", "between joined files", "UTF-16", "UTF-16 BE", "UTF-16 without a mark", "NUL"],
)
def test_no_mark_and_no_padding_voids_a_line(body: bytes) -> None:
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
        b"User-agent: *\r\r\nDisallow: /x\r\r\n",
        b"\tuser-AGENT :\t*\t\n\tDISALLOW:/x\t",
        "User-agent:\u00a0*\nDisallow:\u00a0/x".encode(),
        b"User-agent *\nDisallow /x",
        b"User-agent: *\nContent-Signal: search=yes\nHost: site.example\nDisallow:\nDisallow: /x",
        b"User-agent: ExampleBot\n\nSitemap: /s.xml\nUser-agent: OtherBot\n\nDisallow: /x",
        b"User-agent: *\nDisallow: /a\n\nUser-agent: OtherBot\nAllow: /\n\nUser-agent: *\nDisallow: /x",
        b"Disallow: /y\nUser-agent: *\nDisallow: /x",
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


@pytest.mark.parametrize(
    ("written", "path", "means"),
    [
        ("/caf\u00e9", "/caf%C3%A9", True),
        ("/caf%c3%a9", "/caf%C3%A9", True),
        ("/%7Eann", "/~ann", True),
        ("/%62ar", "/bar", True),
        ("/a%2Fb", "/a/b", False),
        ("/X", "/x", False),
        ("x", "/x", False),
        ("*.pdf", "/a.pdf", True),
        ("/*?", "/a?b", True),
        ("/a$", "/ab", False),
        ("/a#b", "/ac", True),
        ("/a b", "/a%20b", True),
    ],
)
def test_a_rule_means_a_path_however_that_is_escaped(written: str, path: str, means: bool) -> None:
    assert allowed(f"User-agent: *\nDisallow: {written}".encode(), path) is not means


def test_a_rule_with_bytes_in_no_known_encoding_denies() -> None:
    assert not allowed(b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9")


@pytest.mark.parametrize(
    ("group", "is_ours"),
    [
        ("ExampleBot", True),
        ("EXAMPLEBOT", True),
        ("ExampleBot/2.0", True),
        ("ExampleBot (news)", True),
        ("ExampleBot; +https://bot.example", True),
        ("ExampleBot*", True),
        ("*ExampleBot", True),
        ("Example", False),
        ("ExampleBotNews", False),
        ("ExampleBot-News", False),
        ("Bot", False),
        ("Mozilla", False),
        ("https", False),
        ("Other, ExampleBot", False),
        ("", False),
    ],
)
@pytest.mark.parametrize(
    "agent", ["ExampleBot", "ExampleBot/1.0", "Mozilla/5.0 (compatible; ExampleBot/1.0; +https://bot.example)"]
)
def test_a_group_is_ours_by_the_whole_product_token(group: str, is_ours: bool, agent: str) -> None:
    rules = RobotsRules.parse(
        f"User-agent: {group}\nCrawl-delay: 7\nDisallow: /own\n\nUser-agent: *\nDisallow: /all".encode()
    )
    assert rules.allowed(f"{SITE}/own", agent) is not is_ours
    assert rules.allowed(f"{SITE}/all", agent) is is_ours
    assert rules.crawl_delay(agent) == (7.0 if is_ours else None)


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("incremental-crawl/0.1", "incremental-crawl"),
        ("MJ12bot/1 (x; +https://m.example/2)", "MJ12bot"),
        ("Shop Watcher", "Shop"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; OneBot/1.2) Chrome/1.2 Safari/537.36",
            "OneBot",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 TwoBot/3", "TwoBot"),
        ("mozilla", "mozilla"),
        ("(+https://m.example)", "https"),
        ("???", ""),
    ],
)
def test_the_product_token_of_a_user_agent(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


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
        ("60.001", 60.0),
        (".5 # half", 0.5),
        ("0", 0.0),
        ("5s", None),
        ("1,5", None),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds_up_to_a_minute(value: str, seconds: float | None) -> None:
    rules = RobotsRules.parse(f"User-agent: *\nCrawl-delay: {value}\nDisallow: /x".encode())
    assert rules.crawl_delay(AGENT) == seconds


def test_a_crawl_delay_belongs_to_its_group() -> None:
    rules = RobotsRules.parse(b"User-agent: other\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /x")
    assert rules.crawl_delay(AGENT) is None
    assert rules.crawl_delay("Other/2") == 9.0


def test_what_is_not_kept_to_the_letter_is_told() -> None:
    body = b"User-agent: *\nCrawl-delay: 60\n\nUser-agent: OtherBot\nCrawl-delay: 86400"
    assert RobotsRules.parse(body).not_heeded(AGENT) == []
    assert RobotsRules.parse(body).not_heeded("OtherBot/2") == ["asks for a Crawl-delay of 86400 s: 60 s are kept"]
    [told] = RobotsRules.parse(body, complete=False).not_heeded(AGENT)
    assert told == "longer than 512000 bytes: the rules at its end do not count"


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
