"""A client's trial: visit every behaviour round after round, then be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from incremental_crawl.origin.adversarial.adversarial_origin import AdversarialOrigin
from incremental_crawl.origin.adversarial.behaviour import Behaviour
from incremental_crawl.origin.adversarial.expectations import ROUNDS
from incremental_crawl.origin.adversarial.judge import NOTHING, Kept, judge
from incremental_crawl.origin.adversarial.logged import Logged


class Client(Protocol):
    """Whatever keeps pages fresh. It is told the same URLs in every round and remembers what it wants in between."""

    def visit(self, urls: Sequence[str]) -> Mapping[str, Kept]:
        """Ask for `urls` once more; what is held then of every URL it knows, those that it was led to included."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a client did with one behaviour: what was wrong, and what it cost."""

    behaviour: Behaviour
    problems: tuple[str, ...]
    requests: int
    honest_304s: int
    body_bytes: int

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems


def trial(
    origin: AdversarialOrigin, client: Client, behaviours: Sequence[Behaviour] | None = None, rounds: int = ROUNDS
) -> dict[str, Verdict]:
    """Let `client` visit the behaviours (all by default) over all rounds; its verdicts by the behaviours' names.

    The origin is restarted first. Raises what the client raises.
    """
    chosen = origin.behaviours if behaviours is None else behaviours
    starts = [url for behaviour in chosen for url in origin.starts(behaviour)]
    origin.restart()
    kept: list[Mapping[str, Kept]] = []
    for number in range(rounds):
        origin.round = number
        kept.append(client.visit(starts))
    return verdicts(origin, kept, chosen)


def verdicts(
    origin: AdversarialOrigin, rounds: Sequence[Mapping[str, Kept]], behaviours: Sequence[Behaviour]
) -> dict[str, Verdict]:
    """Judge what was kept by URL, round by round, with the origin's log as it is now."""
    logged: dict[str, list[Logged]] = {one.name: [] for one in behaviours}
    for entry in origin.log:
        if entry.behaviour in logged:
            logged[entry.behaviour].append(entry)
    return {one.name: _verdict(origin, one, rounds, logged[one.name]) for one in behaviours}


def _verdict(
    origin: AdversarialOrigin, behaviour: Behaviour, rounds: Sequence[Mapping[str, Kept]], log: Sequence[Logged]
) -> Verdict:
    urls = origin.page_urls(behaviour)
    named = [{page: kept.get(url, NOTHING) for page, url in urls.items()} for kept in rounds]
    pages = [one for one in log if one.target != "/robots.txt"]
    return Verdict(
        behaviour,
        tuple(judge(behaviour, named, log)),
        len(pages),
        sum(one.status == 304 and one.conditional for one in pages),
        sum(one.body_bytes for one in pages),
    )
