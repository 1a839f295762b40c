"""nginx as Debian packages it, without gzip; its ways with conditions; filters that drop the validators."""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from incremental_crawl.semantics.audit import STEADY_LOADS
from incremental_crawl.semantics.retry_after import http_date
from tests.servers.crawled import HOUR_S, Crawled, answers, asked, each_page, named, seconds_ago
from tests.servers.document_root import text_of
from tests.servers.real_server import RealServer, running
from tests.servers.software import Nginx
from tests.servers.story import EDITED, TOUCHED, WEAK, Story, ToldOfAServer, lived

PAGE = "/guide/step-01.html"
LONG_AGO = "Mon, 05 Jan 2015 10:00:00 GMT"


@pytest.fixture(scope="module")
def nginx() -> Iterator[RealServer]:
    with running(Nginx()) as server:
        yield server


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with running(Nginx(gzip=False)) as server:
        yield lived(Crawled(tmp_path_factory.mktemp("plain"), server, server.documents))


class TestPlainNginx(ToldOfAServer):
    """One strong tag, no coding."""

    def test_the_host_is_believed(self, story: Story) -> None:
        host = story.crawled.host
        assert (host["mode"], host["etag_trusted"], host["last_modified_trusted"]) == ("both", True, True)
        assert "honoured" in host["verdict"]

    def test_the_verdict_names_what_is_never_provoked(self, story: Story) -> None:
        assert "its Server header says nginx" in story.crawled.verdict
        assert named(story.crawled.verdict) == {"AND", "EXACT", "2LINES"}


def test_matching_tag_and_older_date_are_both_asked_for(nginx: RealServer) -> None:
    got = nginx.get(PAGE)
    assert nginx.get(PAGE, If_None_Match=got.etag, If_Modified_Since=got.headers["last-modified"]).status == 304
    assert nginx.get(PAGE, If_None_Match=got.etag, If_Modified_Since=LONG_AGO).status == 200


def test_a_date_is_compared_for_equality_and_two_lines_of_tags_are_refused(nginx: RealServer) -> None:
    got = nginx.get(PAGE)
    assert nginx.get(PAGE, If_Modified_Since=got.headers["date"]).status == 200
    connection = http.client.HTTPConnection("127.0.0.1", nginx.port, timeout=10)
    connection.putrequest("GET", PAGE)
    connection.putheader("If-None-Match", got.etag)
    connection.putheader("If-None-Match", '"other"')
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


def test_what_is_sent_is_what_this_server_asks_for(tmp_path: Path, nginx: RealServer) -> None:
    """The pair of one answer, each in one line, and a date that came from the server: also after a touch."""
    crawled = Crawled(tmp_path, nginx, nginx.documents)
    (first,) = asked(crawled.visit(), TOUCHED)
    nginx.documents.touch(TOUCHED, seconds_ago(HOUR_S))
    (touched,), (after,) = asked(crawled.visit(), TOUCHED), asked(crawled.visit(), TOUCHED)
    assert [first.status, touched.status, after.status] == [200, 200, 304]
    assert (touched.etag, after.etag) == (first.etag_sent, touched.etag_sent)
    assert http_date(after.last_modified) != http_date(touched.last_modified)


@pytest.mark.parametrize("filters", ["ssi on;", "sub_filter nothing something;"])
def test_pages_whose_validators_a_filter_drops_are_compared_by_hash(tmp_path: Path, filters: str) -> None:
    with running(Nginx(filters=filters)) as server:
        crawled = Crawled(tmp_path, server, server.documents)
        crawled.visit()
        second = seconds_ago(3)
        server.documents.touch(TOUCHED, second)
        server.documents.write(WEAK, "early", second)
        assert {entry.etag_sent for entry in crawled.visit()} == {None}
        assert crawled.events() == [("changed", WEAK)]
        server.documents.write(WEAK, "later", second)
        third = crawled.visit()
        assert crawled.events() == [("changed", WEAK)]
        assert answers(third) == each_page(200)
        assert not any(entry.conditional for entry in third)
        assert "neither ETag nor Last-Modified" in crawled.verdict
        assert "FILTERED" in named(crawled.verdict)


def test_a_file_compressed_beforehand_is_the_page_that_is_seen(tmp_path: Path) -> None:
    """Its tag is its own and strong; a page that was edited beside an old one is confirmed as it was."""
    with running(Nginx(filters="gzip_static on;")) as server:
        _compress(server, EDITED, "first", seconds_ago(HOUR_S))
        crawled = Crawled(tmp_path, server, server.documents)
        crawled.visit()
        assert "SIBLING" in named(crawled.verdict)
        server.documents.write(EDITED, "other", seconds_ago(HOUR_S))
        assert answers(crawled.visit())[EDITED] == [304]
        _compress(server, EDITED, "other", seconds_ago(HOUR_S / 2))
        crawled.visit()
        assert crawled.events() == [("changed", EDITED)]


def _compress(server: RealServer, path: str, word: str, modified_at: float) -> None:
    body = gzip.compress(text_of(path, word).encode())
    server.documents.put(f"{path.removeprefix('/')}.gz", body, modified_at)


def test_new_bytes_under_the_old_size_and_time_are_found_by_the_audit(tmp_path: Path) -> None:
    """The tag is made of size and time: no condition can show this edit, as a copy that keeps times makes it."""
    with running(Nginx()) as server:
        crawled = Crawled(tmp_path, server, server.documents, {"revalidation": {"audit_share": 1.0}})
        crawled.visit()
        server.documents.write(EDITED, "lying", server.documents.made_at)
        visit = crawled.visit()
        assert answers(visit)[EDITED] == [304, 200, 200, 304, *[200] * STEADY_LOADS]
        assert crawled.events() == [("changed", EDITED)]
        assert crawled.site.query("SELECT evidence FROM {page_diffs} WHERE kind = 'changed'") == [("audit",)]
        assert "/guide/: false 304: 1 of " in crawled.verdict
        crawled.visit()
        assert crawled.events() == []
