"""Validators are opaque: kept, adopted and compared byte for byte."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.answers import Headers
from incremental_crawl.semantics.validators import (
    Validators,
    from_response,
    has_weak_date,
    merge_not_modified,
    repeated,
    representation,
    weakly_equal,
    without_cookies,
)

DATE = "Mon, 30 Nov 2026 12:00:00 GMT"
WIRE_VALUES = st.binary(min_size=1, max_size=40).map(lambda raw: raw.decode("latin-1"))
SOME_VALUE = st.none() | WIRE_VALUES


def headers(etag: str | None = None, last_modified: str | None = None, date: str | None = None) -> Headers:
    named = (("date", date), ("etag", etag), ("last-modified", last_modified))
    return tuple((name, value) for name, value in named if value is not None)


@given(SOME_VALUE, SOME_VALUE)
def test_validators_are_those_of_the_response_byte_for_byte(etag: str | None, last_modified: str | None) -> None:
    assert from_response(headers(etag, last_modified)) == Validators(etag, last_modified)


@given(SOME_VALUE, SOME_VALUE, SOME_VALUE, SOME_VALUE)
def test_a_304_keeps_what_it_omits_and_replaces_what_it_carries(
    etag: str | None, last_modified: str | None, new_etag: str | None, new_last_modified: str | None
) -> None:
    merged = merge_not_modified(Validators(etag, last_modified), headers(new_etag, new_last_modified))
    assert merged.etag == (etag if new_etag is None else new_etag)
    assert merged.last_modified == (last_modified if new_last_modified is None else new_last_modified)


@given(SOME_VALUE, SOME_VALUE, SOME_VALUE, SOME_VALUE)
def test_adopting_the_same_304_twice_changes_nothing(
    etag: str | None, last_modified: str | None, new_etag: str | None, new_last_modified: str | None
) -> None:
    sent = headers(new_etag, new_last_modified)
    merged = merge_not_modified(Validators(etag, last_modified), sent)
    assert merge_not_modified(merged, sent) == merged
    assert bool(merged) == any((etag, last_modified, new_etag, new_last_modified))


@pytest.mark.parametrize(
    "tag",
    ['"a"', 'W/"a"', 'w/"a"', "a", "W/a", '"a-gzip"', "W/", '"é"', '"a", "b"', "*", ' "a"', '"\xff\x01"', "0"],
)
def test_no_tag_is_ever_mended(tag: str) -> None:
    assert from_response(headers(tag)).etag == tag
    assert merge_not_modified(Validators('"old"'), headers(tag)).etag == tag


@pytest.mark.parametrize(
    "date",
    [
        "Sun Nov  6 08:49:37 1994",
        "Mon, 9 Feb 2026 21:46:56 +0000",
        "Invalid date",
        "mer., 01 janv. 2025 10:00:00 GMT",
        "1697173264",
        "Sat, 16 Nov 2041 19:11:00 GMT",
    ],
)
def test_a_date_that_nobody_can_read_is_a_validator_all_the_same(date: str) -> None:
    assert from_response(headers(None, date)).last_modified == date
    assert merge_not_modified(Validators(None, DATE), headers(None, date)).last_modified == date


def test_the_first_line_counts_where_a_field_is_repeated() -> None:
    repeated = (("etag", '"one"'), ("etag", '"two"'), ("last-modified", "one"), ("last-modified", "two"))
    assert from_response(repeated) == Validators('"one"', "one")
    assert merge_not_modified(Validators('"old"', "old"), repeated) == Validators('"one"', "one")


def test_an_empty_value_is_none() -> None:
    assert from_response(headers("", "")) == Validators()
    assert merge_not_modified(Validators('"old"', DATE), headers("", "")) == Validators('"old"', DATE)


def test_other_fields_are_no_validators() -> None:
    assert from_response((("x-etag", '"a"'), ("date", DATE), ("expires", DATE), ("content-md5", "a"))) == Validators()


@pytest.mark.parametrize(
    ("validators", "usable"),
    [(Validators(), False), (Validators('"a"'), True), (Validators(None, DATE), True), (Validators('"a"', DATE), True)],
)
def test_a_condition_needs_at_least_one_validator(validators: Validators, usable: bool) -> None:
    assert bool(validators) is usable


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ('W/"1"', 'W/"1"', True),
        ('W/"1"', '"1"', True),
        ('"1"', 'W/"1"', True),
        ('"1"', '"1"', True),
        ('W/"1"', 'W/"2"', False),
        ('W/"1"', '"2"', False),
        ('w/"1"', '"1"', False),
        ('W/W/"1"', '"1"', False),
        ('"a"', '"A"', False),
        ('"a"', "a", False),
        ('"a-gzip"', '"a"', False),
        ('"a" ', '"a"', False),
    ],
)
def test_weak_comparison_ignores_the_weakness_mark_and_nothing_else(one: str, other: str, equal: bool) -> None:
    assert weakly_equal(one, other) is equal
    assert weakly_equal(other, one) is equal


def written(moment: datetime) -> str:
    return f"{moment:%a, %d %b %Y %H:%M:%S} GMT"


@given(st.integers(-200_000, 200_000))
def test_a_date_is_weak_from_0_to_60_seconds_before_the_answer(seconds: int) -> None:
    sent = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    modified = sent - timedelta(seconds=seconds)
    assert has_weak_date(headers(None, written(modified), written(sent))) is (0 <= seconds <= 60)


@pytest.mark.parametrize(
    ("last_modified", "weak"),
    [
        ("Mon, 30 Nov 2026 12:00:00 GMT", True),
        ("Mon, 30 Nov 2026 11:59:00 GMT", True),
        ("Mon, 30 Nov 2026 11:58:59 GMT", False),
        ("Mon, 30 Nov 2026 12:00:01 GMT", False),
        ("Mon Nov 30 11:59:30 2026", True),
        ("Monday, 30-Nov-26 11:59:30 GMT", True),
        ("Mon, 30 Nov 2026 12:00:00 +0000", False),
        ("Invalid date", False),
        ("1764504000", False),
        ("", False),
        (None, False),
    ],
)
def test_an_unreadable_or_later_date_is_a_plain_token(last_modified: str | None, weak: bool) -> None:
    assert has_weak_date(headers(None, last_modified, DATE)) is weak


@pytest.mark.parametrize("date", [None, "", "now"])
def test_without_a_readable_date_of_the_answer_nothing_can_be_said(date: str | None) -> None:
    assert not has_weak_date(headers(None, DATE, date))


@given(SOME_VALUE, SOME_VALUE)
def test_no_value_is_too_strange_to_be_looked_at(last_modified: str | None, date: str | None) -> None:
    assert has_weak_date(headers(None, last_modified, date)) in (True, False)


REQUEST = {
    "accept": "text/html",
    "accept-encoding": "gzip, br",
    "accept-language": "en",
    "user-agent": "crawler/1",
    "authorization": "Bearer token",
}
KEY = bytes(range(32))


@pytest.mark.parametrize("name", sorted(REQUEST))
def test_each_header_makes_another_representation(name: str) -> None:
    held = representation(REQUEST, KEY)
    assert representation(REQUEST | {name: "other"}, KEY) != held
    assert representation({key: value for key, value in REQUEST.items() if key != name}, KEY) != held
    assert representation(REQUEST | {"x-own": "1"}, KEY) != held


def test_a_representation_does_not_depend_on_spelling_or_order() -> None:
    spelled = {name.title(): value for name, value in reversed(REQUEST.items())}
    assert representation(spelled, KEY) == representation(REQUEST, KEY)


@given(st.permutations(sorted(REQUEST.values())))
def test_values_that_change_places_are_another_representation(values: list[str]) -> None:
    other = dict(zip(sorted(REQUEST), values, strict=True))
    assert (representation(other, KEY) == representation(REQUEST, KEY)) is (other == REQUEST)


def test_a_representation_is_the_same_in_every_process_and_tells_nothing_without_the_key() -> None:
    assert representation(REQUEST, KEY) == representation(REQUEST, KEY) == "771d605fb29b6da0"
    assert representation(REQUEST, bytes(32)) != representation(REQUEST, KEY)
    assert len(representation({}, KEY)) == 16


def test_the_cookies_of_a_gate_are_told_by_their_names() -> None:
    with_cookie = representation(REQUEST, KEY, "seen=1; id=abc")
    assert with_cookie == representation(REQUEST, KEY, "id=xyz; seen=2")
    assert with_cookie != representation(REQUEST, KEY, "id=abc")
    assert with_cookie != representation(REQUEST, KEY)
    assert without_cookies(with_cookie) == without_cookies(representation(REQUEST, KEY)) == representation(REQUEST, KEY)
    assert without_cookies(None) is None


def test_validators_in_several_lines_are_told() -> None:
    assert repeated((("etag", '"a"'), ("etag", '"b"'))) == ("2 lines of etag; the first counts",)
    assert repeated((("etag", '"a"'), ("last-modified", DATE), ("x", "1"), ("x", "2"))) == ()
    assert from_response((("etag", '"a"'), ("etag", '"b"'))).etag == '"a"'
