"""What every answer means, by what was asked and what is held."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.answers import (
    REDIRECT_STATUSES,
    Answer,
    Ask,
    Failure,
    FailureKind,
    Headers,
    NotModified,
    Purpose,
    Redirected,
    Response,
    Timing,
)
from incremental_crawl.semantics.outcome import FAILED, Outcome, Step, classify, status_outcome

URL = "https://a.example/"
TIMING = Timing(datetime(2026, 11, 30, 12, 0, tzinfo=UTC))

PLAIN = Ask(URL, Purpose.FETCH)
PLAIN_AGAIN = Ask(URL, Purpose.RETRY, no_cache=True)
BY_TAG = Ask(URL, Purpose.SWEEP, etag='"a"')
BY_DATE = Ask(URL, Purpose.SWEEP, last_modified="Mon, 30 Nov 2026 10:00:00 GMT")
BY_BOTH = Ask(URL, Purpose.SWEEP, etag='"a"', last_modified="Mon, 30 Nov 2026 10:00:00 GMT")
BY_TAG_NO_CACHE = Ask(URL, Purpose.SWEEP, etag='"a"', no_cache=True)
BY_EMPTY_TAG = Ask(URL, Purpose.SWEEP, etag="")
ASKS = (PLAIN, PLAIN_AGAIN, BY_TAG, BY_DATE, BY_BOTH, BY_TAG_NO_CACHE)

ask_or_not = st.sampled_from(ASKS)
held = st.booleans()


def answer(status: int, headers: Headers = (), body: bytes = b"text") -> Answer:
    """The answer type that a final status comes as."""
    if status == 304:
        return NotModified(headers, TIMING)
    if status in REDIRECT_STATUSES:
        return Redirected(status, headers, "/b", TIMING)
    return Response(status, headers, body, TIMING)


@pytest.mark.parametrize(
    ("ask", "holds", "meaning"),
    [
        (BY_TAG, True, Outcome.NOT_MODIFIED),
        (BY_DATE, True, Outcome.NOT_MODIFIED),
        (BY_BOTH, True, Outcome.NOT_MODIFIED),
        (BY_TAG_NO_CACHE, True, Outcome.NOT_MODIFIED),
        (BY_EMPTY_TAG, True, Outcome.NOT_MODIFIED),
        (BY_TAG, False, Step.ASK_UNCONDITIONALLY),
        (BY_DATE, False, Step.ASK_UNCONDITIONALLY),
        (BY_BOTH, False, Step.ASK_UNCONDITIONALLY),
        (BY_TAG_NO_CACHE, False, Step.ASK_UNCONDITIONALLY),
        (PLAIN, True, Step.ASK_UNCONDITIONALLY),
        (PLAIN, False, Step.ASK_UNCONDITIONALLY),
        (PLAIN_AGAIN, True, Outcome.ERROR),
        (PLAIN_AGAIN, False, Outcome.ERROR),
    ],
)
def test_a_304_confirms_a_held_record_only_where_a_condition_was_sent(
    ask: Ask, holds: bool, meaning: Outcome | Step
) -> None:
    assert classify(ask, answer(304), holds) is meaning


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/b", None])
@given(ask=ask_or_not, holds=held)
def test_a_redirect_is_followed_by_hand(status: int, location: str | None, ask: Ask, holds: bool) -> None:
    assert classify(ask, Redirected(status, (), location, TIMING), holds) is Step.FOLLOW


MEANINGS = {
    200: Outcome.MODIFIED,
    203: Outcome.MODIFIED,
    204: Outcome.EMPTY,
    205: Outcome.EMPTY,
    206: Outcome.INCOMPLETE,
    401: Outcome.BLOCKED,
    402: Outcome.BLOCKED,
    403: Outcome.BLOCKED,
    404: Outcome.SUSPECT_GONE,
    407: Outcome.BLOCKED,
    408: Outcome.RETRY_LATER,
    410: Outcome.GONE,
    425: Outcome.RETRY_LATER,
    429: Outcome.RETRY_LATER,
    451: Outcome.BLOCKED,
    500: Outcome.RETRY_LATER,
    502: Outcome.RETRY_LATER,
    503: Outcome.RETRY_LATER,
    504: Outcome.RETRY_LATER,
    520: Outcome.RETRY_LATER,
    599: Outcome.RETRY_LATER,
    999: Outcome.RETRY_LATER,
    100: Outcome.ERROR,
    201: Outcome.ERROR,
    202: Outcome.ERROR,
    300: Outcome.ERROR,
    305: Outcome.ERROR,
    400: Outcome.ERROR,
    405: Outcome.ERROR,
    412: Outcome.ERROR,
    416: Outcome.ERROR,
    418: Outcome.ERROR,
    431: Outcome.ERROR,
    499: Outcome.ERROR,
}
CONDITION_REFUSED = (400, 412, 431)


@pytest.mark.parametrize(("status", "meaning"), MEANINGS.items())
@given(ask=ask_or_not, holds=held)
def test_a_final_status_means_the_same_whatever_was_sent_or_held(
    status: int, meaning: Outcome, ask: Ask, holds: bool
) -> None:
    if ask.conditional and status in CONDITION_REFUSED:
        assert classify(ask, Response(status, (), b"", TIMING), holds) is Step.ASK_UNCONDITIONALLY
        ask = replace(ask, etag=None, last_modified=None)
    assert classify(ask, Response(status, (), b"", TIMING), holds) is meaning


KINDS = {
    FailureKind.DNS: Outcome.RETRY_LATER,
    FailureKind.CONNECT: Outcome.RETRY_LATER,
    FailureKind.TLS: Outcome.ERROR,
    FailureKind.TIMEOUT: Outcome.RETRY_LATER,
    FailureKind.DISCONNECTED: Outcome.RETRY_LATER,
    FailureKind.PROTOCOL: Outcome.ERROR,
    FailureKind.INCOMPLETE: Outcome.INCOMPLETE,
    FailureKind.TOO_LARGE: Outcome.ERROR,
    FailureKind.UNDECODABLE: Outcome.ERROR,
    FailureKind.FORBIDDEN_ADDRESS: Outcome.REFUSED,
    FailureKind.ROBOTS: Outcome.REFUSED,
    FailureKind.ROBOTS_UNAVAILABLE: Outcome.RETRY_LATER,
}


def test_every_kind_of_failure_has_a_meaning() -> None:
    assert KINDS.keys() == set(FailureKind)


@given(st.sampled_from(FailureKind), st.none() | st.integers(100, 599), ask_or_not, held)
def test_a_failure_means_the_same_whatever_status_came_with_it(
    kind: FailureKind, status: int | None, ask: Ask, holds: bool
) -> None:
    meaning = classify(ask, Failure(kind, "why", TIMING, status), holds)
    assert meaning is KINDS[kind]
    assert meaning in FAILED


@given(st.integers(100, 599), ask_or_not, held)
def test_every_status_has_a_meaning_and_only_the_right_ones_bring_or_bury_a_record(
    status: int, ask: Ask, holds: bool
) -> None:
    meaning = classify(ask, answer(status), holds)
    settled = meaning in FAILED
    assert (meaning is Outcome.MODIFIED) == (status in (200, 203))
    assert (meaning in (Outcome.GONE, Outcome.SUSPECT_GONE)) == (status in (404, 410))
    assert (meaning is Outcome.NOT_MODIFIED) == (status == 304 and ask.conditional and holds)
    assert (meaning is Step.FOLLOW) == (status in REDIRECT_STATUSES)
    if status >= 500:
        assert meaning is Outcome.RETRY_LATER
    refused = ask.conditional and status in CONDITION_REFUSED
    assert not refused or meaning is Step.ASK_UNCONDITIONALLY
    if status not in (200, 203, 304, 404, 410, *REDIRECT_STATUSES) and not refused:
        assert settled


@given(st.integers())
def test_no_number_is_too_strange_to_be_classified(status: int) -> None:
    outcome = status_outcome(status)
    assert outcome in FAILED or status in (200, 203, 404, 410)


@given(st.integers(100, 599), st.binary(max_size=20), ask_or_not, held)
def test_neither_body_nor_headers_change_what_a_status_means(status: int, body: bytes, ask: Ask, holds: bool) -> None:
    headers = (("etag", '"z"'), ("content-length", "0"))
    assert classify(ask, answer(status, headers, body), holds) is classify(ask, answer(status), holds)


def test_outcomes_that_say_nothing_are_no_word_about_the_page() -> None:
    said = {Outcome.NOT_MODIFIED, Outcome.SAME_HASH, Outcome.GONE, Outcome.MOVED, Outcome.SUSPECT_GONE, Outcome.CHANGED}
    assert not FAILED & said


def test_the_outcomes_are_those_that_observations_promise() -> None:
    promised = (
        "new modified changed not_modified same_hash rebaselined gone suspect_gone restored moved incomplete empty"
        " blocked refused retry_later error"
    )
    assert {str(outcome) for outcome in Outcome} == set(promised.split())


@pytest.mark.parametrize("status", [300, 305, 306])
def test_redirects_that_nobody_follows_are_errors(status: int) -> None:
    assert classify(PLAIN, Response(status, (("location", "/b"),), b"", TIMING), True) is Outcome.ERROR
