"""What a mask learns from two loads of one moment, and what it must never hide."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.semantics.noise import Mask, apply, learn, shared

CONTENT = [f"content line {word}" for word in "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()]
BODY, SIDE, LIST, CARD = (container << 32 | container for container in (1, 2, 3, 4))

Placed = list[tuple[str, int]]


def content(lines: Sequence[str] = CONTENT) -> Placed:
    return [(line, BODY) for line in lines]


def masked(mask: Mask, load: Placed) -> list[str]:
    return apply(mask, [line for line, _ in load], [path for _, path in load])


def learnt(first: Placed, second: Placed, known: Mask | None = None) -> Mask:
    lines, paths = [line for line, _ in first], [path for _, path in first]
    return learn(lines, paths, [line for line, _ in second], [path for _, path in second], known)


def test_equal_loads_teach_nothing() -> None:
    assert learnt(content(), content()).is_empty


def test_a_rotating_list_is_noise_even_where_both_loads_share_entries() -> None:
    def load(*numbers: int) -> Placed:
        return content() + [(f"entry {chr(97 + number)}", LIST) for number in numbers]

    mask = learnt(load(1, 2, 3, 4, 5), load(9, 1, 8, 3, 7))
    assert masked(mask, load(11, 12, 13, 14, 15)) == CONTENT


def test_a_shuffled_list_keeps_its_entries() -> None:
    def load(text: str) -> Placed:
        return [(word, SIDE) for word in text.split()] + content()

    mask = learnt(load("home news shop help"), load("shop home help news"))
    assert masked(mask, load("help shop news home")) == masked(mask, load("home news shop help"))
    assert masked(mask, load("help shop news about")) != masked(mask, load("home news shop help"))


def test_only_the_changing_word_of_a_line_is_masked() -> None:
    def load(visitor: int, price: str) -> Placed:
        return [*content(), (f"Visitor {visitor} pays {price} today", SIDE)]

    mask = learnt(load(17, "12.50"), load(4242, "12.50"))
    assert masked(mask, load(99, "12.50")) == masked(mask, load(17, "12.50"))
    assert masked(mask, load(99, "13.50")) != masked(mask, load(17, "12.50"))


def test_a_rotating_paragraph_among_content_is_masked_by_its_neighbours() -> None:
    def load(quote: str, lines: Sequence[str] = CONTENT) -> Placed:
        return content([*lines[:4], quote, *lines[4:]])

    mask = learnt(load("to be or not"), load("all the world"))
    assert masked(mask, load("my kingdom for a horse")) == CONTENT


@pytest.mark.parametrize("place", [3, 4, 5])
def test_a_line_inserted_beside_a_rotating_paragraph_is_seen_under_the_old_mask(place: int) -> None:
    def load(quote: str) -> Placed:
        return content([*CONTENT[:4], quote, *CONTENT[4:]])

    old = load("to be or not")
    mask = learnt(old, load("all the world"))
    edited = load("my kingdom")
    edited.insert(place, ("inserted line", BODY))
    assert masked(mask, edited) != masked(mask, old)


def test_a_line_that_is_there_on_some_loads_only_is_masked() -> None:
    banner = [*content()[:6], ("Summer sale", SIDE), *content()[6:]]
    mask = learnt(content(), banner)
    assert masked(mask, banner) == masked(mask, content()) == CONTENT


def test_an_edit_in_place_of_an_optional_line_is_seen() -> None:
    banner = [*content()[:6], ("Summer sale", SIDE), *content()[6:]]
    mask = learnt(content(), banner)
    edited = [*content()[:6], ("one sentence more", BODY), *content()[6:]]
    assert masked(mask, edited) != CONTENT


def test_repeated_neighbours_do_not_spread_a_gap_over_the_page() -> None:
    def load(second: str, values: Sequence[str] = ("eggs", "milk", "bread")) -> Placed:
        rows = [values[0], second, values[2]]
        return content([part for row in rows for part in ("Name", row, "Buy now")])

    old = load("tea leaves")
    mask = learnt(old, load("coffee beans"))
    assert masked(mask, load("cocoa")) == masked(mask, old)
    assert masked(mask, load("cocoa", ("eggs", "milk", "butter"))) != masked(mask, old)


def test_a_paragraph_that_stays_among_three_that_change_is_not_hidden() -> None:
    def load(stays: str, *changing: str) -> Placed:
        return content([changing[0], stays, changing[1], stays + " indeed", changing[2], stays + " at last"])

    old = load("the price is ten", "one quote", "two quote", "three quote")
    new = load("the price is nine", "four words", "five words", "six words")
    mask = learnt(new, load("the price is nine", "seven signs", "eight signs", "nine signs"))
    assert masked(mask, old) != masked(mask, new)


def test_a_template_never_hides_a_line_that_stayed() -> None:
    def load(counter: int, fixed: int) -> Placed:
        return [(f"{fixed} items", LIST), (f"{counter} items", LIST), *content()]

    mask = learnt(load(5, 70), load(6, 70))
    assert masked(mask, load(7, 71)) != masked(mask, load(7, 70))


def test_a_second_pair_adds_to_what_is_known() -> None:
    def load(quote: str, lines: Sequence[str] = CONTENT) -> Placed:
        return content([*lines[:4], quote, *lines[4:]])

    first, by_chance, third = load("to be or not"), load("to be or not"), load("all the world")
    mask = learnt(first, by_chance)
    assert mask.is_empty
    mask = learnt(first, third, mask)
    assert masked(mask, load("my kingdom")) == masked(mask, first)


def test_shared_rules_are_those_of_several_pages_and_never_whole_paths() -> None:
    one = learnt([*content(), ("Visit 12 today", SIDE)], [*content(), ("Visit 13 today", SIDE)])
    listed = learnt([*content(), ("x y", LIST)], [*content(), ("z", LIST)])
    assert listed.paths
    assert shared([one, one, listed, listed, listed], support=3).is_empty
    assert shared([one, one, one], support=3).templates == one.templates


def test_a_mask_survives_its_text() -> None:
    mask = learnt(
        [*content(), ("Visit 12 today", SIDE), ("a b", CARD), ("c d", LIST), ("e f", LIST)],
        [("quote", BODY), *content(), ("Visit 13 today", SIDE), ("x", CARD), ("e f", LIST), ("c d", LIST)],
    )
    assert mask.templates
    assert mask.gaps
    assert mask.unordered
    assert Mask.from_json(mask.to_json()) == mask
    assert Mask.from_json(None) == Mask.from_json("") == Mask()


def test_lines_without_their_paths_are_refused() -> None:
    with pytest.raises(ValueError, match="each line needs its path"):
        apply(Mask(), ["one"], [])


def test_masks_stay_small_however_often_they_grow() -> None:
    mask = Mask()
    for number in range(600):
        lines = [f"left {number}", f"right {number}"]
        mask = mask.union(learnt(content([lines[0], "one of", lines[1]]), content([lines[0], "other", lines[1]])))
    assert len(mask.gaps) <= 256
    assert len(mask.to_json()) < 30_000


def test_large_loads_without_anything_in_common_are_learnt_in_time() -> None:
    draw = random.Random(1)
    first, second = (
        [(draw.choice(("yes", "no", f"line {draw.random()}")), BODY) for _ in range(20_000)] for _ in range(2)
    )
    started = time.monotonic()
    learnt(first, second)
    assert time.monotonic() - started < 5


PATHS = st.sampled_from((BODY, SIDE, LIST, CARD))
WORDS = {f"noise {word}": (BODY, SIDE, LIST, CARD)[index % 4] for index, word in enumerate("abcdefghijkl")}
noise = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from(sorted(WORDS))), max_size=6, unique_by=lambda item: item[1]
)


def with_noise(lines: Placed, inserted: list[tuple[int, str]]) -> Placed:
    load = list(lines)
    for place, line in inserted:
        load.insert(place, (line, WORDS[line]))
    return load


@settings(max_examples=300, deadline=None)
@given(st.lists(PATHS, max_size=8), noise, noise)
def test_both_loads_of_a_pair_read_the_same_under_its_mask(
    paths: list[int], inserted: list[tuple[int, str]], other: list[tuple[int, str]]
) -> None:
    stable = list(zip(CONTENT, paths, strict=False))
    first, second = with_noise(stable, inserted), with_noise(stable, other)
    mask = learnt(first, second)
    assert masked(mask, first) == masked(mask, second)
    assert learnt(first, second, mask) == mask


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 9), st.integers(0, 10_000), st.sampled_from(("change", "insert", "delete")))
def test_an_edit_outside_noise_is_never_hidden(place: int, seed: int, kind: str) -> None:
    draw = random.Random(seed)

    def load(lines: Sequence[str]) -> Placed:
        entries = [(f"entry {chr(97 + number)}", LIST) for number in draw.sample(range(20), 5)]
        quote = [(" ".join(draw.sample(CONTENT, 3)), BODY)]
        return content(lines[:5]) + quote + content(lines[5:]) + entries + [(f"Visit {draw.random()}", SIDE)]

    edited = list(CONTENT)
    edited[place : place + (kind != "insert")] = [] if kind == "delete" else ["something else"]
    old, old_again, new, new_again = load(CONTENT), load(CONTENT), load(edited), load(edited)
    mask = learnt(old, old_again)
    assert masked(mask, old) != masked(mask, new)
    mask = learnt(new, new_again, mask)
    assert masked(mask, old) != masked(mask, new)
