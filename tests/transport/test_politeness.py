"""How fast a host is asked, when it is left alone, and when a visit stops asking."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.answers import NotModified, Purpose, Response
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.strain import HostStrain
from incremental_crawl.transport.budget import Budget, BudgetSpent, HostResting
from incremental_crawl.transport.exchange import Exchange
from incremental_crawl.transport.host_gate import HostGate
from tests.transport.asking import Log, exchange, page
from tests.transport.raw_server import End, RawRequest, RawServer, Script, answer, head, ok

pytestmark = pytest.mark.anyio
NOT_MODIFIED = head(b"304 Not Modified")


def gaps(server: RawServer) -> list[float]:
    """Seconds between one request and the next."""
    times = sorted(request.at for request in server.requests)
    return [later - earlier for earlier, later in pairwise(times)]


async def test_no_more_requests_are_in_flight_than_allowed() -> None:
    async with RawServer([0.02, ok(b"")]) as server, exchange() as asking:
        await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 4) for number in range(40)))
    assert server.most_in_flight == 4
    assert len(server.requests) == 40


async def test_two_hosts_do_not_wait_for_each_other() -> None:
    async with RawServer([0.4, ok(b"")]) as slow, RawServer(ok(b"")) as quick, exchange() as asking:
        waiting = asyncio.create_task(asking.ask(page(slow.url()), 1))
        begun = time.monotonic()
        await asyncio.gather(*(asking.ask(page(quick.url(f"/{number}")), 1) for number in range(10)))
        assert time.monotonic() - begun < 0.3
        await waiting


async def test_the_rate_holds_however_many_ask() -> None:
    async with RawServer(ok(b"")) as server, exchange(requests_per_second=20) as asking:
        await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 24) for number in range(10)))
    assert min(gaps(server)) > 0.03
    assert 0.42 < server.requests[-1].at - server.requests[0].at < 0.9


async def test_the_crawl_delay_slows_its_host_down_and_no_other() -> None:
    async with RawServer(ok(b"")) as slow, RawServer(ok(b"")) as free:
        robots = {
            f"http://{slow.host}": RobotsRules.parse(b"User-agent: *\nCrawl-delay: 0.15\n"),
            f"http://{free.host}": RobotsRules.allow_all(),
        }
        async with exchange(robots=robots, respect_robots=True, requests_per_second=100) as asking:
            hosts = [slow] * 4 + [free] * 4
            await asyncio.gather(*(asking.ask(page(server.url()), 24) for server in hosts))
    assert sum(gaps(slow)) > 0.42
    assert sum(gaps(free)) < 0.3


async def test_a_crawl_delay_shorter_than_the_sites_own_rate_makes_it_no_faster() -> None:
    async with RawServer(ok(b"")) as server:
        robots = {f"http://{server.host}": RobotsRules.parse(b"User-agent: *\nCrawl-delay: 0.01\n")}
        async with exchange(robots=robots, respect_robots=True, requests_per_second=10) as asking:
            await asyncio.gather(*(asking.ask(page(server.url()), 24) for _ in range(4)))
    assert sum(gaps(server)) > 0.28


@pytest.mark.parametrize("status", [b"429 Too Many Requests", b"503 Service Unavailable"])
async def test_retry_after_pauses_the_host_for_everybody(status: bytes) -> None:
    refusals = [answer(status, b"", b"Retry-After: 1")]
    async with RawServer(lambda request: refusals.pop() if refusals else ok(b"")) as server, exchange() as asking:
        refused = await asking.ask(page(server.url("/first")), 8)
        assert isinstance(refused, Response)
        until = asking.not_before(server.host)
        assert until is not None
        assert timedelta(0) < until - datetime.now(UTC) <= timedelta(seconds=1)
        assert {host: own.not_before for host, own in asking.strains().items()} == {server.host: until}
        await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 8) for number in range(8)))
        assert asking.not_before(server.host) is None
    assert gaps(server)[0] > 0.9
    assert len(server.requests) == 9


async def test_a_pause_also_holds_for_those_who_were_waiting_for_their_turn() -> None:
    refusals = [answer(b"429 Too Many Requests", b"", b"Retry-After: 1")]
    serving = RawServer(lambda request: refusals.pop() if refusals else ok(b""))
    async with serving as server, exchange(requests_per_second=10) as asking:
        await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 8) for number in range(3)))
    assert gaps(server)[0] > 0.9


async def test_a_place_given_to_somebody_who_just_gave_up_goes_to_the_next() -> None:
    gate = HostGate("shop.example", interval=0.0, longest_wait=60.0)
    await gate.enter(1)
    given_up, waiting = asyncio.create_task(gate.enter(1)), asyncio.create_task(gate.enter(1))
    await asyncio.sleep(0)
    gate.leave()
    given_up.cancel()
    async with asyncio.timeout(1):
        await waiting


async def test_a_repetition_delays_the_next_request() -> None:
    served: list[RawRequest] = []

    def second_breaks(request: RawRequest) -> Script:
        served.append(request)
        return [End.CLOSE] if len(served) == 2 else ok(b"")

    async with RawServer(second_breaks) as server, exchange(requests_per_second=10) as asking:
        for number in range(3):
            await asking.ask(page(server.url(f"/{number}")), 1)
    assert server.targets == [b"/0", b"/1", b"/1", b"/2"]
    assert gaps(server)[1] < 0.08
    assert gaps(server)[2] > 0.15


async def test_a_refusal_without_retry_after_backs_off_once_per_incident() -> None:
    def overloaded(request: RawRequest) -> Script:
        return [0.05, answer(b"429 Too Many Requests")] if request.target == b"/a" else ok(b"")

    async with RawServer(overloaded) as server, exchange() as asking:
        await asyncio.gather(*(asking.ask(page(server.url("/a")), 8) for _ in range(8)))
        await asking.ask(page(server.url("/b")), 8)
    times = sorted(request.at for request in server.requests)
    assert 0.9 < times[8] - times[7] < 1.6


async def test_a_date_in_retry_after_counts_too() -> None:
    later = datetime(2026, 1, 5, 10, 30, tzinfo=UTC)
    script = answer(b"503 Busy", b"", b"Retry-After: Mon, 05 Jan 2026 10:30:00 GMT")
    async with RawServer(script) as server, exchange(clock=lambda: later - timedelta(minutes=30)) as asking:
        await asking.ask(page(server.url()), 1)
        assert asking.not_before(server.host) == later


async def test_a_pause_of_an_earlier_visit_holds_and_a_long_one_is_not_waited_for() -> None:
    now = datetime(2026, 1, 5, 10, tzinfo=UTC)
    async with RawServer(ok(b"")) as server:
        soon = {server.host: HostStrain(now + timedelta(seconds=0.3))}
        async with exchange(strains=soon, clock=lambda: now) as asking:
            begun = time.monotonic()
            await asking.ask(page(server.url()), 1)
            assert time.monotonic() - begun > 0.25
        late = {server.host: HostStrain(now + timedelta(hours=1))}
        async with exchange(strains=late, clock=lambda: now) as asking:
            with pytest.raises(HostResting, match="11:00"):
                await asking.ask(page(server.url()), 1)
    assert len(server.requests) == 1


async def test_the_request_budget_is_exact_under_concurrency() -> None:
    async with RawServer([0.01, ok(b"")]) as server, exchange(budget=Budget(requests=10)) as asking:
        asks = (asking.ask(page(server.url(f"/{number}")), 4) for number in range(30))
        received = await asyncio.gather(*asks, return_exceptions=True)
    assert sum(isinstance(each, BudgetSpent) for each in received) == 20
    assert len(server.requests) == 10


async def test_the_byte_budget_stops_after_the_answer_that_spends_it() -> None:
    budget = Budget(bytes=5000)
    async with RawServer(ok(b"a" * 3000)) as server, exchange(budget=budget) as asking:
        await asking.ask(page(server.url()), 1)
        await asking.ask(page(server.url()), 1)
        with pytest.raises(BudgetSpent, match="bytes_per_visit"):
            await asking.ask(page(server.url()), 1)
    assert 6000 < budget.bytes_spent < 6500


async def test_time_that_is_up_stops_at_once_and_also_turns_that_would_come_too_late() -> None:
    async with RawServer(ok(b"")) as server:
        async with exchange(budget=Budget(deadline=time.monotonic() - 1)) as asking:
            with pytest.raises(BudgetSpent, match="time_per_visit"):
                await asking.ask(page(server.url()), 1)
        async with exchange(budget=Budget(deadline=time.monotonic() + 1), requests_per_second=0.1) as asking:
            await asking.ask(page(server.url()), 1)
            begun = time.monotonic()
            with pytest.raises(BudgetSpent):
                await asking.ask(page(server.url()), 1)
            assert time.monotonic() - begun < 0.5
    assert len(server.requests) == 1


async def test_robots_and_sitemaps_are_charged_but_never_refused() -> None:
    budget = Budget(requests=1)
    async with RawServer(ok(b"")) as server, exchange(budget=budget) as asking:
        for purpose in (Purpose.SITEMAP, Purpose.ROBOTS, Purpose.SITEMAP):
            await asking.ask(page(server.url("/x"), purpose=purpose), 1)
        assert (budget.requests_spent, budget.requests_left, budget.left()) == (3, 0, False)
        with pytest.raises(BudgetSpent, match="requests_per_visit"):
            await asking.ask(page(server.url()), 1)


async def test_a_repetition_is_charged_and_not_made_on_an_empty_budget() -> None:
    script = [ok(b"1")]
    log = Log()
    serving = RawServer(lambda request: script.pop() if script else [End.CLOSE])
    async with serving as server, exchange(budget=Budget(requests=2), on_answer=log) as asking:
        await asking.ask(page(server.url()), 1)
        await asking.ask(page(server.url()), 1)
    assert len(server.requests) == len(log) == 2


async def test_a_thousand_revalidations_need_no_more_connections_than_places() -> None:
    async with RawServer(NOT_MODIFIED) as server, exchange() as asking:
        asks = (asking.ask(page(server.url(f"/{number}"), etag='"a"'), 24) for number in range(1000))
        received = await asyncio.gather(*asks)
    assert all(isinstance(each, NotModified) for each in received)
    assert max(request.connection for request in server.requests) <= 24


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), max_size=30), st.integers(0, 20))
def test_a_budget_never_comes_back(charges: list[tuple[int, int]], limit: int) -> None:
    budget = Budget(requests=limit)
    lefts = [budget.left()]
    for requests, size in charges:
        budget.spend(requests, size)
        lefts.append(budget.left())
    assert lefts == sorted(lefts, reverse=True)
    assert budget.left() == (sum(requests for requests, _ in charges) < limit)
    assert budget.requests_left == max(0, limit - budget.requests_spent)


class TokenBucket:
    """Serves `burst` requests at once and `rate` more each second; others are refused, and cost `penalty_s` of time."""

    def __init__(self, rate: float, burst: float, penalty_s: float) -> None:
        self.rate, self.burst, self.penalty_s = rate, burst, penalty_s
        self.tokens, self.at = burst, time.monotonic()
        self.refused = 0
        self.served: set[bytes] = set()

    def __call__(self, request: RawRequest) -> Script:
        now = time.monotonic()
        self.tokens, self.at = min(self.burst, self.tokens + (now - self.at) * self.rate), now
        if self.tokens < 1:
            self.tokens -= self.penalty_s * self.rate
            self.refused += 1
            return answer(b"429 Too Many Requests")
        self.tokens -= 1
        self.served.add(request.target)
        return ok(b"page")


async def test_a_strained_host_is_asked_less_until_all_is_there_and_no_other_host_waits() -> None:
    bucket, concurrency = TokenBucket(rate=6, burst=5, penalty_s=0.2), 8

    async def insist(asking: Exchange, url: str) -> None:
        while not (isinstance(got := await asking.ask(page(url), concurrency), Response) and got.status == 200):
            pass

    async with RawServer(bucket) as strained, RawServer(ok(b"page")) as healthy, exchange() as asking:
        crawling = [asyncio.create_task(insist(asking, strained.url(f"/{number}"))) for number in range(40)]
        await asyncio.sleep(0.2)
        begun = time.monotonic()
        await asyncio.gather(*(asking.ask(page(healthy.url(f"/{number}")), concurrency) for number in range(60)))
        assert time.monotonic() - begun < 1.0, "the pause of one host is no pause of another"
        async with asyncio.timeout(60):
            await asyncio.gather(*crawling)
        assert asking.strains().keys() == {strained.host}
    assert len(bucket.served) == 40
    assert bucket.refused <= 3 * concurrency


async def test_strain_is_remembered_and_forgiven() -> None:
    async with RawServer(ok(b"page")) as server:
        held = {server.host: HostStrain(None, incidents=1, interval_s=0.1)}
        async with exchange(strains=held) as asking:
            await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 24) for number in range(11)))
            assert asking.strains() == {server.host: HostStrain(None, 0, 0.0)}, "to be forgotten"
            await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 24) for number in range(20)))
    assert sum(gaps(server)[:10]) > 0.9
    assert sum(gaps(server)[11:]) < 0.9


async def test_under_strain_half_as_many_requests_are_in_flight() -> None:
    async with (
        RawServer([0.3, ok(b"page")]) as server,
        exchange(strains={server.host: HostStrain(None, incidents=2)}) as asking,
    ):
        await asyncio.gather(*(asking.ask(page(server.url(f"/{number}")), 12) for number in range(9)))
    assert server.most_in_flight <= 3


async def test_pauses_double_with_every_incident_and_are_spread_by_chance() -> None:
    moment = datetime(2026, 1, 5, 10, tzinfo=UTC)
    pauses = []
    async with RawServer(answer(b"503 Busy")) as server:
        for incidents in range(8):
            held = {server.host: HostStrain(None, incidents)}
            async with exchange(strains=held, clock=lambda: moment, chance=lambda: 0.5) as asking:
                await asking.ask(page(server.url()), 1)
                until = asking.not_before(server.host)
                assert until is not None
                pauses.append((until - moment).total_seconds())
                assert asking.strains()[server.host].incidents == incidents + 1
    assert pauses == [1.25 * 2**number for number in range(8)]


async def test_a_long_list_of_incidents_leaves_the_host_alone_instead_of_waiting() -> None:
    async with (
        RawServer(answer(b"429 Busy")) as server,
        exchange(strains={server.host: HostStrain(None, 6)}) as asking,
    ):
        await asking.ask(page(server.url()), 1)
        with pytest.raises(HostResting):
            await asking.ask(page(server.url()), 1)
    assert len(server.requests) == 1
