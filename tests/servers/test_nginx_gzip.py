"""nginx with gzip: a weak tag on each 200, a strong one on each 304."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.crawled import Crawled, asked, named
from tests.servers.real_server import running
from tests.servers.software import Nginx
from tests.servers.story import Story, ToldOfAServer, lived

PAGE = "/guide/step-01.html"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with running(Nginx()) as server:
        yield lived(Crawled(tmp_path_factory.mktemp("gzip"), server, server.documents))


class TestNginxWithGzip(ToldOfAServer):
    """The tag flips between two spellings of the same tag (RFC 9110 §8.8.3.2)."""

    def test_a_tag_that_is_weak_on_a_200_and_strong_on_a_304_has_not_changed(self, story: Story) -> None:
        (fetched,), (confirmed,) = asked(story.first, PAGE), asked(story.quiet, PAGE)
        assert fetched.etag_sent == f"W/{confirmed.etag_sent}", "otherwise this server does not flip any more"
        host = story.crawled.host
        assert (host["mode"], host["etag_trusted"], host["last_modified_trusted"]) == ("both", True, True)

    def test_the_verdict_names_the_flip(self, story: Story) -> None:
        assert "honoured" in story.crawled.verdict
        assert "only in W/" in story.crawled.verdict
        assert named(story.crawled.verdict) == {"AND", "EXACT", "2LINES", "FLIP"}
