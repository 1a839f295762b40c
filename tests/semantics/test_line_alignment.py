"""Which lines two texts have in common, small and large."""

from __future__ import annotations

import random
import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.line_alignment import CELL_LIMIT, LINE_LIMIT, changed_blocks, matched_pairs

LINES = st.lists(st.sampled_from("abcd"), max_size=12)


@given(LINES, LINES)
def test_matched_lines_are_equal_and_rise_in_both_texts(old: list[str], new: list[str]) -> None:
    pairs = matched_pairs(old, new)
    assert all(old[i] == new[j] for i, j in pairs)
    assert all(i < next_i and j < next_j for (i, j), (next_i, next_j) in pairwise(pairs))


@given(LINES, LINES)
def test_a_line_is_either_matched_or_in_a_changed_block(old: list[str], new: list[str]) -> None:
    pairs, blocks = matched_pairs(old, new), changed_blocks(old, new)
    old_changed = [at for block in blocks for at in range(block.old_start, block.old_end)]
    new_changed = [at for block in blocks for at in range(block.new_start, block.new_end)]
    assert sorted([*old_changed, *(i for i, _ in pairs)]) == list(range(len(old)))
    assert sorted([*new_changed, *(j for _, j in pairs)]) == list(range(len(new)))


def with_landmarks(seed: int, size: int, landmarks: list[str]) -> list[str]:
    draw = random.Random(seed)
    every = size // len(landmarks)
    return [landmarks[at // every] if at % every == 0 else draw.choice("abcdefgh") for at in range(size)]


def test_texts_too_large_to_align_whole_are_cut_at_lines_that_occur_once() -> None:
    size = 12_000
    landmarks = [f"chapter {number}" for number in range(120)]
    old, new = with_landmarks(1, size, landmarks), with_landmarks(2, size, landmarks)
    assert size * size > CELL_LIMIT
    pairs = matched_pairs(old, new)
    assert set(landmarks) <= {old[i] for i, _ in pairs}
    assert len(pairs) > size / 3
    assert all(old[i] == new[j] for i, j in pairs)
    assert all(i < next_i and j < next_j for (i, j), (next_i, next_j) in pairwise(pairs))


def test_landmarks_that_changed_places_are_matched_as_far_as_they_keep_their_order() -> None:
    landmarks = [f"chapter {number}" for number in range(120)]
    swapped = [*landmarks[60:], *landmarks[:60]]
    pairs = matched_pairs(with_landmarks(1, 12_000, landmarks), with_landmarks(2, 12_000, swapped))
    assert len(pairs) > 2_000
    assert all(i < next_i and j < next_j for (i, j), (next_i, next_j) in pairwise(pairs))


def test_texts_beyond_the_limit_of_lines_have_only_their_ends_in_common() -> None:
    old = ["same", *(f"old {number}" for number in range(LINE_LIMIT // 2)), "middle", "old", "same"]
    new = ["same", *(f"new {number}" for number in range(LINE_LIMIT // 2)), "middle", "new", "same"]
    assert len(matched_pairs(old, new)) == 2


def test_lines_that_repeat_often_are_matched_in_time() -> None:
    old, new = ["x"] * 490 + ["y"], ["z"] + ["x", "y"] * 245
    started = time.monotonic()
    assert len(matched_pairs(old, new)) == 246
    assert time.monotonic() - started < 1
