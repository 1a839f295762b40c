"""The side-by-side measurement: how answers and verdicts become marks, and the page that it wrote."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import conformance
from benchmarks.__main__ import names
from benchmarks.peers.answers import Answer, held
from benchmarks.peers.environment import CONSTRAINTS, ROOT, versions
from benchmarks.peers.peer import PEERS, PeerClient
from benchmarks.peers.scores import HELD, PASSED, WRONG, held_verdicts, read_marks, read_totals, score, tables
from incremental_crawl.origin.adversarial import BY_NAME, AdversarialOrigin, Kept, Verdict, verdicts

PAGE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
HONEST, CLOCK = BY_NAME["both-validators"], BY_NAME["no-validator"]


def test_the_clients_are_no_measurement_of_their_own() -> None:
    assert "conformance" in names()
    assert "peers" not in names()


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        (Answer(200, "text"), {"/a": "text"}),
        (Answer(404, "none"), {"/a": None}),
        (Answer(410, "none"), {"/a": None}),
        (Answer(500, "oh"), {}),
        (Answer(304, ""), {}),
        (Answer(200, "text", ((301, "/b"), (308, "/c"))), {"/a": None, "/c": "text"}),
        (Answer(200, "text", ((302, "/b"), (301, "/c"))), {"/a": "text"}),
        (Answer(200, "text", ((301, "/b"), (307, "/c"))), {"/a": None, "/b": "text"}),
        (Answer(410, "none", ((301, "/b"),)), {"/a": None, "/b": None}),
    ],
)
def test_an_answer_says_what_is_held(answer: Answer, changes: Mapping[str, str | None]) -> None:
    assert held("/a", answer) == changes


class NeverConditional:
    """Holds the right text of every page and never sends a condition; `stuck` never looks again."""

    def __init__(self, origin: AdversarialOrigin, stuck: bool = False) -> None:
        self._origin = origin
        self._stuck = stuck

    def visit(self, urls: Sequence[str]) -> Mapping[str, Kept]:
        version = "v1" if self._stuck or self._origin.round < 3 else "v2"
        return {url: Kept(f"edition:page:{version} Here the page ends.", None) for url in urls}


def _found(origin: AdversarialOrigin, stuck: bool) -> tuple[dict[str, Verdict], dict[str, Verdict]]:
    client = NeverConditional(origin, stuck)
    kept = []
    origin.restart()
    for number in range(6):
        origin.round = number
        kept.append(client.visit([origin.url(one, "/page") for one in origin.behaviours]))
    return verdicts(origin, kept, origin.behaviours), held_verdicts(origin, kept, origin.behaviours)


def test_a_mark_tells_wrong_data_from_a_304_that_was_not_earned() -> None:
    with AdversarialOrigin([HONEST]) as origin:
        assert score("x", "1", *_found(origin, stuck=False)).marks == {HONEST.name: HELD}
        assert score("x", "1", *_found(origin, stuck=True)).marks == {HONEST.name: WRONG}


def test_the_304s_of_a_liar_are_not_honest() -> None:
    liar = next(one for one in BY_NAME.values() if one.audited)
    found = {one.name: Verdict(one, (), 5, 3, 1_000) for one in (HONEST, liar)}
    scored = score("x", "1", found, found)
    assert (scored.honest_304s, scored.body_bytes, scored.requests) == (3, 2_000, 10)
    assert scored.count(PASSED) == 2


def test_what_is_written_can_be_read_back() -> None:
    wrong = Verdict(CLOCK, ("wrong",), 1, 0, 1)
    found = {HONEST.name: Verdict(HONEST, (), 1, 1, 1), CLOCK.name: wrong}
    scores = [
        score("**one**", "1", found, found),
        score("two", "2", found, found | {CLOCK.name: Verdict(CLOCK, (), 1, 0, 1)}),
    ]
    page = "\n".join(tables(scores, [HONEST, CLOCK])) + "\n"
    assert read_totals(page) == {"**one**": (1, 1), "two": (1, 2)}
    assert read_marks(page)["**one**"] == {HONEST.name: PASSED, CLOCK.name: WRONG}
    assert read_marks(page)["two"] == {HONEST.name: PASSED, CLOCK.name: HELD}


def test_the_totals_of_the_page_are_those_of_its_marks() -> None:
    marks = read_marks(PAGE)
    counted = {
        client: (sum(one == PASSED for one in own.values()), sum(one in (PASSED, HELD) for one in own.values()))
        for client, own in marks.items()
    }
    assert read_totals(PAGE) == counted
    assert {*list(marks)[1:]} == {one.title for one in PEERS}


def test_the_page_names_behaviours_of_the_catalogue() -> None:
    for own in read_marks(PAGE).values():
        assert own.keys() <= BY_NAME.keys(), 'make bench ARGS="conformance" writes the page anew'
        assert set(own.values()) <= {PASSED, HELD, WRONG}


def test_every_client_is_pinned_with_hashes_and_no_place_is_named() -> None:
    text = CONSTRAINTS.read_text(encoding="utf-8")
    pinned = versions(text)
    assert {name for one in PEERS for name in one.packages} <= pinned.keys()
    assert not re.search(r"://|^\s*-(?!-hash)|--(?:index|extra|find|trusted)| @ ", text, re.MULTILINE)
    assert len(re.findall("--hash=sha256:", text)) >= len(pinned)


def test_a_client_that_cannot_start_loses_its_visits_and_not_the_run(tmp_path: Path) -> None:
    # This interpreter has none of the other clients: the process ends at its first import.
    client = PeerClient(PEERS[0], Path(sys.executable), tmp_path, lambda: datetime(2026, 5, 1, tzinfo=UTC))
    assert client.visit(["http://127.0.0.1:9/"]) == {}
    assert len(client.lost) == 1


def test_a_client_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance.main(["netscape"]) == 2
    assert "scrapy" in capsys.readouterr().err
