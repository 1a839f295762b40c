from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.config.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("15m", 900), ("6h", 21_600), ("1d", 86_400), ("2w", 1_209_600), ("0.5s", 0.5)]
)
def test_durations_of_the_contract(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value", ["", "s", "10", "-5s", "1h30m", "5 s", "5S", "1y", "\u0661s", None, True, ["1s"], "999999999w"]
)
def test_what_is_no_duration(value: object) -> None:
    with pytest.raises(ValueError, match=r"not a duration|unit is missing|too long"):
        parse_duration(value)


def test_a_number_alone_names_the_missing_unit() -> None:
    with pytest.raises(ValueError, match="20 seconds are written 20s"):
        parse_duration(20)


@pytest.mark.parametrize(
    ("text", "size"),
    [("20MB", 20_000_000), ("1GB", 10**9), ("1.5KB", 1_500), ("2MiB", 2 * 2**20), ("7B", 7), (512, 512)],
)
def test_sizes(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("value", ["", "MB", "20", "20 megabytes", "-1MB", True, 1.5, None])
def test_what_is_no_size(value: object) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parse_size(value)


@given(st.integers(0, 3_650 * 86_400).map(lambda seconds: timedelta(seconds=seconds)))
def test_a_written_duration_reads_back(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(st.integers(0, 10**15))
def test_a_written_size_reads_back(size: int) -> None:
    assert parse_size(format_size(size)) == size
