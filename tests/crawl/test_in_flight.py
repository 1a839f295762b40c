"""Many requests at a time: no more than allowed, none lost, and no host waits for another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.stages.in_flight import in_flight
from incremental_crawl.transport.budget import BudgetSpent, HostResting

Item = tuple[str, int]


def lane(item: Item) -> str:
    return item[0]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=60), st.integers(1, 5), st.booleans())
@settings(deadline=None, max_examples=60)
def test_every_item_is_done_once_and_each_lane_keeps_its_limit(items: list[Item], limit: int, lanes: bool) -> None:
    now: Counter[str] = Counter()
    most: Counter[str] = Counter()

    async def work(item: Item) -> int:
        name = lane(item) if lanes else ""
        now[name] += 1
        most[name] = max(most[name], now[name])
        for _ in range(item[1]):
            await asyncio.sleep(0)
        now[name] -= 1
        return item[1]

    async def run() -> list[tuple[Item, int | BudgetSpent]]:
        return [result async for result in in_flight(iter(items), work, limit, lane if lanes else None)]

    results = asyncio.run(run())
    assert Counter(item for item, _ in results) == Counter(items)
    assert all(result == item[1] for item, result in results)
    assert all(number <= limit for number in most.values())


def test_a_slow_host_holds_up_no_other() -> None:
    items: list[Item] = [("slow", n) for n in range(100)] + [("quick", n) for n in range(50)]

    async def run() -> list[str]:
        released = asyncio.Event()
        order = []

        async def work(item: Item) -> None:
            if lane(item) == "slow":
                await released.wait()

        async for item, _ in in_flight(iter(items), work, 4, lane):
            order.append(lane(item))
            if order.count("quick") == 50:
                released.set()
        return order

    assert asyncio.run(asyncio.wait_for(run(), 5)) == ["quick"] * 50 + ["slow"] * 100


def test_a_resting_host_stops_itself_and_a_spent_budget_everybody() -> None:
    taken: list[Item] = []

    def items() -> Iterator[Item]:
        for number in range(1000):
            taken.append(("a", number))
            yield taken[-1]

    async def work(item: Item) -> str:
        await asyncio.sleep(0)
        if item[1] == 3:
            raise HostResting("rests")
        if item[1] == 20:
            raise BudgetSpent("spent")
        return "done"

    async def run() -> dict[int, str | BudgetSpent]:
        return {item[1]: result async for item, result in in_flight(items(), work, 2)}

    results = asyncio.run(run())
    assert isinstance(results.pop(3), HostResting)
    assert isinstance(results.pop(20), BudgetSpent)
    assert set(results.values()) == {"done"}
    assert 20 <= len(taken) <= 23


def test_a_fault_of_the_work_is_not_swallowed() -> None:
    async def work(item: Item) -> None:
        raise ZeroDivisionError

    async def run() -> None:
        async for _ in in_flight(iter([("a", 1)]), work, 2):
            pass

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())


def test_a_fault_of_the_items_is_not_swallowed() -> None:
    def items() -> Iterator[Item]:
        yield "a", 1
        yield "a", 2
        raise ZeroDivisionError

    async def work(item: Item) -> None:
        await asyncio.sleep(0)

    async def run() -> None:
        async for _ in in_flight(items(), work, 1):
            pass

    with pytest.raises(ZeroDivisionError):
        asyncio.run(asyncio.wait_for(run(), 5))


def test_whoever_stops_listening_stops_the_work() -> None:
    started: list[Item] = []

    async def work(item: Item) -> None:
        started.append(item)
        await asyncio.sleep(0)

    async def run() -> None:
        results = in_flight(iter([("a", n) for n in range(1000)]), work, 2)
        async for _ in results:
            break
        await results.aclose()

    asyncio.run(run())
    assert len(started) < 20
