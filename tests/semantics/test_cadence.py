"""When a URL is asked again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.cadence import FIRST_RETRY, LONGEST_INTERVAL, Cadence

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
USUAL = Cadence(DAY, HOUR, 30 * DAY)
EVERY_RUN = Cadence(DAY, HOUR, 30 * DAY, every_run=True)

intervals = st.timedeltas(timedelta(0), timedelta.max)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
counts = st.integers(0, 40) | st.sampled_from([2**31, 2**63, 10**30])


@st.composite
def ordered_cadences(draw: st.DrawFn) -> Cadence:
    minimum, default, maximum = sorted(draw(st.tuples(intervals, intervals, intervals)))
    return Cadence(default, minimum, maximum)


@pytest.mark.parametrize(
    ("cadence", "wait"),
    [
        (USUAL, DAY),
        (Cadence(timedelta(minutes=1), HOUR, DAY), HOUR),
        (Cadence(40 * DAY, HOUR, 30 * DAY), 30 * DAY),
        (EVERY_RUN, timedelta(0)),
    ],
)
def test_a_page_that_answered_is_due_after_the_default_within_its_bounds(cadence: Cadence, wait: timedelta) -> None:
    assert cadence.after_check(NOW) == NOW + wait


@pytest.mark.parametrize(
    ("failures", "minutes"),
    [(0, 15), (1, 15), (2, 30), (3, 60), (4, 120), (7, 960), (8, 1440), (9, 1440), (10**9, 1440)],
)
def test_retries_double_from_a_quarter_of_an_hour_to_the_default(failures: int, minutes: int) -> None:
    assert USUAL.after_failure(NOW, failures) == NOW + timedelta(minutes=minutes)


def test_a_retry_never_waits_longer_than_a_check_would() -> None:
    often = Cadence(timedelta(minutes=5), timedelta(minutes=1), DAY)
    assert often.after_failure(NOW, 1) == NOW + timedelta(minutes=5)


@pytest.mark.parametrize(
    ("not_before", "due"),
    [
        (None, NOW + FIRST_RETRY),
        (NOW - DAY, NOW + FIRST_RETRY),
        (NOW + FIRST_RETRY - timedelta(seconds=1), NOW + FIRST_RETRY),
        (NOW + FIRST_RETRY + timedelta(seconds=1), NOW + FIRST_RETRY + timedelta(seconds=1)),
        (NOW + 60 * DAY, NOW + 60 * DAY),
    ],
)
def test_retry_after_goes_before_every_interval(not_before: datetime | None, due: datetime) -> None:
    assert USUAL.after_failure(NOW, 1, not_before) == due


def test_retry_after_holds_even_where_every_page_is_due_in_every_run() -> None:
    assert EVERY_RUN.after_failure(NOW, 5) == NOW
    assert EVERY_RUN.after_failure(NOW, 5, NOW + HOUR) == NOW + HOUR
    assert EVERY_RUN.after_failure(NOW, 5, NOW - HOUR) == NOW


@pytest.mark.parametrize(
    ("checks", "days"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (7, 30), (10**9, 30)]
)
def test_probes_of_a_gone_page_double_from_the_default_to_the_maximum(checks: int, days: int) -> None:
    assert USUAL.after_gone(NOW, checks) == NOW + days * DAY


def test_the_source_of_a_redirect_is_looked_at_at_the_maximum() -> None:
    assert USUAL.after_moved(NOW) == NOW + 30 * DAY


@given(moments, counts)
def test_in_every_run_failed_gone_and_moved_pages_are_due_too(now: datetime, count: int) -> None:
    due = {
        EVERY_RUN.after_check(now),
        EVERY_RUN.after_failure(now, count),
        EVERY_RUN.after_gone(now, count),
        EVERY_RUN.after_moved(now),
    }
    assert due == {now}


@given(ordered_cadences(), moments, counts)
def test_every_wait_lies_within_the_bounds_for_whatever_numbers(cadence: Cadence, now: datetime, count: int) -> None:
    longest = now + min(cadence.maximum, LONGEST_INTERVAL)
    shortest = now + min(cadence.minimum, LONGEST_INTERVAL)
    assert shortest <= cadence.after_check(now) <= longest
    assert shortest <= cadence.after_gone(now, count) <= longest
    assert now <= cadence.after_failure(now, count) <= cadence.after_check(now)
    assert cadence.after_moved(now) == longest


@given(ordered_cadences(), moments, counts)
def test_more_failures_never_mean_a_shorter_wait(cadence: Cadence, now: datetime, count: int) -> None:
    assert cadence.after_failure(now, count) <= cadence.after_failure(now, count + 1)
    assert cadence.after_gone(now, count) <= cadence.after_gone(now, count + 1)
