"""robots.txt by RFC 9309: asked once per origin, obeyed, and never guessed when it cannot be read."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from typing import Any

import pytest

from incremental_crawl.semantics.answers import Answer, Failure, FailureKind, Purpose, Response
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.client import AiohttpTransport
from tests.transport.asking import Log, exchange, page
from tests.transport.raw_server import End, RawRequest, RawServer, Script, answer, chunked, head, ok

pytestmark = pytest.mark.anyio
RULES = b"User-agent: *\nDisallow: /private\nSitemap: /map.xml\n"


def site(robots: Script, others: Mapping[bytes, Script] | None = None) -> RawServer:
    """A server with this robots.txt whose other pages are all fine."""

    def serve(request: RawRequest) -> Script:
        if request.target == b"/robots.txt":
            return robots
        return (others or {}).get(request.target, ok(b"page"))

    return RawServer(serve)


def redirect(target: str) -> bytes:
    return answer(b"301 Moved", b"", b"Location: " + target.encode())


async def asked(server: RawServer, path: str = "/page", **politeness: Any) -> Answer:
    async with exchange(respect_robots=True, **politeness) as asking:
        return await asking.ask(page(server.url(path)), 4)


def refused_as(received: Answer) -> FailureKind:
    assert isinstance(received, Failure), received
    assert "robots.txt" in received.detail
    return received.kind


async def test_it_is_asked_once_however_many_pages_are_waiting() -> None:
    log = Log()
    async with site([0.05, ok(RULES)]) as server, exchange(respect_robots=True, on_answer=log) as asking:
        received = await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 4) for number in range(20)))
        ((origin, own),) = asking.robots_received.items()
        assert (origin, own.body) == (f"http://{server.host}", RULES)
        assert own.read_at is not None
        rules = await asking.robots_rules(server.url("/any"))
    assert all(isinstance(each, Response) for each in received)
    assert server.targets[0] == b"/robots.txt"
    assert server.targets.count(b"/robots.txt") == 1
    assert log.purposes[0] is Purpose.ROBOTS
    assert isinstance(rules, RobotsRules)
    assert rules.sitemaps == ("/map.xml",)


async def test_what_it_disallows_is_not_asked() -> None:
    async with site(ok(RULES)) as server:
        received = await asked(server, "/private/x")
        assert refused_as(received) is FailureKind.ROBOTS
    assert server.targets == [b"/robots.txt"]


async def test_rules_known_beforehand_need_no_request() -> None:
    async with site(ok(b"")) as server:
        robots = {f"http://{server.host}": RobotsRules.parse(RULES)}
        async with exchange(respect_robots=True, robots=robots) as asking:
            assert refused_as(await asking.ask(page(server.url("/private")), 1)) is FailureKind.ROBOTS
            assert isinstance(await asking.ask(page(server.url("/free")), 1), Response)
            assert asking.robots_received == {}
    assert server.targets == [b"/free"]


async def test_a_site_that_says_so_is_not_asked_for_it() -> None:
    async with site(ok(RULES)) as server, exchange(respect_robots=False) as asking:
        assert isinstance(await asking.ask(page(server.url("/private")), 1), Response)
    assert server.targets == [b"/private"]


@pytest.mark.parametrize("status", [b"404 Not Found", b"410 Gone", b"403 Forbidden", b"401 Unauthorized"])
async def test_none_allows_everything(status: bytes) -> None:
    async with site(answer(status, b"<h1>Disallow: /</h1>")) as server:
        assert isinstance(await asked(server, "/private"), Response)


@pytest.mark.parametrize(
    "script",
    [
        answer(b"500 Oops"),
        answer(b"503 Busy", b"", b"Retry-After: 120"),
        answer(b"429 Too Many Requests"),
        [End.CLOSE],
        [head(b"200 OK", b"Content-Length: 500") + b"User-agent: *\nDisa", End.CLOSE],
        [2.0],
        head(b"304 Not Modified"),
    ],
)
async def test_one_that_cannot_be_read_keeps_all_pages_from_being_asked(script: Script) -> None:
    async with site(script) as server:
        assert refused_as(await asked(server, timeout="0.2s")) is FailureKind.ROBOTS_UNAVAILABLE
    assert server.targets == [b"/robots.txt"]


async def test_an_unreadable_one_concerns_its_origin_only_and_is_not_asked_again() -> None:
    async with site(answer(b"500 Oops")) as broken, site(ok(RULES)) as fine, exchange(respect_robots=True) as asking:
        for _ in range(3):
            assert refused_as(await asking.ask(page(broken.url()), 1)) is FailureKind.ROBOTS_UNAVAILABLE
        assert isinstance(await asking.ask(page(fine.url()), 1), Response)
        assert asking.robots_received.keys() == {f"http://{fine.host}"}
    assert broken.targets == [b"/robots.txt"]


async def test_a_forbidden_address_is_named_as_such() -> None:
    async with site(ok(RULES)) as server:
        received = await asked(server, transport=AiohttpTransport(AddressGuard()))
    assert isinstance(received, Failure)
    assert received.kind is FailureKind.FORBIDDEN_ADDRESS
    assert server.requests == []


async def test_rules_behind_redirects_count_for_the_origin_that_was_asked() -> None:
    async with (
        site(ok(b"User-agent: *\nDisallow: /y\n"), {b"/a/robots.txt": ok(RULES)}) as other,
        site(redirect(other.url("/a/robots.txt"))) as server,
        exchange(respect_robots=True) as asking,
    ):
        assert refused_as(await asking.ask(page(server.url("/private")), 1)) is FailureKind.ROBOTS
        assert isinstance(await asking.ask(page(server.url("/y")), 1), Response)
        assert isinstance(await asking.ask(page(other.url("/private")), 1), Response)
        assert refused_as(await asking.ask(page(other.url("/y")), 1)) is FailureKind.ROBOTS


def hops(count: int) -> dict[bytes, Script]:
    chain: dict[bytes, Script] = {b"/%d" % number: redirect(f"/{number + 1}") for number in range(1, count)}
    return chain | {b"/%d" % count: ok(RULES)}


async def test_five_redirects_are_followed_and_a_sixth_means_there_is_none() -> None:
    async with site(redirect("/1"), hops(5)) as server:
        assert refused_as(await asked(server, "/private")) is FailureKind.ROBOTS
    async with site(redirect("/1"), hops(6)) as server:
        assert isinstance(await asked(server, "/private"), Response)
        assert b"/6" not in server.targets


@pytest.mark.parametrize("target", ["/robots.txt", "", "file:///etc/hostname", "http://[bad/"])
async def test_a_loop_or_a_target_that_is_no_url_means_there_is_none(target: str) -> None:
    async with site(redirect(target)) as server:
        assert isinstance(await asked(server, "/private"), Response)


@pytest.mark.parametrize("target", ["login?to=/robots.txt", "./login", "/login"])
async def test_one_behind_a_redirect_to_a_page_holds_no_rules(target: str) -> None:
    form = ok(b"<!doctype html><form action=/login>\n<p>Disallow: /private</p></form>")
    async with site(redirect(target), {b"/login": form, b"/login?to=/robots.txt": form}) as server:
        assert isinstance(await asked(server, "/private"), Response)
        assert server.targets[1].startswith(b"/login")


async def test_a_huge_one_counts_up_to_a_limit_and_the_cut_line_does_not() -> None:
    rules = b"".join(b"Disallow: /p%06d\n" % number for number in range(200_000))
    body = b"User-agent: *\n" + rules
    script = head(b"200 OK", b"Transfer-Encoding: chunked") + chunked(body)
    async with site(script) as server, exchange(respect_robots=True) as asking:
        assert isinstance(await asking.ask(page(server.url("/other")), 1), Response)
        assert refused_as(await asking.ask(page(server.url("/p000001")), 1)) is FailureKind.ROBOTS
        assert 500 * 1024 < len(asking.robots_received[f"http://{server.host}"].body) < len(body)


async def test_a_huge_one_counts_up_to_a_limit_when_it_is_packed_too() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /p%06d\n" % number for number in range(200_000))
    packed = ok(gzip.compress(body), b"Content-Encoding: gzip")
    async with site(packed) as server, exchange(respect_robots=True) as asking:
        assert isinstance(await asking.ask(page(server.url("/other")), 1), Response)
        assert refused_as(await asking.ask(page(server.url("/p000001")), 1)) is FailureKind.ROBOTS


async def test_an_endless_one_is_stopped() -> None:
    begin = head(b"200 OK", b"Content-Type: text/plain") + b"User-agent: *\nDisallow: /private\n"
    async with site([begin, *([b"# endless\n" * 10_000] * 100)]) as server:
        async with asyncio.timeout(5):
            assert refused_as(await asked(server, "/private")) is FailureKind.ROBOTS


async def test_a_page_that_is_given_up_while_it_is_asked_harms_no_other() -> None:
    async with site([0.1, ok(RULES)]) as server, exchange(respect_robots=True) as asking:
        given_up = asyncio.create_task(asking.ask(page(server.url("/1")), 1))
        await asyncio.sleep(0.02)
        other = asyncio.create_task(asking.ask(page(server.url("/2")), 1))
        await asyncio.sleep(0.02)
        given_up.cancel()
        assert isinstance(await other, Response)
    assert server.targets == [b"/robots.txt", b"/2"]
