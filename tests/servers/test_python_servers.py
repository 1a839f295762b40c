"""http.server, aiohttp and Starlette as they are: their ways, and the names under which a verdict has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from incremental_crawl.semantics.answers import first
from incremental_crawl.semantics.head_requests import head_disagreement
from incremental_crawl.semantics.retry_after import http_date
from incremental_crawl.semantics.server_software import Software, server_of
from tests.crawl.pages_origin import QUIET
from tests.crawl.visiting import CrawledSite, local_site
from tests.servers.crawled import named
from tests.servers.document_root import DAY_S, DocumentRoot
from tests.servers.python_servers import Serving, aiohttp_static, got, simple_http, starlette_static

PAGE = "/guide/step-01.html"


@pytest.fixture
def documents(tmp_path: Path) -> DocumentRoot:
    folder = tmp_path / "documents"
    folder.mkdir()
    root = DocumentRoot(folder)
    root.write(PAGE, "first", root.made_at + 0.25)
    return root


@pytest.mark.parametrize(
    ("serving", "software"),
    [
        (simple_http, Software.SIMPLE_HTTP),
        (aiohttp_static, Software.AIOHTTP),
        (starlette_static, Software.UVICORN),
    ],
)
def test_they_say_their_names(documents: DocumentRoot, serving: Serving, software: Software) -> None:
    with serving(documents.folder) as port:
        status, headers = got(port, PAGE)
        assert (status, server_of(headers, first(headers, "etag"))) == (200, software)


def test_aiohttp_rounds_a_date_up(documents: DocumentRoot) -> None:
    with aiohttp_static(documents.folder) as port:
        _, headers = got(port, PAGE)
    modified = http_date(first(headers, "last-modified"))
    assert modified == datetime.fromtimestamp(documents.made_at + 1, UTC)


def test_starlette_compresses_a_get_but_no_head_and_leaves_the_date_out_of_a_304(documents: DocumentRoot) -> None:
    with starlette_static(documents.folder) as port:
        get, head = got(port, PAGE), got(port, PAGE, "HEAD")
        plain = got(port, PAGE, Accept_Encoding="identity")
        tag = first(get[1], "etag") or ""
        status, confirmed = got(port, PAGE, If_None_Match=tag)
    assert first(get[1], "content-encoding") == "gzip"
    assert first(head[1], "content-encoding") is None
    assert head_disagreement(get, head) is None, "neither length nor coding is compared"
    assert tag == first(plain[1], "etag"), "one strong tag for two codings"
    assert (status, first(confirmed, "last-modified")) == (304, None)


def test_http_server_confirms_a_file_that_was_set_back_and_only_an_audit_finds_it(
    tmp_path: Path, documents: DocumentRoot
) -> None:
    with simple_http(documents.folder) as port:
        url = f"http://127.0.0.1:{port}"
        settings = {**QUIET, "revalidation": {"audit_share": 1.0}, "sitemaps": "none"}
        site = CrawledSite(tmp_path, local_site(f"{url}{PAGE}", **settings), datetime.now(UTC))
        site.visit()
        documents.write(PAGE, "older", documents.made_at - DAY_S)
        site.now += timedelta(days=1)
        site.visit()
    assert site.query("SELECT kind, evidence FROM {page_diffs} WHERE visit = 2") == [("changed", "audit")]
    ((verdict,),) = site.query("SELECT verdict FROM {hosts}")
    assert "one false 304" in verdict
    assert "its Server header says SimpleHTTP" in verdict
    assert named(verdict) == {"NOTAG", "304"}
