"""lighttpd with mod_deflate: other tags for HEAD, lists of tags that match only by luck, a memory for files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from incremental_crawl.semantics.head_requests import head_disagreement
from tests.servers.crawled import HOUR_S, Crawled, answers, each_page, named, seconds_ago
from tests.servers.real_server import RealServer, running
from tests.servers.software import Lighttpd
from tests.servers.story import EDITED, Story, ToldOfAServer, lived

PAGE = "/guide/step-01.html"


@pytest.fixture(scope="module")
def lighttpd() -> Iterator[RealServer]:
    with running(Lighttpd()) as server:
        yield server


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, lighttpd: RealServer) -> Story:
    return lived(Crawled(tmp_path_factory.mktemp("lighttpd"), lighttpd, lighttpd.documents))


class TestLighttpdWithModDeflate(ToldOfAServer):
    """It honours the very tag it sent."""

    def test_one_tag_is_sent_and_never_a_list(self, story: Story) -> None:
        for visit in story.crawled.visits:
            assert not [entry for entry in visit if entry.etag is not None and ", " in entry.etag]

    def test_the_host_is_believed(self, story: Story) -> None:
        host = story.crawled.host
        assert (host["mode"], host["etag_trusted"], host["last_modified_trusted"]) == ("both", True, True)
        assert "honoured" in host["verdict"]

    def test_the_verdict_names_what_is_never_provoked(self, story: Story) -> None:
        assert "its Server header says lighttpd" in story.crawled.verdict
        assert named(story.crawled.verdict) == {"LIST", "STAT", "HEAD"}


def test_a_list_matches_by_its_first_tag_or_by_the_bare_one(lighttpd: RealServer) -> None:
    tag = lighttpd.get(PAGE).etag
    bare = tag.replace("-gzip", "")
    assert lighttpd.get(PAGE, If_None_Match=tag).status == 304
    assert lighttpd.get(PAGE, If_None_Match=f'"other", {tag}').status == 200
    assert lighttpd.get(PAGE, If_None_Match=f"W/{tag}").status == 200
    assert lighttpd.get(PAGE, If_None_Match=f"{tag}, {bare}").status == 304


def test_head_has_another_tag_than_get_which_is_called_a_disagreement(lighttpd: RealServer) -> None:
    got, head = lighttpd.get(PAGE), lighttpd.get(PAGE, "HEAD")
    assert got.etag.replace("-gzip", "") == head.etag != got.etag
    assert lighttpd.get(PAGE, If_None_Match=got.etag).status == 304
    assert lighttpd.get(PAGE, "HEAD", If_None_Match=got.etag).status == 200, "a sweep by HEAD sees nothing but changes"
    fields, head_fields = tuple(got.headers.items()), tuple(head.headers.items())
    assert head_disagreement((200, fields), (200, head_fields)) == f"HEAD says etag {head.etag}, GET {got.etag}"


def test_an_edit_is_told_once_though_the_server_answers_for_the_old_file_for_a_while(tmp_path: Path) -> None:
    """The first answers after an edit may be of the old file: then the next visit tells of it."""
    with running(Lighttpd(stat_cache=True)) as server:
        crawled = Crawled(tmp_path, server, server.documents)
        crawled.visit()
        assert answers(crawled.visit()) == each_page(304)
        assert any(_answers_for_the_old_file(server) for _ in range(10)), "this server remembers no files any more"
        crawled.visit()
        time.sleep(1)
        crawled.visit()
        crawled.visit()
        told = [event for visit in range(2, 6) for event in crawled.events(visit)]
        assert told == [("changed", EDITED)]
        assert crawled.word(EDITED) == "other"
        assert answers(crawled.visits[-1]) == each_page(304)


def _answers_for_the_old_file(server: RealServer) -> bool:
    """Edit, and see whether the old tag is still confirmed; it is not where a second of its clock begins between."""
    old = server.get(EDITED).etag
    server.documents.write(EDITED, "other", seconds_ago(HOUR_S))
    return server.get(EDITED, If_None_Match=old).status == 304
