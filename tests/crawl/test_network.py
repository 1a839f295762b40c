"""The way to the network as the site file says it: addresses, authorities, a proxy; and oddities are written down."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply
from tests.crawl.pages_origin import HTML, OLD_DATE, PagesOrigin, Scene, html, page, redirect
from tests.crawl.visiting import CrawledSite
from tests.transport.proxy_server import ProxyServer
from tests.transport.raw_server import RawRequest, RawServer, Script, answer, head, ok

CERTIFICATE = Path(__file__).parents[1] / "transport" / "localhost.pem"


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin({"/a": page("A", '"a"', OLD_DATE)}) as running:
        yield running


@contextmanager
def in_a_loop_of_its_own() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread, for servers that have to answer while stages run."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_a_redirect_to_a_private_address_is_refused_and_the_record_stays(tmp_path: Path, origin: PagesOrigin) -> None:
    with PagesOrigin({"/inside": page("Secret")}) as inside:
        scene = Scene(tmp_path, origin)
        scene.configure(
            start_urls=[origin.base_url + "/", inside.base_url + "/"],
            allow_private_hosts=[origin.base_url.removeprefix("http://")],
            politeness={"requests_per_second": None, "respect_robots": False},
            gate={"confirm_gone_after": "0s", "failed": 1.0},
        )
        scene.visit()
        origin.pages["/a"] = redirect(302, inside.base_url + "/inside")
        scene.visit()
        assert len(inside.log) == 0
        row = scene.row("/a")
        assert (row["etag"], row["failures"], row["gone_since"]) == ('"a"', 1, None)
        ((outcome, error),) = scene.site.query(
            f"SELECT outcome, error FROM {{observations}} WHERE url = '{inside.base_url}/inside' AND visit = 2"
        )
        assert outcome == "refused"
        assert "not a public address" in error


def test_two_etag_lines_are_written_down_and_the_first_counts(tmp_path: Path, origin: PagesOrigin) -> None:
    two = (("ETag", '"one"'), ("ETag", '"two"'))
    origin.pages["/a"] = lambda request: (
        Reply(304, two) if request.headers.get("if-none-match") == '"one"' else Reply(200, (HTML, *two), html("A"))
    )
    scene = Scene(tmp_path, origin)
    scene.visit()
    scene.visit()
    assert scene.observed("/a", 1, "error") == ["warning: 2 lines of etag; the first counts"]
    assert scene.observed("/a", 2) == ["not_modified"]
    assert scene.observed("/a", 2, "error") == ["warning: 2 lines of etag; the first counts"]
    assert scene.row("/a")["etag"] == '"one"'


def test_a_site_behind_a_proxy_with_a_certificate_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(request: RawRequest) -> Script:
        if request.target != b"/":
            return answer(b"404 Not Found")
        return head(b"304 Not Modified") if request.values(b"If-None-Match") else ok(html("Shop"), b'ETag: "1"')

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    sites = tmp_path / "sites"
    sites.mkdir()
    (sites / "own.pem").write_bytes(CERTIFICATE.read_bytes())
    with in_a_loop_of_its_own() as loop:

        async def started() -> tuple[ProxyServer, RawServer]:
            return await ProxyServer(b"Basic bWU6aHVzaC0yYg==").__aenter__(), await RawServer(serve, tls).__aenter__()

        proxy, server = asyncio.run_coroutine_threadsafe(started(), loop).result(5)
        try:
            monkeypatch.setenv("PROXY_LOGIN", "me:hush-2b")
            site = CrawledSite(
                tmp_path,
                {
                    "start_urls": [f"https://localhost:{server.port}/"],
                    "allow_private_hosts": True,
                    "sitemaps": "none",
                    "revalidation": {"audit_share": 0.0},
                    "cadence": "every_run",
                    "politeness": {
                        "requests_per_second": None,
                        "proxy": f"http://${{PROXY_LOGIN}}@127.0.0.1:{proxy.port}",
                        "ca_file": "own.pem",
                    },
                },
            )
            site.visit()
            site.visit()
            statuses = site.query("SELECT visit, status FROM {observations} WHERE purpose <> 'robots' ORDER BY visit")
            assert statuses == [(1, 200), (2, 304)]
            assert proxy.lines
            assert {line.split(b" ")[0] for line in proxy.lines} == {b"CONNECT"}
            written = [path for path in tmp_path.rglob("*") if path.is_file()]
            assert not [path for path in written if b"hush-2b" in path.read_bytes()]
        finally:
            for each in (proxy, server):
                asyncio.run_coroutine_threadsafe(each.__aexit__(), loop).result(5)
