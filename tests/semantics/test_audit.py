"""What is asked about an audited page that differs, in which order, and what the answers come to."""

from __future__ import annotations

import pytest

from incremental_crawl.semantics.audit import MOST_FAILED, STEADY_LOADS, Inquiry, Question, Verdict, begin, weigh
from incremental_crawl.semantics.decision import WHOLE_PAGE, Content, Judgement, differing_places
from incremental_crawl.semantics.noise import Mask
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.site_noise import SiteNoise

BODY, SIDE = 1 << 32 | 1, 2 << 32 | 2
CHANGED = Judgement(Outcome.CHANGED)
SAME, ELSEWHERE, EVERYWHERE = frozenset[int](), frozenset({SIDE}), frozenset({BODY, SIDE})


def suspected(pairs: int = 0) -> Inquiry:
    return begin(CHANGED, frozenset({BODY, SIDE}), pairs)


def repeated(answer: Outcome) -> Inquiry:
    """A page that one load confirmed to differ, after its condition was sent again."""
    return suspected().loaded(SAME).answered(answer)


def test_a_page_that_is_as_it_is_held_is_asked_nothing() -> None:
    assert weigh(begin(Judgement(Outcome.SAME_HASH), SAME, 0)) is Verdict.TRUE
    assert weigh(begin(Judgement(Outcome.REBASELINED), EVERYWHERE, 0)) is Verdict.TRUE


def test_loads_that_contradicted_each_other_before_say_nothing() -> None:
    assert weigh(begin(Judgement(Outcome.RETRY_LATER), SAME, 2)) is Verdict.PUT_OFF


def test_a_page_is_loaded_once_more_before_its_server_is_asked_again() -> None:
    assert weigh(suspected()) is Question.LOAD
    assert weigh(suspected().loaded(SAME)) is Question.CONDITION
    assert weigh(suspected(pairs=1)) is Question.CONDITION


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Outcome.MODIFIED, Verdict.RACE),
        (Outcome.RETRY_LATER, Verdict.PUT_OFF),
        (Outcome.SUSPECT_GONE, Verdict.PUT_OFF),
        (Outcome.NOT_MODIFIED, Question.LOAD),
    ],
)
def test_only_a_second_304_is_followed_up(answer: Outcome, verdict: Verdict | Question) -> None:
    assert weigh(repeated(answer)) is verdict


def test_a_304_is_false_when_a_place_still_differs_after_many_loads() -> None:
    own = repeated(Outcome.NOT_MODIFIED)
    for _ in range(STEADY_LOADS):
        assert weigh(own) is Question.LOAD
        own = own.loaded(ELSEWHERE)
    assert weigh(own) is Verdict.FALSE_304


def test_a_page_with_no_place_left_that_always_differs_accuses_nobody() -> None:
    assert weigh(suspected().loaded(EVERYWHERE)) is Verdict.PUT_OFF
    assert weigh(repeated(Outcome.NOT_MODIFIED).loaded(ELSEWHERE).loaded(frozenset({BODY}))) is Verdict.PUT_OFF


def test_a_few_loads_may_fail() -> None:
    own = suspected()
    for _ in range(MOST_FAILED):
        own = own.loaded(None)
        assert weigh(own) is Question.LOAD
    assert weigh(own.loaded(None)) is Verdict.PUT_OFF


def test_a_page_that_is_spared_accuses_nobody() -> None:
    own = repeated(Outcome.NOT_MODIFIED)
    assert weigh(Inquiry(own.differs, own.places, own.loads, own.repeated, spared=True)) is Verdict.UNPROVEN


def lines(text: str, visitor: int) -> Content:
    return Content(f"{text} {visitor}", f"{text} {visitor}", (text, f"Visitor {visitor}"), (BODY, SIDE))


def test_places_differ_beside_the_noise_that_is_known() -> None:
    noise = SiteNoise()
    assert differing_places(CHANGED, lines("a", 1), lines("b", 2), noise) == EVERYWHERE
    masked = Judgement(Outcome.CHANGED, mask=Mask(paths=frozenset({SIDE})).to_json())
    assert differing_places(masked, lines("a", 1), lines("b", 2), noise) == {BODY}
    assert differing_places(masked, lines("a", 1), lines("a", 2), noise) == frozenset()


def test_declared_fields_are_one_place() -> None:
    old, new = Content("{}", "1"), Content("{}", "2")
    assert differing_places(CHANGED, old, new, SiteNoise()) == {WHOLE_PAGE}
    assert differing_places(CHANGED, old, Content("{ }", "1"), SiteNoise()) == frozenset()
