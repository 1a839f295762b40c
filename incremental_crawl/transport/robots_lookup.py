"""The robots.txt of each origin: asked once, when its rules are first needed (RFC 9309)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from incremental_crawl.semantics.answers import (
    Answer,
    Ask,
    Failure,
    FailureKind,
    NotModified,
    Purpose,
    Redirected,
    Response,
)
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.urls import InvalidUrl, location_url
from incremental_crawl.semantics.validators import Validators, from_response, merge_not_modified
from incremental_crawl.transport.reading import CUT

Verdict: TypeAlias = RobotsRules | Failure


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class HeldRobots:
    """A robots.txt as it was last received, with its validators; an empty body is kept without any.

    `read_at` (UTC, aware) is when it was last read or revalidated, None where nobody knows.
    """

    body: bytes
    validators: Validators = NO_VALIDATORS
    read_at: datetime | None = None


_MOST_REDIRECTS = 5  # RFC 9309 §2.3.1.2

GOOD_FOR = timedelta(hours=24)
"""How long the rules that were last read hold while robots.txt cannot be read (RFC 9309 §2.4)."""


KnownRobots: TypeAlias = RobotsRules | HeldRobots


class RobotsLookup:
    """Rules by origin (`https://host:port`): those `known` beforehand, and those asked for with `send`.

    Known are rules in force, or a body that was received earlier and is revalidated. `received` is what is in force by
    origin, with an empty body where the origin has no robots.txt; it is for keeping.
    """

    def __init__(self, known: Mapping[str, KnownRobots], send: Callable[[Ask], Awaitable[Answer]]) -> None:
        self._verdicts: dict[str, Verdict] = {
            origin: own for origin, own in known.items() if isinstance(own, RobotsRules)
        }
        self._held = {origin: own for origin, own in known.items() if isinstance(own, HeldRobots)}
        self._send = send
        self._asking: dict[str, asyncio.Task[Verdict]] = {}
        self.received: dict[str, HeldRobots] = {}

    def known(self, origin: str) -> Verdict | None:
        """The verdict where it needs no request."""
        return self._verdicts.get(origin)

    async def find(self, origin: str) -> Verdict:
        """The rules of `origin`, or why its pages must not be asked. Whoever comes meanwhile waits for one request."""
        if (verdict := self._verdicts.get(origin)) is not None:
            return verdict
        task = self._asking.get(origin)
        if task is None:
            task = self._asking[origin] = asyncio.create_task(self._find(origin))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Give up what is still being asked."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _find(self, origin: str) -> Verdict:
        try:
            verdict = await self._ask(origin)
            self._verdicts[origin] = verdict
            return verdict
        finally:
            del self._asking[origin]

    async def _ask(self, origin: str) -> Verdict:
        """Revalidate what is held, or read it anew; validators belong to the URL that was asked, to no redirect."""
        url, held = f"{origin}/robots.txt", self._held.get(origin, HeldRobots(b""))
        own = held.validators
        answer = await self._send(Ask(url, Purpose.ROBOTS, etag=own.etag, last_modified=own.last_modified))
        if isinstance(answer, NotModified) and own:
            at = answer.timing.received_at
            self.received[origin] = HeldRobots(held.body, merge_not_modified(own, answer.headers), at)
            return RobotsRules.parse(held.body)
        validators = from_response(answer.headers) if isinstance(answer, Response) else Validators()
        return self._judge(origin, await self._follow(url, answer), validators)

    async def _follow(self, url: str, answer: Answer) -> Answer:
        """The answer at the end of at most five redirects; the rules count for the first origin (RFC 9309 §2.3.1.2)."""
        for _ in range(_MOST_REDIRECTS):
            if not isinstance(answer, Redirected) or (target := _target(url, answer)) is None:
                return answer
            url = target
            answer = await self._send(Ask(url, Purpose.ROBOTS))
        return answer

    def _judge(self, origin: str, answer: Answer, validators: Validators) -> Verdict:
        match answer:
            case Response(status=status, body=body) if 200 <= status < 300:
                complete = CUT not in answer.warnings
                own = validators if complete else Validators()
                self.received[origin] = HeldRobots(body, own, answer.timing.received_at)
                return RobotsRules.parse(body, complete=complete)
            case Redirected():
                return self._none(origin, answer)
            case Response(status=status) if 400 <= status < 500 and status != 429:
                return self._none(origin, answer)
            case Failure(kind=FailureKind.FORBIDDEN_ADDRESS):
                return answer
        return self._last_good(origin, answer.timing.received_at) or _unavailable(origin, answer)

    def _none(self, origin: str, answer: Answer) -> RobotsRules:
        """Unavailable, in the RFC's word: everything may be asked (RFC 9309 §2.3.1.3)."""
        self.received[origin] = HeldRobots(b"", read_at=answer.timing.received_at)
        return RobotsRules.allow_all()

    def _last_good(self, origin: str, now: datetime) -> RobotsRules | None:
        """The rules that were read last, as long as they may stand in for those that cannot be read."""
        held = self._held.get(origin)
        if held is None or held.read_at is None or now - held.read_at > GOOD_FOR:
            return None
        return RobotsRules.parse(held.body)


def _target(url: str, answer: Redirected) -> str | None:
    try:
        return location_url(answer.location, url) if answer.location else None
    except InvalidUrl:
        return None


def _unavailable(origin: str, answer: Answer) -> Failure:
    """Unreachable: nothing may be asked until it can be read (RFC 9309 §2.3.1.4); 429 says the same in other words."""
    cause = answer.detail if isinstance(answer, Failure) else f"status {getattr(answer, 'status', 304)}"
    detail = f"{origin}/robots.txt could not be read ({cause}); the origin's pages stay due until it can"
    return Failure(FailureKind.ROBOTS_UNAVAILABLE, detail, replace(answer.timing, elapsed_ms=0.0, wire_bytes=0))
