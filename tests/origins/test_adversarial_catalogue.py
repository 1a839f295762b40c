"""The catalogue is complete and consistent, and the documentation shows all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from incremental_crawl.origin.adversarial import BY_NAME, CATALOGUE, ROUNDS, Behaviour, Kind
from incremental_crawl.origin.adversarial.expectations import Rounds
from incremental_crawl.origin.adversarial.listing import TITLES, markdown, told
from incremental_crawl.semantics.outcome import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "adversarial-origin.md"
each = pytest.mark.parametrize("behaviour", CATALOGUE, ids=lambda behaviour: behaviour.name)


def test_there_are_many_behaviours_of_every_kind_and_no_name_twice() -> None:
    assert len(CATALOGUE) == len(BY_NAME) >= 80
    assert {one.kind for one in CATALOGUE} == set(Kind) == set(TITLES)


@each
def test_a_behaviour_says_what_it_does_what_is_right_and_by_whose_word(behaviour: Behaviour) -> None:
    for sentence in (behaviour.summary, behaviour.right):
        assert sentence == sentence.strip()
        assert sentence.endswith(".")
    assert behaviour.authority.strip()


@each
def test_a_behaviour_starts_at_pages_that_it_expects_something_of(behaviour: Behaviour) -> None:
    assert behaviour.starts
    assert set(behaviour.starts) | set(behaviour.says) <= set(behaviour.pages)
    hosts = {page.partition(":")[0] if not page.startswith("/") else "" for page in behaviour.pages}
    assert hosts <= ({"", "other"} if behaviour.two_hosts else {""})


@each
def test_an_outcome_is_declared_for_every_round(behaviour: Behaviour) -> None:
    assert len(behaviour.outcomes) == ROUNDS
    assert {word for outcome in behaviour.outcomes for word in outcome.split("|")} <= set(Outcome)


@each
def test_a_behaviour_proves_that_an_edit_or_an_end_is_found(behaviour: Behaviour) -> None:
    if behaviour.name == "always-304":
        return
    assert any(len(set(track.words)) > 1 for track in behaviour.pages.values())


def test_the_documentation_shows_the_catalogue_as_it_is() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.partition("## The behaviours\n")[2].endswith(markdown(CATALOGUE)), (
        "run `incremental-crawl origin --list --markdown` and replace the tables"
    )


def test_outcomes_are_told_in_few_words() -> None:
    assert told(("new", "not_modified", "not_modified", "error|empty")) == "new, not_modified ×2, error or empty"


def test_a_track_is_read_word_by_word_and_its_last_word_stays() -> None:
    track = Rounds.parse("v1 a.v2? gone|-")
    assert [track.word(number) for number in (0, 1, 2, 5)] == ["v1", "a.v2?", "gone|-", "gone|-"]
    [second] = track.at(1)
    assert (second.version, second.page, second.event_open) == ("v2", "a", True)
    assert [one.ends for one in track.at(4)] == ["gone", None]


@pytest.mark.parametrize("text", ["", "v1 away", "v", "v1 " * (ROUNDS + 1)])
def test_a_word_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"words|word"):
        Rounds.parse(text)


def test_outcomes_follow_from_the_usual_tracks() -> None:
    assert Rounds.parse("v1 v1 v1 v2").outcomes() == (
        "new", "not_modified", "not_modified", "changed", "not_modified", "not_modified",
    )  # fmt: skip
    assert Rounds.parse("v1 gone v2 moved").outcomes() == ("new", "gone", "restored", "moved", "moved", "moved")
