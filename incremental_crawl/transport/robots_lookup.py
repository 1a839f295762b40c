"""The robots.txt of each origin: asked once, when its rules are first needed (RFC 9309)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from incremental_crawl.semantics.answers import Answer, Ask, Failure, FailureKind, Purpose, Redirected, Response
from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.transport.reading import CUT

Verdict: TypeAlias = RobotsRules | Failure

_MOST_REDIRECTS = 5  # RFC 9309 §2.3.1.2


class RobotsLookup:
    """Rules by origin (`https://host:port`): those `known` beforehand, and those asked for with `send`.

    `bodies` holds what was received by origin, empty where the origin has no robots.txt; it is for keeping.
    """

    def __init__(self, known: Mapping[str, RobotsRules], send: Callable[[Ask], Awaitable[Answer]]) -> None:
        self._verdicts: dict[str, Verdict] = dict(known)
        self._send = send
        self._asking: dict[str, asyncio.Task[Verdict]] = {}
        self.bodies: dict[str, bytes] = {}

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
            verdict = self._judge(origin, await self._follow(f"{origin}/robots.txt"))
            self._verdicts[origin] = verdict
            return verdict
        finally:
            del self._asking[origin]

    async def _follow(self, url: str) -> Answer:
        """The answer at the end of at most five redirects; the rules count for the first origin (RFC 9309 §2.3.1.2)."""
        answer = await self._send(Ask(url, Purpose.ROBOTS))
        for _ in range(_MOST_REDIRECTS):
            if not isinstance(answer, Redirected) or (target := _target(url, answer)) is None:
                return answer
            url = target
            answer = await self._send(Ask(url, Purpose.ROBOTS))
        return answer

    def _judge(self, origin: str, answer: Answer) -> Verdict:
        match answer:
            case Response(status=status, body=body) if 200 <= status < 300:
                self.bodies[origin] = body
                return RobotsRules.parse(body, complete=CUT not in answer.warnings)
            case Redirected():
                return self._none(origin)
            case Response(status=status) if 400 <= status < 500 and status != 429:
                return self._none(origin)
            case Failure(kind=FailureKind.FORBIDDEN_ADDRESS):
                return answer
        return _unavailable(origin, answer)

    def _none(self, origin: str) -> RobotsRules:
        """Unavailable, in the RFC's word: everything may be asked (RFC 9309 §2.3.1.3)."""
        self.bodies[origin] = b""
        return RobotsRules.allow_all()


def _target(url: str, answer: Redirected) -> str | None:
    try:
        return canonical_url(answer.location, base=url) if answer.location else None
    except InvalidUrl:
        return None


def _unavailable(origin: str, answer: Answer) -> Failure:
    """Unreachable: nothing may be asked until it can be read (RFC 9309 §2.3.1.4); 429 says the same in other words."""
    cause = answer.detail if isinstance(answer, Failure) else f"status {getattr(answer, 'status', 304)}"
    detail = f"{origin}/robots.txt could not be read ({cause}); the origin's pages stay due until it can"
    return Failure(FailureKind.ROBOTS_UNAVAILABLE, detail, replace(answer.timing, elapsed_ms=0.0, wire_bytes=0))
