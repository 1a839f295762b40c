"""Apache with mod_deflate as Debian ships it: it puts `-gzip` into the tag and then never matches that tag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.crawled import HOUR_S, Crawled, answers, asked, each_page, named, seconds_ago
from tests.servers.real_server import RealServer, Served, running
from tests.servers.software import Apache
from tests.servers.story import EDITED, ROLLED_BACK, TOUCHED, WEAK, Story, ToldOfAServer, lived

PAGE = "/guide/step-01.html"
LONG_AGO = "Mon, 05 Jan 2015 10:00:00 GMT"


@pytest.fixture(scope="module")
def apache() -> Iterator[RealServer]:
    with running(Apache()) as server:
        yield server


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, apache: RealServer) -> Story:
    return lived(Crawled(tmp_path_factory.mktemp("suffix"), apache, apache.documents), learning=2)


class TestApacheWithModDeflate(ToldOfAServer):
    """Two visits show the signature; from then on the list `"x-gzip", "x"` brings 304s."""

    @staticmethod
    def is_retrial(entry: Served) -> bool:
        return entry.etag is not None and entry.etag.endswith('-gzip"') and ", " not in entry.etag

    def test_two_visits_teach_what_the_server_does(self, story: Story) -> None:
        for visit in story.learning:
            assert answers(visit) == each_page(200)
            for entry in visit:
                assert entry.etag is not None
                assert entry.etag == entry.etag_sent
                assert entry.etag.endswith('-gzip"')

    def test_from_then_on_the_tag_without_the_suffix_is_among_those_sent(self, story: Story) -> None:
        for visit in (story.quiet, story.changed, story.same_second, story.calm):
            for entry in visit:
                if entry.status == 304:
                    assert entry.etag is not None
                    assert entry.etag_sent in entry.etag.split(", "), "the server confirms the tag without its suffix"

    def test_what_was_fetched_anew_is_confirmed_the_next_time(self, story: Story) -> None:
        for path in (EDITED, TOUCHED, ROLLED_BACK):
            assert answers(story.changed)[path] == [200]
            (again,) = asked(story.same_second, path)
            assert again.status == (200 if self.is_retrial(again) else 304)

    def test_the_verdict_names_the_suffix(self, story: Story) -> None:
        host = story.crawled.host
        assert host["mode"] == "suffix_list"
        assert "matches as it came (SUFFIX); it is sent with and without" in host["verdict"]
        assert "its Server header says Apache" in host["verdict"]
        assert named(host["verdict"]) == {"SUFFIX", "AND", "ONE-TAG"}


def test_the_tag_with_the_suffix_spoils_the_date(apache: RealServer) -> None:
    got = apache.get(PAGE)
    bare = got.etag.replace("-gzip", "")
    date = got.headers["last-modified"]
    assert apache.get(PAGE, If_None_Match=got.etag, If_Modified_Since=date).status == 200
    assert apache.get(PAGE, If_Modified_Since=date).status == 304
    assert apache.get(PAGE, If_None_Match=f"{got.etag}, {bare}", If_Modified_Since=date).status == 304
    assert apache.get(PAGE, If_None_Match=bare, If_Modified_Since=LONG_AGO).status == 200, "both have to agree"


def test_with_deflate_alter_etag_no_change_nothing_has_to_be_learnt(tmp_path: Path) -> None:
    with running(Apache("NoChange")) as server:
        crawled = Crawled(tmp_path, server, server.documents)
        crawled.visit()
        assert answers(crawled.visit()) == each_page(304)
        server.documents.write(EDITED, "other", seconds_ago(HOUR_S))
        server.documents.write(WEAK, "early", seconds_ago(3))
        crawled.visit()
        assert crawled.events() == [("changed", EDITED), ("changed", WEAK)]
        crawled.visit()
        assert crawled.events() == []
        assert crawled.host["mode"] == "both"
        assert "-gzip" not in crawled.verdict


def test_the_retrials_do_not_make_the_list_look_useless(tmp_path: Path) -> None:
    with running(Apache()) as server:
        paths = [f"/shop/lamp-{n:03}.html" for n in range(80)]
        server.documents.fill(server.base_url, ["/", *paths])
        crawled = Crawled(tmp_path, server, server.documents)
        for _ in range(3):
            crawled.visit()
        retried = [[entry for entry in crawled.visit() if entry.status == 200] for _ in range(3)]
        assert sum(bool(visit) for visit in retried) >= 2, "one page in twenty is asked with the tag as it came"
        assert all(TestApacheWithModDeflate.is_retrial(entry) for visit in retried for entry in visit)
        assert crawled.host["mode"] == "suffix_list"
        server.documents.write(paths[7], "older", server.documents.made_at - HOUR_S)
        crawled.visit()
        assert crawled.events() == [("changed", paths[7])], "the date alone would not show a file that was set back"
