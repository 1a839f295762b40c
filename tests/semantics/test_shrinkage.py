"""When a listing that is suddenly small is held, and when it is believed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from incremental_crawl.semantics.shrinkage import BELIEVED_AFTER, BELIEVED_AFTER_VISITS, MIN_JUDGED, Shrunk, is_sudden

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("before", "leaving", "now", "sudden"),
    [
        (100, 20, 80, False),
        (100, 21, 79, True),
        (100, 100, 0, True),
        (100, 100, 100, False),
        (100, 100, 81, False),
        (100, 0, 10, False),
        (MIN_JUDGED, 5, 15, True),
        (MIN_JUDGED - 1, 19, 0, False),
        (0, 0, 0, False),
    ],
)
def test_a_listing_is_suddenly_small_where_many_leave_and_few_are_left(
    before: int, leaving: int, now: int, sudden: bool
) -> None:
    assert is_sudden(before, leaving, now, 0.2) is sudden


def test_a_limit_of_one_believes_everything() -> None:
    assert not is_sudden(100, 100, 0, 1.0)


def seen(hours: list[int], sizes: list[int]) -> Shrunk:
    """A listing of a hundred pages, seen small at these hours in these sizes."""
    found = [Shrunk("r", 100, size, NOON + hour * HOUR) for hour, size in zip(hours, sizes, strict=True)]
    known = found[0]
    for each in found[1:]:
        known = known.seen_again(each, 0.2)
    return known


@pytest.mark.parametrize(
    ("hours", "sizes", "believed"),
    [
        ([0], [50], False),
        ([0, 24], [50, 50], False),
        ([0, 1, 2], [50, 50, 50], False),
        ([0, 12, 24], [50, 50, 50], True),
        ([0, 12, 24], [50, 55, 45], True),
        ([0, 12, 24], [50, 50, 10], False),
        ([0, 12, 24, 36, 48], [50, 50, 10, 10, 10], True),
        ([0, 24, 48, 72, 96], [70, 50, 30, 20, 10], False),
    ],
)
def test_it_is_believed_once_it_has_stood_for_some_visits_and_a_day(
    hours: list[int], sizes: list[int], believed: bool
) -> None:
    assert (3, timedelta(hours=24)) == (BELIEVED_AFTER_VISITS, BELIEVED_AFTER)
    assert seen(hours, sizes).believed(NOON + hours[-1] * HOUR) is believed


def test_what_is_known_of_it_is_its_newest_size_and_its_beginning() -> None:
    known = seen([0, 5], [50, 60])
    assert (known.now, known.since, known.visits) == (60, NOON, 2)
    assert known.lost == 0.4
