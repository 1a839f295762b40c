"""The transport puts on the wire exactly what it is given, and tells faults apart."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.client import AiohttpTransport
from incremental_crawl.transport.faults import ForbiddenAddress, NameNotResolved, StaleConnection, TlsFailed
from tests.transport.asking import LOOPBACK
from tests.transport.raw_server import End, RawRequest, RawServer, Script, answer, chunked, head, ok

pytestmark = pytest.mark.anyio
CERTIFICATE = Path(__file__).with_name("localhost.pem")


@pytest.fixture
async def transport() -> AsyncIterator[AiohttpTransport]:
    async with AiohttpTransport(LOOPBACK) as transport:
        yield transport


async def send(transport: AiohttpTransport, url: str, method: str = "GET", **extensions: object) -> httpx.Response:
    extensions = {"timeout": {"connect": 2.0, "read": 2.0}} | extensions
    async with asyncio.timeout(5):
        response = await transport.handle_async_request(httpx.Request(method, url, extensions=extensions))
        await response.aread()
        await response.aclose()
    return response


class Resolver(AbstractResolver):
    """Answers each name with the addresses given."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=each, port=port, family=socket.AF_INET, proto=0, flags=0)
            for each in self.addresses
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    "target", [b"/%7Euser/%7euser", b"/a[1]|^`{}?x=[2]&y='", b"/?", b"//double//", b"/a?b?c", b"/%C3%A9;p=1", b"/a%2Fb"]
)
async def test_the_target_goes_on_the_wire_unchanged(transport: AiohttpTransport, target: bytes) -> None:
    async with RawServer(ok(b"")) as server:
        await send(transport, server.url("/"), target=target)
    assert server.targets == [target]


async def test_the_url_of_an_ordinary_request_is_its_target(transport: AiohttpTransport) -> None:
    async with RawServer(ok(b"")) as server:
        await send(transport, server.url("/a/%7Eb?c=[d]"))
    assert server.targets == [b"/a/%7Eb?c=[d]"]


async def test_nothing_is_added_to_the_request(transport: AiohttpTransport) -> None:
    async with RawServer(ok(b"")) as server:
        fields = [(b"Host", b"h"), (b"X-Latin", b"caf\xe9"), (b"x-Twice", b"1"), (b"X-twice", b"2")]
        stream = httpx.ByteStream(b"")
        await transport.handle_async_request(httpx.Request("GET", server.url(), headers=fields, stream=stream))
    assert list(server.requests[0].fields) == fields


async def test_the_answers_header_bytes_arrive_unchanged(transport: AiohttpTransport) -> None:
    async with RawServer(ok(b"x", b'ETag: "caf\xe9"', b'etag: W/"2"', b"X-Utf8: \xc3\xa9")) as server:
        response = await send(transport, server.url())
    assert response.headers.raw[1:4] == [(b"ETag", b'"caf\xe9"'), (b"etag", b'W/"2"'), (b"X-Utf8", b"\xc3\xa9")]


@pytest.mark.parametrize("value", [b"a\r\nEvil: 1", b"a\nb", b"a\0b"])
async def test_a_header_value_cannot_break_out_of_its_line(transport: AiohttpTransport, value: bytes) -> None:
    async with RawServer(ok(b"")) as server:
        request = httpx.Request("GET", server.url(), headers=[(b"X", value)])
        with pytest.raises(httpx.LocalProtocolError):
            await transport.handle_async_request(request)
    assert server.requests == []


async def test_redirects_cookies_and_codings_are_left_alone(transport: AiohttpTransport) -> None:
    packed = gzip.compress(b"page")
    script = answer(b"302 Found", packed, b"Location: /b", b"Set-Cookie: a=1; Path=/", b"Content-Encoding: gzip")
    async with RawServer(script) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.url("/a")))
        content = b"".join([chunk async for chunk in response.aiter_raw()])
        await send(transport, server.url("/a"))
    assert (response.status_code, response.headers["location"], content) == (302, "/b", packed)
    assert server.targets == [b"/a", b"/a"]
    assert server.requests[1].values(b"cookie") == []


async def test_connections_are_kept_alive_and_can_be_avoided(transport: AiohttpTransport) -> None:
    async with RawServer(ok(b"body" * 20_000)) as server:
        await send(transport, server.url())
        await send(transport, server.url())
        await send(transport, server.url(), fresh_connection=True)
        await send(transport, server.url())
    assert [request.connection for request in server.requests] == [1, 1, 2, 1]


async def test_a_body_that_is_not_read_to_its_end_closes_the_connection(transport: AiohttpTransport) -> None:
    async with RawServer(ok(b"a" * 3_000_000)) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.url()))
        await response.aclose()
        await send(transport, server.url())
    assert [request.connection for request in server.requests] == [1, 2]


@pytest.mark.parametrize(
    "script",
    [
        ok(b"a" * 5_000_000),
        head(b"200 OK", b"Transfer-Encoding: chunked") + chunked(*[b"a" * 1000] * 5000),
        [head(b"200 OK") + b"a" * 5_000_000, End.CLOSE],
    ],
)
async def test_a_reader_that_is_slower_than_the_server_gets_everything(
    transport: AiohttpTransport, script: Script
) -> None:
    async with RawServer(script) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.url()))
        received = 0
        async for chunk in response.aiter_raw():
            received += len(chunk)
            await asyncio.sleep(0.002)
    assert received == 5_000_000


@pytest.mark.parametrize(
    "script",
    [
        head(b"304 Not Modified", b'ETag: "x"', b"Content-Length: 9") + b"<!DOCTYPE",
        head(b"304 Not Modified", b'ETag: "x"', b"Transfer-Encoding: chunked") + chunked(b"hello"),
        head(b"304 Not Modified", b'ETag: "x"') + b"unannounced",
        [head(b"304 Not Modified", b'ETag: "x"'), 0.01, b"late"],
        [head(b"304 Not Modified", b'ETag: "x"')[:-2], 0.01, b"\r\nsplit"],
        [head(b"304 Not Modified", b'ETag: "x"') + b"HTTP/1.1 200 OK\r\n", 0.01, b"Content-Length: 3\r\n\r\nbad"],
        head(b"304 Not Modified", b'ETag: "x"') + b"\r\n",
        head(b"103 Early Hints") + head(b"304 Not Modified", b'ETag: "x"') + b"unannounced",
        head(b"304 Not Modified", b'ETag: "x"') + ok(b"a whole answer that nobody asked for"),
        head(b"304 Not Modified", b'ETag: "x"'),
    ],
)
async def test_what_follows_a_304_never_reaches_the_next_answer(transport: AiohttpTransport, script: Script) -> None:
    async with RawServer(lambda request: script if request.target == b"/a" else ok(b"the page")) as server:
        for _ in range(10):
            assert (await send(transport, server.url("/a"))).status_code == 304
            await asyncio.sleep(0.02)
            assert (await send(transport, server.url("/b"))).content == b"the page"


async def test_a_304_that_announces_a_body_is_the_last_answer_of_its_connection(transport: AiohttpTransport) -> None:
    script: Script = [head(b"304 Not Modified", b"Content-Length: 9"), 0.05, b"<!DOCTYPE"]
    async with RawServer(lambda request: script if request.target == b"/a" else ok(b"the page")) as server:
        await send(transport, server.url("/a"))
        assert (await send(transport, server.url("/b"))).content == b"the page"
    assert [request.connection for request in server.requests] == [1, 2]


async def test_a_304_that_announces_no_body_keeps_its_connection(transport: AiohttpTransport) -> None:
    async with RawServer(head(b"304 Not Modified", b"Content-Length: 0")) as server:
        for _ in range(3):
            await send(transport, server.url())
    assert [request.connection for request in server.requests] == [1, 1, 1]


async def test_an_answer_that_came_while_the_connection_was_idle_is_no_answer(transport: AiohttpTransport) -> None:
    late = answer(b"408 Request Timeout", b"too slow")
    async with RawServer(lambda request: [ok(b"1"), 0.01, late] if request.connection == 1 else ok(b"2")) as server:
        await send(transport, server.url())
        await asyncio.sleep(0.05)
        assert (await send(transport, server.url())).content == b"2"


async def test_informational_answers_are_skipped(transport: AiohttpTransport) -> None:
    hints = head(b"103 Early Hints", b"Link: </style.css>; rel=preload")
    async with RawServer(hints + head(b"100 Continue") + ok(b"page")) as server:
        response = await send(transport, server.url())
    assert (response.status_code, response.content) == (200, b"page")


async def test_head_has_no_body_and_keeps_the_connection(transport: AiohttpTransport) -> None:
    async with RawServer(head(b"200 OK", b"Content-Length: 5000")) as server:
        assert (await send(transport, server.url(), "HEAD")).content == b""
        assert (await send(transport, server.url(), "HEAD")).headers["content-length"] == "5000"
    assert server.requests[1].connection == 1


@pytest.mark.parametrize(
    "script",
    [
        [head(b"200 OK", b"Content-Length: 5000") + b"half", End.CLOSE],
        [head(b"200 OK", b"Content-Length: 5000") + b"half", 0.01, End.RESET],
        [head(b"200 OK", b"Transfer-Encoding: chunked") + chunked(b"half")[:-5], End.CLOSE],
        [head(b"200 OK", b"Transfer-Encoding: chunked") + b"zz\r\nhalf", 0.05],
        [b"HTTP/1.1 200 OK\r\nContent-", End.CLOSE],
        [End.CLOSE],
        [End.RESET],
    ],
)
async def test_answers_that_break_off_are_errors(transport: AiohttpTransport, script: Script) -> None:
    async with RawServer(script) as server:
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await send(transport, server.url())
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "script",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        head(b"200 OK", *[b"X-%d: 1" % number for number in range(3000)]),
        head(b"200 OK", b"X: " + b"a" * 200_000),
        head(b"101 Switching Protocols", b"Upgrade: websocket", b"Connection: upgrade"),
    ],
)
async def test_what_is_not_an_acceptable_answer_is_a_protocol_error(
    transport: AiohttpTransport, script: Script
) -> None:
    async with RawServer(script) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            await send(transport, server.url())


async def test_a_reused_connection_that_breaks_is_told_apart(transport: AiohttpTransport) -> None:
    seen: list[RawRequest] = []

    def once_per_connection(request: RawRequest) -> Script:
        seen.append(request)
        return ok(b"page") if len(seen) % 2 else [End.CLOSE]

    async with RawServer(once_per_connection) as server:
        await send(transport, server.url())
        with pytest.raises(StaleConnection):
            await send(transport, server.url())


async def test_silence_is_a_timeout(transport: AiohttpTransport) -> None:
    async with RawServer([head(b"200 OK", b"Content-Length: 10"), 5.0]) as server:
        with pytest.raises(httpx.ReadTimeout):
            await send(transport, server.url(), timeout={"connect": 1.0, "read": 0.1})


async def test_a_closed_port_and_an_unknown_name_are_told_apart(transport: AiohttpTransport) -> None:
    async with RawServer(b"") as server:
        pass
    with pytest.raises(httpx.ConnectError) as refused:
        await send(transport, server.url())
    assert type(refused.value) is httpx.ConnectError
    with pytest.raises(NameNotResolved, match=r"nowhere\.invalid"):
        await send(transport, "http://nowhere.invalid/")


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("127.0.0.1", "not a public address"),
        ("localhost", "not a public address"),
        ("[::ffff:127.0.0.1]", "not a public address"),
        ("0.0.0.0", "not a public address"),
        ("0x7f.1", "not a public address"),
        ("2130706433", "not a canonical IPv4 address"),
        ("127.1", "not a canonical IPv4 address"),
    ],
)
async def test_loopback_is_refused_however_it_is_written(host: str, message: str) -> None:
    async with RawServer(ok(b"secret")) as server, AiohttpTransport(AddressGuard()) as guarded:
        with pytest.raises(httpx.ConnectError, match=message):
            await send(guarded, f"http://{host}:{server.port}/")
    assert server.requests == []


async def test_a_name_that_leads_inside_is_refused_after_dns() -> None:
    async with RawServer(ok(b"secret")) as server:
        async with AiohttpTransport(AddressGuard(), resolver=Resolver("127.0.0.1", "127.0.0.2")) as guarded:
            with pytest.raises(ForbiddenAddress, match=r"rebind\.example leads to 127"):
                await send(guarded, f"http://rebind.example:{server.port}/")
        guard = AddressGuard([f"shop.example:{server.port}"])
        async with AiohttpTransport(guard, resolver=Resolver("127.0.0.1")) as allowed:
            assert (await send(allowed, f"http://shop.example:{server.port}/")).content == b"secret"
            with pytest.raises(ForbiddenAddress):
                await send(allowed, f"http://other.example:{server.port}/")
    assert len(server.requests) == 1


async def test_certificates_and_their_names_are_verified() -> None:
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(CERTIFICATE)
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    async with RawServer(ok(b"private"), tls=served) as server:
        url = f"https://localhost:{server.port}/"
        async with AiohttpTransport(LOOPBACK, tls=trusting, resolver=Resolver("127.0.0.1")) as transport:
            assert (await send(transport, url)).content == b"private"
            with pytest.raises(TlsFailed):
                await send(transport, f"https://other.example:{server.port}/")
        async with AiohttpTransport(LOOPBACK, resolver=Resolver("127.0.0.1")) as distrusting:
            with pytest.raises(TlsFailed, match="certificate"):
                await send(distrusting, url)


async def test_other_schemes_and_request_bodies_are_refused(transport: AiohttpTransport) -> None:
    with pytest.raises(httpx.UnsupportedProtocol):
        await send(transport, "ftp://127.0.0.1/")
    with pytest.raises(httpx.LocalProtocolError):
        await transport.handle_async_request(httpx.Request("POST", "http://127.0.0.1/", content=b"x"))
