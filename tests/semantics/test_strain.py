"""A host that is overloaded is asked less, and slowly more again."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.strain import FORGIVEN_AFTER, LONGEST_INTERVAL_S, LONGEST_PAUSE, Strain


def strained(incidents: int) -> Strain:
    strain = Strain()
    for _ in range(incidents):
        strain = strain.refused()
    return strain


def test_each_incident_halves_the_concurrency_and_doubles_interval_and_pause() -> None:
    assert [strained(n).concurrency(24) for n in range(7)] == [24, 12, 6, 3, 1, 1, 1]
    assert [strained(n).interval_s(0.2) for n in range(4)] == [0.2, 0.4, 0.8, 1.6]
    assert [strained(n).interval_s(0.0) for n in range(4)] == [0.0, 0.1, 0.2, 0.4]
    assert [strained(n).pause(0.0).total_seconds() for n in range(1, 6)] == [1, 2, 4, 8, 16]
    assert strained(1).pause(1.0) == timedelta(seconds=1.5)


def test_a_row_of_answers_forgives_one_incident_at_a_time() -> None:
    strain = strained(2)
    for _ in range(FORGIVEN_AFTER - 1):
        strain = strain.answered()
    assert strain.incidents == 2
    assert strain.answered().incidents == 1
    assert strain.refused().incidents == 3
    assert strain.refused().answers == 0, "an incident begins the row anew"
    for _ in range(2 * FORGIVEN_AFTER):
        strain = strain.answered()
    assert strain == Strain() == strain.answered()


@given(st.lists(st.booleans(), max_size=300), st.floats(0, 100), st.integers(1, 256), st.floats(0, 1))
def test_no_history_goes_out_of_bounds(history: list[bool], usual: float, allowed: int, chance: float) -> None:
    strain = Strain()
    for refused in history:
        strain = strain.refused() if refused else strain.answered()
    assert 1 <= strain.concurrency(allowed) <= allowed
    assert usual <= strain.interval_s(usual) <= max(usual, LONGEST_INTERVAL_S)
    assert timedelta(seconds=1) <= strain.pause(chance) <= LONGEST_PAUSE * 1.5


def crawled(rate: float, burst: int, penalty_s: float, seed: int, pages: int = 60) -> tuple[int, float]:
    """429s and seconds until all pages are there, of a host whose tokens come at `rate` and are lost by refusals."""
    chance = random.Random(seed)
    strain, now, tokens, refused, waiting = Strain(), 0.0, float(burst), 0, pages
    while waiting:
        in_flight = min(strain.concurrency(8), waiting)
        hit = False
        for _ in range(in_flight):
            if tokens >= 1:
                tokens -= 1
                waiting -= 1
                strain = strain.answered()
            else:
                tokens -= penalty_s * rate
                refused += 1
                hit = True
            step = max(strain.interval_s(0.0), 0.001)
            now, tokens = now + step, min(burst, tokens + step * rate)
        if hit:
            strain = strain.refused()
            pause = strain.pause(chance.random()).total_seconds()
            now, tokens = now + pause, min(burst, tokens + pause * rate)
    return refused, now


@pytest.mark.parametrize("seed", range(20))
def test_a_bucket_of_five_in_two_seconds_is_emptied_with_few_refusals(seed: int) -> None:
    refused, seconds = crawled(rate=2.5, burst=5, penalty_s=0.5, seed=seed)
    assert refused <= 3 * 8
    assert seconds < 90
