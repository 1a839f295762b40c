"""Where redirects lead, and what they may not do, told without a server."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.answers import Answer, Ask, Headers, Purpose, Redirected, Response, Timing
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.request_headers import RequestHeaders
from incremental_crawl.semantics.trust import TrustMode
from incremental_crawl.semantics.urls import Scope
from incremental_crawl.stages.conversation import MAX_HOPS, Hops, Talk
from incremental_crawl.stages.fingerprints import Fingerprints

PAGE = "https://shop.example/dir/page"
TIMING = Timing(datetime(2026, 5, 1, 12, tzinfo=UTC))
HOPS = Hops(Scope(frozenset({"shop.example"})), origins=frozenset({"https://shop.example"}))
PRINTS = Fingerprints(RequestHeaders({"User-Agent": "x"}), bytes(32))


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/caf\xc3\xa9x", "https://shop.example/caf%C3%A9x"),
        ("/caf\xe9", "https://shop.example/caf%E9"),
        ("/a b", "https://shop.example/a%20b"),
        ("../up", "https://shop.example/up"),
        ("next", "https://shop.example/dir/next"),
        ("?q=1", "https://shop.example/dir/page?q=1"),
        ("/t#frag", "https://shop.example/t"),
        ("//shop.example/z", "https://shop.example/z"),
        ("HTTPS://SHOP.EXAMPLE:443/Z", "https://shop.example/Z"),
    ],
)
def test_a_location_is_resolved_and_made_canonical(location: str, target: str) -> None:
    assert HOPS.resolve(PAGE, location) == (target, Outcome.MODIFIED, "")


@pytest.mark.parametrize(
    ("location", "outcome", "reason"),
    [
        (None, Outcome.ERROR, "without a Location"),
        ("", Outcome.ERROR, "without a Location"),
        ("file:///etc/hostname", Outcome.ERROR, "not an http or https URL"),
        ("javascript:alert(1)", Outcome.ERROR, "not an http or https URL"),
        ("data:text/html,x", Outcome.ERROR, "not an http or https URL"),
        ("mailto:a@shop.example", Outcome.ERROR, "not an http or https URL"),
        ("http://[::1", Outcome.ERROR, "unusable"),
        ("https://\xff\xfe/", Outcome.ERROR, "unusable"),
        ("//other.example/z", Outcome.REFUSED, "leaves the site's scope"),
        ("https://169.254.169.254/latest/meta-data/", Outcome.REFUSED, "leaves the site's scope"),
        ("https://shop.example.evil.example/", Outcome.REFUSED, "leaves the site's scope"),
        ("https://shop.example@evil.example/", Outcome.REFUSED, "leaves the site's scope"),
        ("http://shop.example/dir/page", Outcome.REFUSED, "from https to http"),
    ],
)
def test_what_must_not_be_followed_is_an_outcome(location: str | None, outcome: Outcome, reason: str) -> None:
    target, found, text = HOPS.resolve(PAGE, location)
    assert (target, found) == (None, outcome)
    assert reason in text


def test_http_is_no_downgrade_where_a_start_url_says_so() -> None:
    both = Hops(HOPS.scope, origins=frozenset({"https://shop.example", "http://shop.example"}))
    assert both.resolve(PAGE, "http://shop.example/a")[0] == "http://shop.example/a"
    assert HOPS.resolve("http://shop.example/a", "https://shop.example/a")[0] == "https://shop.example/a"


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_no_location_whatsoever_is_an_exception(location: str) -> None:
    target, outcome, _ = HOPS.resolve(PAGE, location)
    assert (target is None) is (outcome is not Outcome.MODIFIED)
    assert target is None or (target.isascii() and HOPS.scope.contains(target))


def redirected(status: int, location: str, cookie: str | None = None) -> Redirected:
    lines: Headers = (("location", location),) + ((("set-cookie", cookie),) if cookie else ())
    return Redirected(status, lines, location, TIMING)


ANSWERS = st.builds(
    redirected,
    st.sampled_from([301, 302, 303, 307, 308]),
    st.sampled_from(["/a", "/b", "/c", "/dir/page", "/", "https://other.example/", "", "http://shop.example/a"]),
    st.sampled_from([None, "n=1; Path=/", "n=2; Path=/", "m=1; Path=/a"]),
)


@given(st.lists(ANSWERS, min_size=1, max_size=40), st.booleans())
def test_every_chain_ends_and_a_condition_never_goes_to_another_url(chain: list[Redirected], held: bool) -> None:
    page = PageState(PAGE, "start", held=held, etag='"own"', representation=PRINTS.of(PAGE))
    talk = Talk(HOPS, page, PRINTS, TrustMode.BOTH)
    ask: Ask | None = talk.begin(Purpose.SWEEP)
    sent: list[Ask] = []
    answers: list[Answer] = [*chain, Response(200, (), b"x", TIMING)]
    for answer in answers:
        assert ask is not None
        sent.append(ask)
        ask = talk.heard(ask, answer)
        if ask is None:
            break
    assert len(sent) <= MAX_HOPS + 1
    assert [each.url for each in sent if each.conditional] == [PAGE]
    assert len({(each.url, each.cookie) for each in sent}) == len(sent), "nothing is asked twice in the same way"
    result = talk.result([])
    assert result.url in {each.url for each in sent} | {result.moved_to}
    assert result.representation == PRINTS.of(sent[-1].url, sent[-1].cookie)
