"""How far a listing's dates are believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.hints import (
    MIN_JUDGED,
    HintEvidence,
    HintLedger,
    Reading,
    ReadingCounts,
    after_reading,
    learn,
    read_as,
    reliability,
)

PLAIN = HintLedger("r", Reading.PLAIN, entries=100, dated=100)
TRUE = HintEvidence(checked=100, moved=4, changed=4, moved_changed=4)
BY_CHANCE = HintEvidence(checked=100, moved=50, changed=6, moved_changed=3)


COUNTS = ReadingCounts("r", entries=100, dated=100, different=50, future=0, compared=100, moved=3)


@pytest.mark.parametrize(
    ("own", "reading"),
    [
        ({}, Reading.PLAIN),
        ({"dated": 0, "different": 0, "compared": 0, "moved": 0}, Reading.NONE),
        ({"moved": 81}, Reading.STAMP),
        ({"moved": 80}, Reading.PLAIN),
        ({"entries": 19, "dated": 19, "compared": MIN_JUDGED - 1, "moved": 19}, Reading.PLAIN),
        ({"different": 1}, Reading.ALL_EQUAL),
        ({"dated": MIN_JUDGED - 1, "different": 1, "compared": 5}, Reading.PLAIN),
        ({"future": 51}, Reading.FUTURE),
    ],
)
def test_a_reading_is_recognised_by_its_dates(own: dict[str, Any], reading: Reading) -> None:
    assert read_as(replace(COUNTS, **own)) is reading
    assert after_reading(HintLedger("r"), replace(COUNTS, **own)).reading is reading


def test_a_source_that_was_right_comes_first_and_an_unknown_one_is_tried_on_a_few_pages() -> None:
    assert (PLAIN.useful, PLAIN.unproven, PLAIN.weight) == (True, True, 0)
    known = learn(PLAIN, TRUE)
    assert known.weight > 0.8
    assert not known.unproven


def test_a_source_that_was_wrong_is_ignored_until_it_is_right_more_often() -> None:
    known = learn(PLAIN, HintEvidence(checked=100, moved=10))
    assert (known.useful, known.unproven, known.weight) == (False, False, 0)
    assert "0 % of moved lastmods were changes; ignored" in reliability(known)
    for _ in range(12):
        known = learn(known, TRUE)
    assert known.weight > 0.5


def test_dates_that_move_by_chance_count_for_nothing_however_often_they_are_right() -> None:
    known = PLAIN
    for _ in range(30):
        known = learn(known, HintEvidence(checked=100, moved=50, changed=60, moved_changed=30))
    assert known.precision > 0.5
    assert known.weight == 0


@pytest.mark.parametrize("reading", [Reading.STAMP, Reading.ALL_EQUAL, Reading.NONE])
def test_a_reading_that_hints_at_everything_hints_at_nothing_however_good_the_source_was(reading: Reading) -> None:
    known = replace(learn(PLAIN, TRUE), reading=reading)
    assert (known.hints, known.useful, known.weight) == (False, False, 0)


def test_a_visit_that_saw_nothing_move_or_change_forgets_nothing() -> None:
    known = learn(PLAIN, TRUE)
    assert learn(known, HintEvidence(checked=50)).moved == known.moved


def test_reliability_is_told_with_its_figures_once_there_are_some() -> None:
    assert reliability(PLAIN) == "too few checks to say"
    assert reliability(HintLedger("r")) == "no lastmod"
    known = learn(learn(PLAIN, TRUE), replace(TRUE, changed=8))
    assert reliability(known) == "100 % of moved lastmods were changes; 66 % of changes had moved theirs"
    assert "most lie in the future" in reliability(replace(known, reading=Reading.FUTURE))


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 4), max_size=20))
def test_whatever_is_seen_the_figures_stay_shares(visits: list[tuple[int, int, int, int]]) -> None:
    known = PLAIN
    for both, moved, changed, rest in visits:
        known = learn(known, HintEvidence(both + moved + changed + rest, both + moved, both + changed, both))
    assert 0 < known.precision < 1
    assert 0 < known.recall < 1
    assert 0 <= known.weight < 1
    assert not (known.weight and known.unproven)
    assert reliability(known)
