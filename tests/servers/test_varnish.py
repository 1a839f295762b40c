"""Varnish before an nginx with gzip: two spellings of a tag, no lists, and answers that are older than the request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.crawled import HOUR_S, Crawled, answers, asked, each_page, named, seconds_ago
from tests.servers.real_server import RealServer, running
from tests.servers.software import Nginx, Varnish
from tests.servers.story import EDITED, Story, ToldOfAServer, lived

PAGE = "/guide/step-01.html"
TTL_S = 0.1


@pytest.fixture(scope="module")
def nginx() -> Iterator[RealServer]:
    with running(Nginx()) as server:
        yield server


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, nginx: RealServer) -> Iterator[Story]:
    with running(Varnish(nginx.port, TTL_S)) as varnish:
        nginx.documents.fill(varnish.base_url)
        yield lived(Crawled(tmp_path_factory.mktemp("varnish"), varnish, nginx.documents), settle_s=2 * TTL_S)


class TestVarnishBeforeNginx(ToldOfAServer):
    """Answers come from the cache or through it; the crawler cannot tell and need not."""

    def test_the_host_is_believed(self, story: Story) -> None:
        host = story.crawled.host
        assert (host["mode"], host["etag_trusted"], host["last_modified_trusted"]) == ("both", True, True)
        assert "honoured" in host["verdict"]

    def test_the_verdict_names_the_cache_and_the_server_behind_it(self, story: Story) -> None:
        assert "its Via header says Varnish" in story.crawled.verdict
        assert "its Server header says nginx" in story.crawled.verdict
        assert {"CACHE", "FLIP", "NOLIST", "AND", "EXACT", "2LINES"} == named(story.crawled.verdict)

    def test_one_tag_is_sent_and_never_a_list(self, story: Story) -> None:
        for visit in story.crawled.visits:
            assert not [entry for entry in visit if entry.etag is not None and ", " in entry.etag]


def test_a_tag_that_is_spelt_by_who_asked_before_has_not_changed(tmp_path: Path, nginx: RealServer) -> None:
    """An object that nginx has confirmed takes over the strong tag of nginx's 304."""
    with running(Varnish(nginx.port, TTL_S, keep_s=3600)) as varnish:
        nginx.documents.fill(varnish.base_url)
        crawled = Crawled(tmp_path, varnish, nginx.documents)
        spellings = []
        for _ in range(3):
            visit = crawled.visit()
            spellings.append({entry.etag_sent for entry in asked(visit, PAGE)})
            time.sleep(2 * TTL_S)
        (first,), (second,), _ = spellings
        assert first == f"W/{second}", "otherwise this cache does not flip any more"
        assert varnish.get(PAGE, Accept_Encoding="identity").etag == first
        assert answers(crawled.visits[1]) == answers(crawled.visits[2]) == each_page(304)
        assert (crawled.host["mode"], crawled.host["etag_trusted"]) == ("both", True)
        assert "only in W/, which is no change (FLIP)" in crawled.verdict
        nginx.documents.write(EDITED, "other", seconds_ago(HOUR_S))
        crawled.visit()
        assert crawled.events() == [("changed", EDITED)]


def test_lists_of_tags_match_nothing(tmp_path: Path, nginx: RealServer) -> None:
    with running(Varnish(nginx.port, ttl_s=60)) as varnish:
        tag = varnish.get(PAGE).etag
        assert varnish.get(PAGE, If_None_Match=tag).status == 304
        assert varnish.get(PAGE, If_None_Match=f'{tag}, "other"').status == 200
        assert varnish.get(PAGE, If_None_Match=tag.removeprefix("W/")).status == 304
