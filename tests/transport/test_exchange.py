"""What an exchange makes of servers' answers: complete and decoded, or a Failure; never half a page."""

from __future__ import annotations

import asyncio
import gzip
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import brotli
import httpx
import pytest

from incremental_crawl.semantics.answers import (
    Answer,
    Failure,
    FailureKind,
    NotModified,
    Purpose,
    Redirected,
    Response,
    first,
)
from incremental_crawl.semantics.request_headers import RequestHeaders
from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.client import AiohttpTransport
from tests.transport.asking import Log, exchange, fetched, page
from tests.transport.raw_server import End, RawRequest, RawServer, Script, answer, chunked, head, ok

pytestmark = pytest.mark.anyio
HTML = b"<!doctype html><title>A page</title>" + b"".join(b"<p>line %d</p>" % number for number in range(400))
PACKED = gzip.compress(HTML)
GZIP = b"Content-Encoding: gzip"


def failed(answer: Answer) -> tuple[FailureKind, int | None]:
    assert isinstance(answer, Failure), answer
    assert answer.detail
    return answer.kind, answer.status


def body_of(answer: Answer) -> bytes:
    assert isinstance(answer, Response), answer
    return answer.body


@pytest.mark.parametrize("script", [ok(HTML), ok(PACKED, GZIP), [ok(PACKED, GZIP)[:200], 0.01, ok(PACKED, GZIP)[200:]]])
async def test_a_page_arrives_whole_and_decoded(script: Script) -> None:
    received = await fetched(script)
    assert isinstance(received, Response)
    assert (received.status, received.body, received.warnings, received.length_unverified) == (200, HTML, (), False)


async def test_a_large_page_in_chunks_arrives_whole() -> None:
    large = HTML * 200
    script = head(b"200 OK", b"Transfer-Encoding: chunked", b"Content-Type: text/html") + chunked(
        large[:99], large[99:]
    )
    assert body_of(await fetched(script)) == large


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ([head(b"200 OK", b"Content-Length: 55000") + HTML, End.CLOSE], FailureKind.INCOMPLETE),
        ([head(b"200 OK", b"Content-Length: 55000") + HTML, 0.02, End.RESET], FailureKind.INCOMPLETE),
        ([head(b"200 OK", b"Transfer-Encoding: chunked") + chunked(HTML)[:-5], End.CLOSE], FailureKind.INCOMPLETE),
        ([head(b"200 OK", b"Transfer-Encoding: chunked") + b"zz\r\n", 0.02], FailureKind.INCOMPLETE),
        (ok(PACKED[:-20], GZIP), FailureKind.INCOMPLETE),
        (ok(PACKED[: len(PACKED) // 2], GZIP), FailureKind.INCOMPLETE),
        (ok(brotli.compress(HTML)[:-3], b"Content-Encoding: br"), FailureKind.INCOMPLETE),
        (ok(PACKED[:60] + b"?" * 60 + PACKED[120:], GZIP), FailureKind.UNDECODABLE),
        (ok(b"\x1f\x9d\x90", b"Content-Encoding: compress"), FailureKind.UNDECODABLE),
        (ok(gzip.compress(b"\0" * 20_000_000), GZIP), FailureKind.TOO_LARGE),
        (ok(brotli.compress(b"\0" * 20_000_000), b"Content-Encoding: br"), FailureKind.TOO_LARGE),
        (head(b"200 OK", b"Content-Length: 999999999999"), FailureKind.TOO_LARGE),
        (head(b"200 OK", b"Transfer-Encoding: chunked") + chunked(b"a" * 1_500_000), FailureKind.TOO_LARGE),
    ],
)
async def test_a_page_that_is_not_whole_is_a_failure_that_keeps_the_status(script: Script, kind: FailureKind) -> None:
    received = await fetched(script, max_body="1MB", max_decoded="5MB")
    assert failed(received) == (kind, 200)


async def test_a_sitemap_may_be_larger_than_a_page_and_is_stopped_at_the_limit_of_its_protocol() -> None:
    begin, million = head(b"200 OK", b"Content-Type: application/xml"), b"<url/>".ljust(1_000_000)
    as_sitemap = {"purpose": Purpose.SITEMAP}
    received = await fetched([begin, *[million] * 5, End.CLOSE], ask=as_sitemap, max_body="1MB")
    assert len(body_of(received)) == 5_000_000
    endless = await fetched([begin, *[million] * 60, End.CLOSE], ask=as_sitemap, max_body="1MB")
    assert failed(endless) == (FailureKind.TOO_LARGE, 200)


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ([End.CLOSE], FailureKind.DISCONNECTED),
        ([End.RESET], FailureKind.DISCONNECTED),
        ([b"HTTP/1.1 200 OK\r\nContent-", End.CLOSE], FailureKind.DISCONNECTED),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", FailureKind.PROTOCOL),
        (head(b"200 OK", *[b"X-%d: %b" % (number, b"a" * 900) for number in range(3000)]), FailureKind.PROTOCOL),
        ([5.0], FailureKind.TIMEOUT),
    ],
)
async def test_no_answer_at_all_is_a_failure_without_a_status(script: Script, kind: FailureKind) -> None:
    assert failed(await fetched(script, timeout="0.2s")) == (kind, None)


@pytest.mark.parametrize("drip", [b"HTTP/1.1 200 OK\r\nX-Drip: ", head(b"200 OK", b"Content-Length: 1000")])
async def test_a_slow_drip_ends_at_the_total_time_out_and_the_exchange_goes_on(drip: bytes) -> None:
    slow: list[Any] = [drip] + [b"a", 0.05] * 100
    serving = RawServer(lambda request: slow if request.target == b"/slow" else ok(HTML))
    async with serving as server, exchange(timeout="1s", total_timeout="0.3s") as asking:
        begun = time.monotonic()
        received = await asking.ask(page(server.url("/slow")), 1)
        assert time.monotonic() - begun < 1
        assert failed(received)[0] is FailureKind.TIMEOUT
        assert body_of(await asking.ask(page(server.url("/")), 1)) == HTML


@pytest.mark.parametrize(
    ("script", "warned"),
    [
        (ok(HTML, GZIP), True),
        (ok(PACKED, b"Content-Encoding: x-gzip"), False),
        (ok(HTML, b"Content-Encoding: UTF-8"), True),
        (ok(PACKED), True),
        (ok(gzip.compress(PACKED), GZIP), True),
    ],
)
async def test_a_content_encoding_that_lies_still_gives_the_page(script: Script, warned: bool) -> None:
    received = await fetched(script)
    assert body_of(received) == HTML
    assert isinstance(received, Response)
    assert bool(received.warnings) is warned


async def test_a_body_that_only_the_connection_ends_is_marked_unless_its_coding_proves_it_whole() -> None:
    plain = await fetched([head(b"200 OK", b"Content-Type: text/html") + HTML, End.CLOSE])
    packed = await fetched([head(b"200 OK", b"Content-Type: text/html", GZIP) + PACKED, End.CLOSE])
    assert isinstance(plain, Response)
    assert isinstance(packed, Response)
    assert (plain.body, plain.length_unverified) == (HTML, True)
    assert (packed.body, packed.length_unverified) == (HTML, False)


async def test_validators_are_echoed_byte_for_byte_in_one_line_each() -> None:
    etag, date = 'W/"caf\xe9"-gzip, "x"', "mer., 01 janv. 2025 10:00:00 GMT"
    async with RawServer(head(b"304 Not Modified", b'ETag: W/"caf\xe9"')) as server, exchange() as asking:
        received = await asking.ask(page(server.url(), etag=etag, last_modified=date), 1)
    assert isinstance(received, NotModified)
    assert received.headers == (("etag", 'W/"caf\xe9"'),)
    assert server.requests[0].values(b"If-None-Match") == [etag.encode("latin-1")]
    assert server.requests[0].values(b"If-Modified-Since") == [date.encode()]


async def test_only_the_known_validator_is_sent() -> None:
    async with RawServer(ok(b"")) as server, exchange() as asking:
        await asking.ask(page(server.url(), etag='"a"'), 1)
        await asking.ask(page(server.url(), last_modified="x"), 1)
        await asking.ask(page(server.url(), no_cache=True), 1)
    sent = [{name for name, _ in request.fields} - {b"Host", b"User-Agent"} for request in server.requests]
    always = {b"Accept", b"Accept-Encoding"}
    assert sent == [always | {b"If-None-Match"}, always | {b"If-Modified-Since"}, always | {b"Cache-Control"}]


async def test_two_etag_lines_stay_two() -> None:
    received = await fetched(ok(b"", b'ETag: "one"', b'ETag: "two"'))
    assert isinstance(received, Response)
    assert [value for name, value in received.headers if name == "etag"] == ['"one"', '"two"']
    assert first(received.headers, "etag") == '"one"'
    assert received.warnings == ("2 lines of etag; the first counts",)
    confirmed = await fetched(head(b"304 Not Modified", b'ETag: "one"', b'ETag: "two"'), ask={"etag": '"one"'})
    assert isinstance(confirmed, NotModified)
    assert confirmed.warnings == received.warnings


@pytest.mark.parametrize("path", ["/%7Euser/~x", "/a[1]?b=[2]&c|d", "/?", "/x?q=a+b%20c"])
async def test_the_url_goes_on_the_wire_unchanged(path: str) -> None:
    async with RawServer(ok(b"")) as server, exchange() as asking:
        await asking.ask(page(server.url(path)), 1)
    assert server.targets == [path.encode()]


async def test_request_headers_are_those_given_with_gzip_as_the_only_coding() -> None:
    async with RawServer(ok(b"")) as server:
        async with exchange(headers={"Accept": "text/html", "Accept-Language": "de"}, user_agent="x/1") as asking:
            await asking.ask(page(server.url()), 1)
        async with exchange(headers={"accept-encoding": "identity"}) as asking:
            await asking.ask(page(server.url()), 1)
    fields = dict(server.requests[0].fields)
    assert fields.pop(b"Host") == server.host.encode()
    assert fields == {
        b"User-Agent": b"x/1",
        b"Accept-Encoding": b"gzip",
        b"Accept": b"text/html",
        b"Accept-Language": b"de",
    }
    assert server.requests[1].values(b"Accept-Encoding") == [b"identity"]


@pytest.mark.parametrize("headers", [{"X": "a\r\nb"}, {"X": "☃"}, {"Ü": "a"}])
async def test_a_request_header_that_cannot_be_sent_is_refused_at_once(headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        exchange(headers=headers)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_answers_and_are_not_followed(status: int) -> None:
    script = answer(b"%d Moved" % status, b"<a>moved</a>", b"Location: ../\xe9 x#y")
    async with RawServer(script) as server, exchange() as asking:
        received = await asking.ask(page(server.url("/a"), etag='"a"'), 1)
    assert isinstance(received, Redirected)
    assert (received.status, received.location) == (status, "../\xe9 x#y")
    assert len(server.requests) == 1


async def test_a_redirect_without_a_target_is_still_a_redirect() -> None:
    received = await fetched(answer(b"302 Found"))
    assert isinstance(received, Redirected)
    assert received.location is None


async def test_errors_of_the_server_are_responses_with_their_body() -> None:
    received = await fetched(answer(b"404 Not Found", b"no such page", b"Content-Type: text/html"))
    assert isinstance(received, Response)
    assert (received.status, received.body) == (404, b"no such page")


async def test_a_head_request_has_no_body_and_no_truncation() -> None:
    received = await fetched(head(b"200 OK", b"Content-Length: 5000", GZIP), ask={"method": "HEAD"})
    assert isinstance(received, Response)
    assert (received.status, received.body) == (200, b"")


async def test_time_and_bytes_are_measured() -> None:
    now = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
    script: Script = [0.05, ok(PACKED, GZIP)]
    async with RawServer(script) as server, exchange(clock=lambda: now) as asking:
        received = await asking.ask(page(server.url()), 1)
    assert received.timing.received_at == now
    assert 50 <= received.timing.elapsed_ms < 1000
    assert received.timing.wire_bytes == pytest.approx(len(ok(PACKED, GZIP)), abs=4)


@pytest.mark.parametrize(
    "after_304",
    [
        head(b"304 Not Modified", b'ETag: "x"', b"Content-Length: 9") + b"<!DOCTYPE",
        head(b"304 Not Modified", b'ETag: "x"', b"Transfer-Encoding: chunked") + chunked(b"hello"),
        head(b"304 Not Modified", b'ETag: "x"') + b"<html>unannounced</html>",
    ],
)
async def test_fifty_304s_with_a_body_spoil_no_page(after_304: bytes) -> None:
    def alternate(request: RawRequest) -> Script:
        return after_304 if request.values(b"If-None-Match") else ok(HTML)

    async with RawServer(alternate) as server, exchange() as asking:
        for _ in range(50):
            assert isinstance(await asking.ask(page(server.url("/a"), etag='"x"'), 1), NotModified)
            assert body_of(await asking.ask(page(server.url("/b")), 1)) == HTML


def breaking_every(number: int, ending: Script) -> Any:
    """Breaks each connection at its request `number`."""
    served: dict[int, int] = {}

    def serve(request: RawRequest) -> Script:
        served[request.connection] = served.get(request.connection, 0) + 1
        return ending if served[request.connection] == number else ok(HTML)

    return serve


@pytest.mark.parametrize(
    "ending",
    [
        [End.CLOSE],
        [End.RESET],
        [head(b"200 OK", b"Content-Length: 55000") + HTML, 0.01, End.RESET],
        [b"garbage\r\n\r\n"],
    ],
)
async def test_a_kept_alive_connection_that_breaks_costs_no_page(ending: Script) -> None:
    log = Log()
    async with RawServer(breaking_every(3, ending)) as server, exchange(on_answer=log) as asking:
        received = [await asking.ask(page(server.url(f"/{number}")), 1) for number in range(30)]
    assert {body_of(each) for each in received} == {HTML}
    assert log.purposes.count(Purpose.RETRY) == 10
    assert len(server.requests) == len(log) == 40


async def test_a_fresh_connection_that_breaks_is_not_tried_again() -> None:
    async with RawServer([End.CLOSE]) as server, exchange() as asking:
        assert failed(await asking.ask(page(server.url()), 1))[0] is FailureKind.DISCONNECTED
    assert len(server.requests) == 1


async def test_a_repetition_happens_once() -> None:
    first_only = [ok(HTML)]
    serving = RawServer(lambda request: first_only.pop() if first_only else [End.CLOSE])
    async with serving as server, exchange() as asking:
        await asking.ask(page(server.url()), 1)
        assert failed(await asking.ask(page(server.url()), 1))[0] is FailureKind.DISCONNECTED
    assert len(server.requests) == 3


async def test_forbidden_addresses_fail_without_a_request() -> None:
    async with RawServer(ok(b"secret")) as server, exchange(transport=AiohttpTransport(AddressGuard())) as asking:
        for host in ("127.0.0.1", "localhost", "[::ffff:7f00:1]"):
            received = await asking.ask(page(f"http://{host}:{server.port}/"), 1)
            assert failed(received) == (FailureKind.FORBIDDEN_ADDRESS, None)
    assert server.requests == []


async def test_closed_ports_and_unknown_names_are_told_apart() -> None:
    async with RawServer(b"") as server:
        closed = server.url()
    async with exchange() as asking:
        assert failed(await asking.ask(page(closed), 1))[0] is FailureKind.CONNECT
        assert failed(await asking.ask(page("http://nowhere.invalid/"), 1))[0] is FailureKind.DNS


async def test_a_server_without_tls_is_a_tls_failure() -> None:
    def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server, exchange() as asking:
        port = server.sockets[0].getsockname()[1]
        assert failed(await asking.ask(page(f"https://127.0.0.1:{port}/"), 1)) == (FailureKind.TLS, None)


async def test_every_request_is_reported_once_with_its_answer() -> None:
    log = Log()
    async with RawServer(ok(HTML)) as server, exchange(on_answer=log) as asking:
        asks = [page(server.url(f"/{number}")) for number in range(20)]
        received = await asyncio.gather(*(asking.ask(each, 5) for each in asks))
    assert sorted(log, key=lambda pair: pair[0].url) == sorted(
        zip(asks, received, strict=True), key=lambda pair: pair[0].url
    )


async def test_another_httpx_transport_can_be_plugged_in() -> None:
    async with RawServer(ok(PACKED, GZIP)) as server:
        other: Any = httpx.AsyncHTTPTransport()
        async with exchange(transport=other) as asking:
            assert body_of(await asking.ask(page(server.url("/%7Ea[1]")), 1)) == HTML
    assert server.targets == [b"/%7Ea[1]"]


async def test_an_exchange_that_is_cancelled_leaves_its_place_to_others() -> None:
    serving = RawServer(lambda request: [5.0] if request.target == b"/slow" else ok(HTML))
    async with serving as server, exchange() as asking:
        slow = asyncio.create_task(asking.ask(page(server.url("/slow")), 1))
        waiting = asyncio.create_task(asking.ask(page(server.url("/other")), 1))
        quick = asyncio.create_task(asking.ask(page(server.url("/quick")), 1))
        await asyncio.sleep(0.05)
        slow.cancel()
        waiting.cancel()
        async with asyncio.timeout(2):
            assert body_of(await quick) == HTML


async def test_the_clock_may_stand_still() -> None:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    script = iter([answer(b"503 Busy", b"", b"Retry-After: 1"), ok(HTML)])
    async with RawServer(lambda request: next(script)) as server, exchange(clock=lambda: now) as asking:
        await asking.ask(page(server.url()), 1)
        assert asking.not_before(server.host) == now + timedelta(seconds=1)
        assert body_of(await asking.ask(page(server.url()), 1)) == HTML


async def test_own_headers_go_to_their_origins_alone() -> None:
    async with RawServer(ok(b"")) as shop, RawServer(ok(b"")) as other:
        headers = RequestHeaders(
            {"Accept": "text/html"}, {"Authorization": "hush", "accept": "*/*"}, frozenset({f"http://{shop.host}"})
        )
        async with exchange(headers=headers) as asking:
            for server in (shop, other, shop):
                await asking.ask(page(server.url()), 1)
            await asking.ask(page(f"http://localhost:{shop.port}/"), 1)
    sent = [(each.values(b"Authorization"), each.values(b"Accept")) for each in (*shop.requests, *other.requests)]
    assert sent == [([b"hush"], [b"*/*"])] * 2 + [([], [b"text/html"])] * 2


async def test_a_cookie_is_sent_with_its_request_and_no_other() -> None:
    async with RawServer(ok(b"", b"Set-Cookie: kept=no; Path=/")) as server:
        async with exchange() as asking:
            await asking.ask(page(server.url(), cookie="seen=caf\xe9"), 1)
            await asking.ask(page(server.url()), 1)
        own = RequestHeaders({}, {"cookie": "login=x; seen=0"}, frozenset({f"http://{server.host}"}))
        async with exchange(headers=own) as asking:
            await asking.ask(page(server.url(), cookie="seen=1"), 1)
            await asking.ask(page(server.url()), 1)
    assert [each.values(b"Cookie") for each in server.requests] == [
        [b"seen=caf\xe9"],
        [],
        [b"login=x; seen=1"],
        [b"login=x; seen=0"],
    ]
