"""Exchanges for tests: short limits, no rate, no robots.txt unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from incremental_crawl.config.site import Politeness
from incremental_crawl.semantics.answers import Answer, Ask, Purpose
from incremental_crawl.semantics.request_headers import RequestHeaders
from incremental_crawl.semantics.strain import HostStrain
from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.budget import Budget
from incremental_crawl.transport.client import AiohttpTransport
from incremental_crawl.transport.exchange import Exchange
from incremental_crawl.transport.memory import Memory
from incremental_crawl.transport.robots_lookup import KnownRobots
from tests.transport.raw_server import RawServer, Script

LOOPBACK = AddressGuard(["127.0.0.0/8"])


class Log(list[tuple[Ask, Answer]]):
    """What `on_answer` was told."""

    def __call__(self, ask: Ask, answer: Answer) -> None:
        self.append((ask, answer))

    @property
    def purposes(self) -> list[Purpose]:
        return [ask.purpose for ask, _ in self]


def exchange(
    *,
    transport: AiohttpTransport | None = None,
    budget: Budget | None = None,
    on_answer: Callable[[Ask, Answer], None] | None = None,
    robots: Mapping[str, KnownRobots] | None = None,
    headers: RequestHeaders | Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    strains: Mapping[str, HostStrain] | None = None,
    chance: Callable[[], float] = lambda: 0.0,
    **politeness: Any,
) -> Exchange:
    """An exchange that may dial loopback; further names are settings of `politeness`."""
    settings = {"requests_per_second": None, "respect_robots": False} | politeness
    return Exchange(
        Politeness(**settings),
        headers
        if isinstance(headers, RequestHeaders)
        else RequestHeaders({"Accept-Encoding": "gzip", "User-Agent": "tests"} if headers is None else headers),
        transport or AiohttpTransport(LOOPBACK),
        clock,
        budget or Budget(),
        on_answer,
        Memory(robots or {}, strains or {}),
        chance,
    )


def page(url: str, **rest: Any) -> Ask:
    """An ordinary request for a page."""
    return Ask(url, rest.pop("purpose", Purpose.FETCH), **rest)


async def fetched(script: Script, path: str = "/", ask: Mapping[str, Any] | None = None, **politeness: Any) -> Answer:
    """The answer that an exchange makes of what a server sends."""
    async with RawServer(script) as server, exchange(**politeness) as asking:
        return await asking.ask(page(server.url(path), **(ask or {})), 1)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)
