"""A sign has to be precise: what hides a real page is worse than what lets a wall through once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.extraction.glance import glance, glance_at
from incremental_crawl.semantics.block_signs import (
    BlockKind,
    BlockSign,
    address_sign,
    has_lost_most,
    header_sign,
    hints_at_markup,
    markup_sign,
    text_sign,
)
from incremental_crawl.semantics.host_rest import BLOCKS_BEFORE_REST, HostBlocks

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CHALLENGE = BlockSign(BlockKind.CHALLENGE, "a challenge")
STATUS = BlockSign(BlockKind.REFUSED, "status 403")


@pytest.mark.parametrize(
    ("line", "known"),
    [
        (("cf-mitigated", "challenge"), True),
        (("x-amzn-waf-action", "captcha"), True),
        (("x-vercel-mitigated", "deny"), True),
        (("sg-captcha", "challenge"), True),
        (("server", "cloudflare"), False),
        (("x-datadome", "protected"), False),
        (("cf-cache-status", "HIT"), False),
        (("x-amzn-waf-action", "count"), False),
    ],
)
def test_headers_that_only_a_wall_sends(line: tuple[str, str], known: bool) -> None:
    assert (header_sign((line,)) is not None) is known


WALLS = {
    "cloudflare": "<title>Just a moment...</title><script>(function(){window._cf_chl_opt={cvId:'3'};}());</script>",
    "cloudflare form": '<form class="x" id="challenge-form" action="/?__cf_chl_f_tk=1" method="POST"></form>',
    "datadome": "<p id=cmsg>Please enable JS</p><script src='https://ct.captcha-delivery.com/c.js'></script>",
    "perimeterx": '<h1>Press &amp; Hold</h1><div id="px-captcha"></div>',
    "imperva": '<iframe src="/_Incapsula_Resource?SWUDNSAI=31&amp;xinfo=1">Request unsuccessful.</iframe>',
    "aws": "<script>window.gokuProps = {'key':'a'};</script><div id=captcha-container></div>",
    "akamai": '<div id="sec-if-cpt-container"></div><script src="/_sec/cp_challenge/ak-challenge-4-4.js"></script>',
    "anubis": '<script id="anubis_challenge" type="application/json">{}</script><p>Making sure you\'re not a bot!',
    "sucuri": "<script>var sucuri_cloudproxy_js='',S='cz0';</script>",
    "ddos-guard": "<script src='/.well-known/ddos-guard/js-challenge/index.js'></script>",
}


@pytest.mark.parametrize("wall", WALLS)
def test_the_markup_of_known_walls(wall: str) -> None:
    markup = f"<!doctype html>{WALLS[wall]}"
    assert hints_at_markup(markup.encode())
    sign = markup_sign(markup, glance(markup))
    assert sign is not None
    assert (sign.kind, sign.strong) == (BlockKind.CHALLENGE, True)


@pytest.mark.parametrize("wall", WALLS)
def test_a_page_with_text_of_its_own_is_no_wall_whatever_scripts_it_has(wall: str) -> None:
    markup = f"<title>A shop</title>{WALLS[wall]}<p>{'A sentence about chairs. ' * 80}</p>"
    assert markup_sign(markup, glance(markup)) is None


def test_a_page_that_quotes_a_wall_is_none() -> None:
    for wall in WALLS.values():
        markup = f"<title>Walls</title><pre>{wall.replace('<', '&lt;')}</pre>"
        assert markup_sign(markup, glance(markup)) is None


@pytest.mark.parametrize(
    ("markup", "kind"),
    [
        ("<title>Checking your browser before accessing shop.example</title>", "challenge"),
        ("<h1>Verify you are human</h1>", "challenge"),
        ("<title>Access denied</title><p>Reference 18.2", "challenge"),
        ("<title>Shop</title><p>Bitte bestätigen Sie, dass Sie ein Mensch sind.", "challenge"),
        ("<title>Site maintenance</title>", "maintenance"),
        ("<h1>We'll be right back</h1>", "maintenance"),
        ("<title>Shop</title><p>Wegen Wartungsarbeiten geschlossen", "maintenance"),
        ("<title>Boutique</title><h1>Site en maintenance</h1>", "maintenance"),
        ("<h1>Технические работы</h1>", "maintenance"),
        ("<title>429</title><p>Too Many Requests", "rate_limited"),
        ("<title>Avant de continuer</title>", "consent"),
        ("<title>Sign in</title><input type=email>", "login"),
        ("<title>Shop</title><form><input name=pw type=password></form>", "login"),
        ("<title>Page not found · Shop</title>", "soft_404"),
        ("<title>Shop: 404 error</title>", "soft_404"),
        ("<h1>Oops! That page can’t be found.</h1><h2>Page not found</h2>", "soft_404"),
        ("<title>Página no encontrada - Tienda</title>", "soft_404"),
        ("<h1>Diese Seite wurde leider nicht gefunden</h1>", "soft_404"),
        ("<h1>ページが見つかりません</h1>", "soft_404"),
        ("<meta http-equiv='refresh' content='5'><p>Please wait…", "challenge"),
        ("<meta content='0;URL=/signin' http-equiv=Refresh>", "login"),
    ],
)
def test_words_on_a_short_page_are_weak_signs(markup: str, kind: str) -> None:
    sign = text_sign(glance(markup), "A chair\nof oak")
    assert sign is not None
    assert (sign.kind, sign.strong) == (kind, False)


@pytest.mark.parametrize(
    "markup",
    [
        "<title>404 Gallery</title><h1>404 Gallery</h1>",
        "<title>Chair 404</title><h1>Chair 404</h1>",
        "<title>Lost and not found: a novel</title>",
        "<title>Maintenance of oak chairs</title><h1>Oil them twice a year</h1>",
        "<title>How to sign in to your router</title>",
        "<title>Consent in medicine</title>",
        "<title>Captchas</title><h1>A history of captchas</h1>",
        "<title>Chair</title><meta http-equiv=refresh content='600'>",
        "<title>Chair</title><meta http-equiv=refresh content='0;url=/chairs/oak'>",
        "<title>Chair</title><p>Sold out.",
        "<title>Chair</title><noscript>Enable JavaScript and cookies to continue</noscript><p>Of oak",
    ],
)
def test_words_that_are_about_something_else_are_no_signs(markup: str) -> None:
    assert text_sign(glance(markup), "A chair\nof oak") is None


def test_a_long_page_and_one_that_always_said_so_are_no_signs() -> None:
    words = "<title>Site maintenance</title><h1>Page not found</h1>"
    assert text_sign(glance(f"{words}<p>{'chair ' * 300}"), "") is None
    assert text_sign(glance("<title>Shop</title><p>Back soon. " + "chair " * 100), "") is None
    assert text_sign(glance(words), "page not found\nsite maintenance") is None
    assert text_sign(glance(words, whole=False), "") is None


def test_most_of_the_text_is_half_of_it() -> None:
    assert [has_lost_most(length, 1000) for length in (0, 500, 501, 2000)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.example/login", "login"),
        ("https://a.example/account/login.php?next=%2F", "login"),
        ("https://a.example/wp-login.php", "login"),
        ("https://a.example/users/sign_in", "login"),
        ("https://a.example/auth/realms/x", "login"),
        ("https://login.example.com/common", "login"),
        ("https://consent.example.com/m?continue=x", "consent"),
        ("https://a.example/cookie-consent/", "consent"),
        ("https://a.example/books/login-with-care", None),
        ("https://a.example/authors/sso-smith", None),
        ("https://a.example/book/auth", None),
        ("https://a.example/", None),
    ],
)
def test_addresses_of_walls(url: str, kind: str | None) -> None:
    sign = address_sign(url)
    assert (sign.kind if sign else None) == kind


def test_what_a_reader_sees_of_a_page() -> None:
    seen = glance_at(
        b"<title> A &amp; B </title><style>p{}</style><h1>Head<br>line</h1><!-- no --><p>Text</p>"
        b"<script>'<p>no'</script><a href=/x>link</a><img src=y><input type=\"password\">",
        "text/html; charset=utf-8",
    )
    assert (seen.title, seen.headings, seen.text) == ("A & B", ("Head line",), "Head line Text link")
    assert (seen.links, seen.media, seen.scripts, seen.password, seen.is_blank) == (1, 2, 1, True, False)
    assert glance("<title>App</title><div id=root></div><script src=x></script>").is_blank
    assert not glance("<title>App</title><img src=x>").is_blank
    assert not glance("<title>App</title>", whole=False).is_blank


@given(st.lists(st.sampled_from(["<", ">", "<script", "<h1>", "</h1", "<!--", "-->", "<title>", "a ", "&lt;", "\0"])))
def test_any_scraps_of_markup_are_looked_at(scraps: list[str]) -> None:
    seen = glance("".join(scraps))
    assert seen.length == len(seen.text) or seen.length > len(seen.text)


def after(blocks: int, sign: BlockSign = CHALLENGE, host: HostBlocks | None = None, at: datetime = NOW) -> HostBlocks:
    """The host after so many more blocks, a minute apart."""
    own = host or HostBlocks("a.example")
    for n in range(blocks):
        own = own.blocked(sign, at + n * timedelta(minutes=1), visit=2)
    return own


def test_the_twentieth_block_in_a_row_makes_the_host_rest_for_an_hour() -> None:
    assert after(BLOCKS_BEFORE_REST - 1).next_try is None
    rested = after(BLOCKS_BEFORE_REST)
    assert rested.next_try == NOW + timedelta(minutes=19) + HOUR
    assert (rested.since, rested.kind, rested.reason) == (NOW, "challenge", "a challenge")
    assert after(3, host=rested, at=NOW + timedelta(minutes=20)).next_try == rested.next_try, "those under way"


def test_a_rest_doubles_up_to_a_day_while_the_probe_is_blocked() -> None:
    own, hours = after(BLOCKS_BEFORE_REST), []
    for _ in range(7):
        assert own.next_try is not None
        at = own.next_try
        own = own.blocked(CHALLENGE, at, visit=3)
        assert own.next_try is not None
        hours.append((own.next_try - at) / HOUR)
    assert hours == [2, 4, 8, 16, 24, 24, 24]
    assert own.answered(3) == HostBlocks("a.example", answered_in=3)


def test_a_good_answer_begins_the_count_anew() -> None:
    own = after(10, host=after(15).answered(2))
    assert (own.blocks, own.next_try) == (10, None)


def test_statuses_of_single_pages_count_only_where_nothing_else_answers() -> None:
    assert after(40, STATUS).next_try is not None
    answering = after(40, STATUS, HostBlocks("a.example").answered(2))
    assert answering.next_try is None
    assert not answering.is_blocked
    assert after(1, CHALLENGE, answering).next_try is not None
