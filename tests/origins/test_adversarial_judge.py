"""The judge finds what is wrong with what was held, with what was reported and with what was asked."""

from __future__ import annotations

import pytest

from incremental_crawl.origin.adversarial import Behaviour, Kept, Kind, Logged, judge
from incremental_crawl.origin.adversarial.behaviour import Check, Declaring
from incremental_crawl.origin.adversarial.checks import (
    at_most,
    bounded,
    earned,
    earned_once,
    few_robots_requests,
    never,
    no_cookie_at_first,
    requested,
    spaced,
    unconditional,
    verbatim,
)
from incremental_crawl.origin.adversarial.say import END, marker


def declared(track: str, page: str = "/page", says: str = "") -> Behaviour:
    declaring = Declaring(Kind.NOISE)
    declaring.add("made", lambda _: b"", "A.", "B.", "C", {page: track}, says={page: says} if says else {})
    return declaring.made[0]


def held(version: str | None, *events: str, page: str = "/page", more: str = "") -> Kept:
    text = None if version is None else f"<p>{marker(page, version)}</p>{more}<p>{END}</p>"
    return Kept(text, frozenset(events))


def problems(track: str, *rounds: Kept, says: str = "") -> list[str]:
    return judge(declared(track, says=says), [{"/page": one} for one in rounds], ())


RIGHT = [
    ("v1 v1 v2", [held("v1", "new"), held("v1"), held("v2", "changed")]),
    ("v1 gone v1", [held("v1", "new"), held(None, "gone"), held("v1", "restored")]),
    ("v1 moved", [held("v1", "new"), held(None, "moved")]),
    ("- v1", [held(None), held("v1", "new")]),
    ("v1 v1|v2 v2", [held("v1", "new"), held("v2", "changed"), held("v2")]),
    ("v1 v1|v2 v2", [held("v1", "new"), held("v1"), held("v2", "changed")]),
    ("- v1?", [held(None), held("v1")]),
    ("a.v1 b.v1", [held("v1", "new", page="/a"), held("v1", "changed", page="/b")]),
    ("v1 v2", [Kept(held("v1").text, None), Kept(held("v2").text, None)]),
]


@pytest.mark.parametrize(("track", "rounds"), RIGHT)
def test_what_is_right_has_no_problem(track: str, rounds: list[Kept]) -> None:
    assert problems(track, *rounds) == []


WRONG = [
    ("v1", [held("v2", "new")], "v2 of /page is held, right is v1"),
    ("v1", [held(None)], "nothing is held, right is v1"),
    ("v1", [held("v1")], "nothing was reported, right is new"),
    ("v1 v1", [held("v1", "new"), held("v1", "changed")], "changed was reported, right is nothing"),
    ("v1 v2", [held("v1", "new"), held("v2", "new")], "new was reported, right is changed"),
    ("v1 gone", [held("v1", "new"), held(None)], "nothing was reported, right is gone"),
    ("v1 gone v1", [held("v1", "new"), held(None, "gone"), held("v1", "new")], "new was reported"),
    ("v1", [held("v1", "new", page="/other")], "v1 of /other is held"),
    ("v1", [Kept("", frozenset({"new"}))], "no page of this behaviour"),
    ("v1", [Kept(marker("/page", "v1"), frozenset({"new"}))], "only a part of the page"),
    ("v1", [held("v1", "new", more=marker("/page", "v2"))], "a mixture of pages"),
]


@pytest.mark.parametrize(("track", "rounds", "sentence"), WRONG)
def test_what_is_wrong_is_said(track: str, rounds: list[Kept], sentence: str) -> None:
    [problem] = problems(track, *rounds)
    assert sentence in problem


def test_a_page_that_must_say_something_is_read_for_it() -> None:
    assert problems("v1", held("v1", "new", more="café"), says="café") == []
    [problem] = problems("v1", held("v1", "new", more="cafÃ©"), says="café")
    assert "does not say 'café'" in problem


def asked(
    number: int,
    page: str = "/page",
    status: int = 200,
    fields: tuple[tuple[str, str], ...] = (),
    etags: tuple[str, ...] = (),
    given_up: bool = False,
    at: float = 0.0,
) -> Logged:
    return Logged(
        "made", "", number, "GET", page, fields, 1, at, status, 10, 20, given_up=given_up, etags=etags, dates=("D",)
    )


TAG, OTHER = (("if-none-match", '"a"'),), (("if-none-match", '"b"'),)
SINCE = (("if-modified-since", "D"),)
COOKIE = (("cookie", "seen=1"),)
FIRST = asked(0, etags=('"a"',))
CHECKS: list[tuple[Check, list[Logged], list[Logged]]] = [
    (earned(1), [FIRST, asked(1, status=304, fields=TAG)], [FIRST, asked(1, status=304)]),
    (earned_once(1, 2), [asked(2, status=304, fields=TAG)], [asked(3, status=304, fields=TAG)]),
    (verbatim(), [FIRST, asked(1, fields=TAG)], [FIRST, asked(1, fields=OTHER)]),
    (verbatim(), [FIRST, asked(1, fields=(("if-none-match", '"a", "x"'),))], [asked(0, fields=TAG)]),
    (verbatim(), [FIRST, asked(1, fields=SINCE)], [asked(0, fields=SINCE)]),
    (unconditional("/page"), [asked(1)], [asked(1, fields=TAG)]),
    (never("/secret"), [asked(1)], [asked(1, "/secret")]),
    (requested("/page", 2), [asked(2)], [asked(1)]),
    (at_most(1), [asked(1), asked(1, "/robots.txt")], [asked(1), asked(1)]),
    (few_robots_requests(1), [asked(1, "/robots.txt")], [asked(1, "/robots.txt"), asked(1, "/robots-2")]),
    (bounded(1), [asked(1, given_up=True)], [asked(1)]),
    (bounded(1, most_bytes=20), [asked(1, given_up=True)], [asked(1)]),
    (no_cookie_at_first("/page"), [asked(1), asked(1, fields=COOKIE)], [asked(1, fields=COOKIE)]),
    (spaced(1.0, "/page"), [asked(1, at=0.0), asked(1, at=1.5)], [asked(1, at=0.0), asked(1, at=0.4)]),
]  # fmt: skip


@pytest.mark.parametrize(("check", "right", "wrong"), CHECKS)
def test_a_check_tells_right_requests_from_wrong_ones(check: Check, right: list[Logged], wrong: list[Logged]) -> None:
    assert list(check(tuple(right))) == []
    assert list(check(tuple(wrong))) != []
