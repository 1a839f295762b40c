"""HTTP dates and Retry-After."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.retry_after import http_date, retry_after

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
SPEC_MOMENT = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994",
        " Sun, 06 Nov 1994 08:49:37 GMT\t",
    ],
)
def test_the_three_formats_are_one_moment(text: str) -> None:
    assert http_date(text, NOW) == SPEC_MOMENT
    assert http_date(text) == SPEC_MOMENT


@pytest.mark.parametrize(
    "text",
    [
        "Mon, 9 Feb 2026 21:46:56 +0000",
        "Thu, 18 Dec 2014 11:21:17 CET",
        "Thu Nov 18 02:15:22 2010 GMT",
        "Invalid date",
        "mer., 01 janv. 2025 10:00:00 GMT",
        "1697173264",
        "Wed, 31 Feb 2024 10:00:00 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Fri, 31 Dec 9999 23:59:60 GMT",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        "",
    ],
)
def test_anything_else_is_no_date(text: str) -> None:
    assert http_date(text, NOW) is None


def test_a_missing_field_is_no_date() -> None:
    assert http_date(None) is None
    assert retry_after(None, NOW) is None


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("Monday, 30-Nov-76 12:00:00 GMT", 2076),
        ("Monday, 30-Nov-76 12:00:01 GMT", 1976),
        ("Monday, 30-Nov-77 12:00:00 GMT", 1977),
        ("Monday, 30-Nov-00 12:00:00 GMT", 2000),
    ],
)
def test_a_two_digit_year_lies_at_most_fifty_years_ahead(text: str, year: int) -> None:
    moment = http_date(text, NOW)
    assert moment is not None
    assert moment.year == year


def test_a_two_digit_year_after_the_turn_of_a_century_is_near() -> None:
    moment = http_date("Saturday, 01-Jan-01 00:00:00 GMT", datetime(2099, 12, 31, tzinfo=UTC))
    assert moment == datetime(2101, 1, 1, tzinfo=UTC)


def test_a_leap_day_is_looked_for_in_a_century_that_has_it() -> None:
    moment = http_date("Tuesday, 29-Feb-00 00:00:00 GMT", datetime(2080, 1, 1, tzinfo=UTC))
    assert moment == datetime(2000, 2, 29, tzinfo=UTC)


def test_a_leap_second_is_the_next_minute() -> None:
    assert http_date("Sat, 31 Dec 2016 23:59:60 GMT") == datetime(2017, 1, 1, tzinfo=UTC)


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)))
def test_a_date_that_was_written_is_read_back(moment: datetime) -> None:
    whole = moment.replace(microsecond=0, tzinfo=UTC)
    day, month = "Mon Tue Wed Thu Fri Sat Sun".split()[whole.weekday()], _month(whole)
    clock = f"{whole:%H:%M:%S}"
    assert http_date(f"{day}, {whole.day:02} {month} {whole.year:04} {clock} GMT") == whole
    assert http_date(f"{day} {month} {whole.day:2} {clock} {whole.year:04}") == whole


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(seconds=120)),
        (" 0 ", timedelta(0)),
        ("86401", timedelta(days=1)),
        ("9" * 10_000, timedelta(days=1)),
        ("0" * 10_000 + "5", timedelta(seconds=5)),
        ("Mon, 30 Nov 2026 12:01:30 GMT", timedelta(seconds=90)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", timedelta(0)),
        ("Fri, 31 Dec 9999 23:59:59 GMT", timedelta(days=1)),
    ],
)
def test_seconds_and_dates_name_the_moment_to_ask_again(value: str, wait: timedelta) -> None:
    assert retry_after(value, NOW) == NOW + wait


@pytest.mark.parametrize("value", ["", "-5", "1.5", "soon", "120, 120", "١٢", "Invalid date"])
def test_what_names_no_moment_is_ignored(value: str) -> None:
    assert retry_after(value, NOW) is None


@given(st.text() | st.integers().map(str))
def test_the_moment_is_never_past_and_never_more_than_a_day_ahead(value: str) -> None:
    moment = retry_after(value, NOW)
    assert moment is None or NOW <= moment <= NOW + timedelta(days=1)


def _month(moment: datetime) -> str:
    return "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[moment.month - 1]
