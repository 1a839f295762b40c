"""How many pages and pairs it takes until a page type's noise and content are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.noise import Mask, apply, learn
from incremental_crawl.semantics.noise_mask import Gap, Template
from incremental_crawl.semantics.site_noise import CONTENT_SUPPORT, PATH_SUPPORT, PathEvidence, SiteNoise

BODY, SIDE, LIST = (container << 32 | container for container in (1, 2, 3))
STILL = [("text", BODY)]
ROTATING = Mask(paths=frozenset({LIST}))
SHUFFLED = Mask(unordered=frozenset({LIST}))

Placed = list[tuple[str, int]]


def taught(pairs: int, mask: Mask, first: Placed | None = None, second: Placed | None = None) -> SiteNoise:
    noise = SiteNoise()
    for _ in range(pairs):
        noise.add_loads([first or STILL, second or STILL], mask)
    return noise


@pytest.mark.parametrize("mask", [ROTATING, SHUFFLED])
def test_a_path_is_noise_of_the_type_once_enough_pages_have_learnt_it(mask: Mask) -> None:
    assert taught(PATH_SUPPORT - 1, mask).shared.is_empty
    assert taught(PATH_SUPPORT, mask).shared == mask
    assert PATH_SUPPORT == 5


@pytest.mark.parametrize("mask", [ROTATING, SHUFFLED])
def test_a_path_that_stood_still_in_a_single_pair_is_never_noise_of_the_type(mask: Mask) -> None:
    noise = taught(PATH_SUPPORT, mask, [("a", LIST)], [("b", LIST)])
    assert noise.shared == mask
    noise.add_loads([[("same", LIST)], [("same", LIST)]], Mask())
    assert noise.shared.is_empty


@pytest.mark.parametrize(
    "mask", [Mask(templates=(Template(SIDE, ("Visit ", "")),)), Mask(gaps=(Gap(1, 1, 2, 1, (SIDE,)),))]
)
def test_templates_and_gaps_are_noise_of_the_type_from_three_pages_on(mask: Mask) -> None:
    assert taught(2, mask).shared.is_empty
    assert taught(3, mask).shared == mask


def test_what_is_shared_follows_each_pair() -> None:
    noise = SiteNoise()
    seen = []
    for _ in range(PATH_SUPPORT):
        noise.add_loads([STILL, STILL], ROTATING)
        seen.append(noise.shared.is_empty)
    assert seen == [True] * (PATH_SUPPORT - 1) + [False]


def test_masks_that_were_kept_count_like_those_that_are_learnt() -> None:
    assert SiteNoise([ROTATING] * PATH_SUPPORT).shared == ROTATING
    known = {LIST: PathEvidence(stable=1)}
    assert SiteNoise([ROTATING] * PATH_SUPPORT, known).shared.is_empty


def test_a_place_is_content_once_it_stood_still_in_enough_pairs() -> None:
    assert not taught(CONTENT_SUPPORT - 1, Mask()).is_content([BODY])
    assert taught(CONTENT_SUPPORT, Mask()).is_content([BODY])
    assert CONTENT_SUPPORT == 5


def test_a_place_that_moved_once_is_no_content_however_often_it_stood_still() -> None:
    noise = taught(20, Mask())
    noise.add_loads([[("text", BODY)], [("other", BODY)]], Mask())
    assert not noise.is_content([BODY])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([("a", LIST)], [("b", LIST)]),
        ([("a", LIST)], []),
        ([], [("a", LIST)]),
        ([("a", LIST), ("b", LIST)], [("b", LIST), ("a", LIST)]),
        ([("a", LIST)], [("a", LIST), ("a", LIST)]),
    ],
)
def test_another_line_order_or_number_of_lines_is_movement(first: Placed, second: Placed) -> None:
    noise = taught(CONTENT_SUPPORT, Mask(), [*STILL, *first], [*STILL, *second])
    assert noise.evidence[LIST] == PathEvidence(stable=0, moved=CONTENT_SUPPORT)
    assert noise.evidence[BODY] == PathEvidence(stable=CONTENT_SUPPORT, moved=0)


def test_a_line_that_moves_to_another_path_moves_both() -> None:
    noise = taught(1, Mask(), [("a", LIST)], [("a", SIDE)])
    assert noise.evidence == {LIST: PathEvidence(moved=1), SIDE: PathEvidence(moved=1)}


def test_lines_of_other_paths_in_between_are_no_movement() -> None:
    noise = taught(1, Mask(), [("a", LIST), ("b", LIST)], [("a", LIST), ("new", SIDE), ("b", LIST)])
    assert noise.evidence[LIST] == PathEvidence(stable=1)


def test_all_places_have_to_be_content() -> None:
    noise = taught(CONTENT_SUPPORT, Mask(), [("a", BODY), ("b", SIDE)], [("a", BODY), ("c", SIDE)])
    assert noise.is_content([BODY])
    assert not noise.is_content([BODY, SIDE])
    assert not noise.is_content([BODY, LIST])
    assert not noise.is_content([SIDE])


def test_pairs_are_counted_and_empty_masks_are_not_kept() -> None:
    noise = taught(3, Mask())
    assert (noise.pages, noise.masks) == (3, [])
    noise.add_loads([STILL, STILL], ROTATING)
    assert (noise.pages, noise.masks) == (4, [ROTATING])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=15))
def test_a_place_is_never_content_and_noise_at_once(pairs: list[tuple[bool, bool]]) -> None:
    noise = SiteNoise()
    for moves, learns in pairs:
        noise.add_loads([[("a", LIST)], [("b" if moves else "a", LIST)]], ROTATING if learns else Mask())
    assert not (noise.is_content([LIST]) and LIST in noise.shared.paths)
    still = sum(not moves for moves, _ in pairs)
    assert noise.is_content([LIST]) is (still == len(pairs) >= CONTENT_SUPPORT)


def test_what_pages_share_spares_another_page_its_own_lesson() -> None:
    noise = SiteNoise()
    for page in range(PATH_SUPPORT):
        first = [(f"entry {word} {page}", LIST) for word in ("x", "y", "z")]
        second = [(f"other {word} {page}", LIST) for word in ("x", "y", "z")]
        load, again = [*STILL, *first], [*STILL, *second]
        texts, paths = [line for line, _ in load], [path for _, path in load]
        mask = learn(texts, paths, [line for line, _ in again], [path for _, path in again])
        noise.add_loads([load, again], mask)
    assert apply(noise.shared, ["text", "never seen", "before"], [BODY, LIST, LIST]) == ["text"]
