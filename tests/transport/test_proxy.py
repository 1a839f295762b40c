"""Through a proxy: tunnels for https, whole URLs for http, and the same targets allowed as without it."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path

import pytest

from incremental_crawl.semantics.answers import Answer, Failure, FailureKind, NotModified, Response
from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.client import AiohttpTransport, authorities
from incremental_crawl.transport.proxy import Proxy
from tests.transport.asking import LOOPBACK, exchange, page
from tests.transport.proxy_server import ProxyServer
from tests.transport.raw_server import RawRequest, RawServer, Script, head, ok
from tests.transport.test_client import Resolver

pytestmark = pytest.mark.anyio
CERTIFICATE = Path(__file__).with_name("localhost.pem")
LOGIN = b"Basic " + base64.b64encode(b"me:s\xc3\xa9cret")


@pytest.fixture
def served() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def through(proxy: str, guard: AddressGuard = LOOPBACK, *addresses: str) -> AiohttpTransport:
    resolver = Resolver(*(addresses or ("127.0.0.1",)))
    return AiohttpTransport(guard, tls=authorities(str(CERTIFICATE)), resolver=resolver, proxy=Proxy.of(proxy))


def failed(answer: Answer) -> tuple[FailureKind, str]:
    assert isinstance(answer, Failure), answer
    return answer.kind, answer.detail


def conditional(request: RawRequest) -> Script:
    return head(b"304 Not Modified") if request.values(b"If-None-Match") else ok(b"the page")


async def test_http_is_asked_by_its_whole_url() -> None:
    async with ProxyServer() as proxy, RawServer(conditional) as server:
        async with exchange(transport=through(proxy.url)) as asking:
            url = f"http://shop.example:{server.port}/%7Ea?b=[c]"
            first = await asking.ask(page(url), 1)
            second = await asking.ask(page(url, etag='"caf\xe9"'), 1)
        assert isinstance(first, Response)
        assert first.body == b"the page"
        assert isinstance(second, NotModified)
        assert proxy.lines[0] == f"GET {url} HTTP/1.1".encode()
        assert server.targets == [b"/%7Ea?b=[c]"] * 2
        assert {request.connection for request in server.requests} == {1}, "the connection is kept"
        assert server.requests[1].values(b"If-None-Match") == [b'"caf\xe9"']


async def test_https_goes_through_a_tunnel_that_is_kept(served: ssl.SSLContext) -> None:
    async with ProxyServer() as proxy, RawServer(conditional, tls=served) as server:
        async with exchange(transport=through(proxy.url)) as asking:
            url = f"https://localhost:{server.port}/a"
            for etag in (None, '"x"', '"x"'):
                assert not isinstance(await asking.ask(page(url, etag=etag), 1), Failure)
        assert proxy.lines == [f"CONNECT localhost:{server.port} HTTP/1.1".encode()]
        assert server.targets == [b"/a"] * 3


async def test_the_certificate_is_that_of_the_target(served: ssl.SSLContext) -> None:
    async with ProxyServer() as proxy, RawServer(ok(b"x"), tls=served) as server:
        async with exchange(transport=through(proxy.url)) as asking:
            assert failed(await asking.ask(page(f"https://other.example:{server.port}/"), 1))[0] is FailureKind.TLS
        untrusting = AiohttpTransport(LOOPBACK, resolver=Resolver("127.0.0.1"), proxy=Proxy.of(proxy.url))
        async with exchange(transport=untrusting) as asking:
            assert failed(await asking.ask(page(f"https://localhost:{server.port}/"), 1))[0] is FailureKind.TLS
        assert server.requests == []


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_credentials_are_for_the_proxy_alone_and_never_shown(served: ssl.SSLContext, scheme: str) -> None:
    tls = served if scheme == "https" else None
    async with ProxyServer(LOGIN) as proxy, RawServer(ok(b"page"), tls=tls) as server:
        url, address = f"{scheme}://localhost:{server.port}/", proxy.url.removeprefix("http://")
        async with exchange(transport=through(f"http://me:s%C3%A9cret@{address}")) as asking:
            assert isinstance(await asking.ask(page(url), 1), Response)
        if scheme == "https":
            assert server.requests[0].values(b"Proxy-Authorization") == []
        async with exchange(transport=through(f"http://me:wrong-7d@{address}")) as asking:
            kind, detail = failed(await asking.ask(page(url), 1))
        assert kind is FailureKind.CONNECT
        assert "407" in detail
        assert proxy.url in detail
        assert "wrong-7d" not in detail + repr(Proxy.of(f"http://me:wrong-7d@{address}"))
        assert len(server.requests) == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("127.0.0.1", ("127.0.0.1",)),
        ("[::ffff:7f00:1]", ("127.0.0.1",)),
        ("rebind.example", ("10.0.0.1",)),
        ("half.example", ("8.8.8.8", "192.168.0.1")),
        ("169.254.169.254", ("127.0.0.1",)),
        ("metadata.example", ("169.254.169.254",)),
        ("[fe80::1]", ("127.0.0.1",)),
    ],
)
async def test_a_forbidden_target_is_not_even_told_to_the_proxy(
    scheme: str, host: str, addresses: tuple[str, ...]
) -> None:
    async with ProxyServer() as proxy:
        async with exchange(transport=through(proxy.url, AddressGuard(), *addresses)) as asking:
            received = await asking.ask(page(f"{scheme}://{host}:8080/"), 1)
        assert failed(received)[0] is FailureKind.FORBIDDEN_ADDRESS
        assert proxy.heads == []


async def test_a_name_that_cannot_be_resolved_is_not_asked() -> None:
    async with ProxyServer() as proxy:
        transport = AiohttpTransport(LOOPBACK, proxy=Proxy.of(proxy.url))
        async with exchange(transport=transport) as asking:
            assert failed(await asking.ask(page("http://nowhere.invalid/"), 1))[0] is FailureKind.DNS
        assert proxy.heads == []


async def test_a_proxy_that_is_not_there_or_refuses_is_named() -> None:
    async with ProxyServer(refusal=b"403 Forbidden") as proxy, exchange(transport=through(proxy.url)) as asking:
        kind, detail = failed(await asking.ask(page("https://localhost:9/"), 1))
    assert (kind, detail) == (
        FailureKind.CONNECT,
        f"localhost:9: the proxy {proxy.url} refuses a tunnel to localhost (403)",
    )
    async with exchange(transport=through(proxy.url)) as asking:
        for url in ("https://localhost:9/", "http://localhost:9/"):
            kind, detail = failed(await asking.ask(page(url), 1))
            assert kind is FailureKind.CONNECT
            assert f"no connection to the proxy {proxy.url}" in detail


async def test_robots_txt_is_asked_through_the_proxy_too() -> None:
    async with ProxyServer() as proxy, RawServer(ok(b"User-agent: *\nDisallow: /x")) as server:
        async with exchange(transport=through(proxy.url), respect_robots=True) as asking:
            received = await asking.ask(page(f"http://shop.example:{server.port}/x"), 1)
        assert failed(received)[0] is FailureKind.ROBOTS
        assert proxy.lines == [f"GET http://shop.example:{server.port}/robots.txt HTTP/1.1".encode()]


async def test_own_authorities_are_trusted_beside_the_usual_ones() -> None:
    usual, more = authorities(), authorities(str(CERTIFICATE))
    assert more.cert_store_stats()["x509"] > usual.cert_store_stats()["x509"] - 1 >= 0
    assert usual is not more
