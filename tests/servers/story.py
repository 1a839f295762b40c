"""One life of a site on a real server, and what has to be true of it whatever the server is."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tests.servers.crawled import HOUR_S, Crawled, answers, asked, seconds_ago
from tests.servers.document_root import PATHS, text_of
from tests.servers.real_server import Served

EDITED, TOUCHED, ROLLED_BACK, WEAK = (
    "/guide/step-02.html",
    "/guide/step-03.html",
    "/shop/lamp-01.html",
    "/shop/lamp-02.html",
)


@dataclass
class Story:
    """The requests of the visits, by what happened before each of them."""

    crawled: Crawled
    first: list[Served]
    learning: list[list[Served]]
    quiet: list[Served]
    changed: list[Served]
    same_second: list[Served]
    calm: list[Served]

    @property
    def number_of_changed(self) -> int:
        """The number of the visit `changed`; the later ones follow it."""
        return len(self.crawled.visits) - 2


def lived(crawled: Crawled, learning: int = 0, settle_s: float = 0.0) -> Story:
    """The whole story. `learning` visits are quiet ones in which the server is found out.

    `settle_s` is how long a cache before the documents may go on serving the old ones.
    """
    documents = crawled.documents
    first = crawled.visit()
    learnt = [crawled.visit() for _ in range(learning)]
    quiet = crawled.visit()

    documents.write(EDITED, "other", seconds_ago(HOUR_S))
    documents.touch(TOUCHED, seconds_ago(2 * HOUR_S))
    documents.write(ROLLED_BACK, "older", documents.made_at - 48 * HOUR_S)
    second = seconds_ago(3)
    documents.write(WEAK, "early", second)
    time.sleep(settle_s)
    changed = crawled.visit()

    documents.write(WEAK, "later", second)
    time.sleep(settle_s)
    same_second = crawled.visit()
    time.sleep(settle_s)
    return Story(crawled, first, learnt, quiet, changed, same_second, crawled.visit())


class ToldOfAServer:
    """What holds on every server. The module of a subclass has a fixture `story`."""

    @staticmethod
    def is_retrial(entry: Served) -> bool:
        """Whether a request tried what the server is known not to honour, to see whether it does by now."""
        return False

    def test_every_page_is_asked_once_per_visit(self, story: Story) -> None:
        for visit in story.crawled.visits:
            assert {path: len(statuses) for path, statuses in answers(visit).items()} == dict.fromkeys(PATHS, 1)
            assert {entry.method for entry in visit} == {"GET"}

    def test_quiet_revisits_are_304s_without_a_body(self, story: Story) -> None:
        for visit, weak in ((story.quiet, ()), (story.same_second, (WEAK,)), (story.calm, (WEAK,))):
            asked_again = [entry for entry in visit if entry.path not in weak]
            assert all(entry.conditional for entry in asked_again)
            bodies = [entry for entry in asked_again if (entry.status, entry.body_bytes) != (304, 0)]
            assert [entry for entry in bodies if not self.is_retrial(entry)] == []
            assert len(bodies) <= len(PATHS) / 2, "one page in twenty is a retrial"

    def test_each_edit_is_told_exactly_once(self, story: Story) -> None:
        crawled, visit = story.crawled, story.number_of_changed
        for quiet in range(2, visit):
            assert crawled.events(quiet) == []
        assert crawled.events(visit) == [("changed", EDITED), ("changed", ROLLED_BACK), ("changed", WEAK)]
        assert crawled.events(visit + 2) == []

    def test_an_edit_of_the_same_second_and_size_is_told_exactly_once(self, story: Story) -> None:
        assert len(text_of(WEAK, "early")) == len(text_of(WEAK, "later"))
        assert story.crawled.events(story.number_of_changed + 1) == [("changed", WEAK)]
        assert story.crawled.word(WEAK) == "later"
        for visit in (story.same_second, story.calm):
            assert [entry.conditional for entry in asked(visit, WEAK)] == [False], (
                "a date of this minute proves nothing"
            )

    def test_a_touch_costs_one_body_and_is_no_event(self, story: Story) -> None:
        assert answers(story.changed)[TOUCHED] == [200]
        assert story.crawled.word(TOUCHED) == "first"
        assert asked(story.same_second, TOUCHED)[0].last_modified != asked(story.changed, TOUCHED)[0].last_modified

    def test_a_roll_back_is_found_although_its_date_is_older(self, story: Story) -> None:
        assert answers(story.changed)[ROLLED_BACK] == [200]
        assert story.crawled.word(ROLLED_BACK) == "older"

    def test_conditions_are_single_and_come_from_one_answer(self, story: Story) -> None:
        for visit in story.crawled.visits:
            for entry in visit:
                assert (entry.etag is None) == (entry.last_modified is None)
