"""One judge for every client: what it holds after each round, what it reported, and what the server was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from incremental_crawl.origin.adversarial.behaviour import Behaviour
from incremental_crawl.origin.adversarial.expectations import Allowed, Holding
from incremental_crawl.origin.adversarial.logged import Logged
from incremental_crawl.origin.adversarial.say import END, MARKER, slug


@dataclass(frozen=True, slots=True)
class Kept:
    """What a client holds of one URL after a round (`text` None: nothing), and what it reported in that round.

    `events` are of `new, changed, gone, restored, moved`; None for a client that reports nothing at all.
    """

    text: str | None = None
    events: frozenset[str] | None = frozenset()


NOTHING = Kept()


@dataclass(frozen=True, slots=True)
class _Version:
    """The version of a page that a text shows; `wrong` says why it shows none."""

    page: str = ""
    version: str | None = None
    wrong: str | None = None

    def __str__(self) -> str:
        return "nothing" if self.version is None else f"{self.version} of /{self.page}"


_NONE = _Version()


def judge(behaviour: Behaviour, rounds: Sequence[Mapping[str, Kept]], log: Iterable[Logged]) -> list[str]:
    """What was wrong, a sentence each; an empty list where the client passed.

    `rounds` holds, for each round, what is kept of each page, named as the behaviour names it; a page that is left out
    is not held. `log` is what the behaviour was asked over all rounds.
    """
    problems = [problem for page in behaviour.pages for problem in _page(behaviour, page, rounds)]
    entries = tuple(log)
    for check in behaviour.checks:
        problems.extend(check(entries))
    return problems


def _page(behaviour: Behaviour, page: str, rounds: Sequence[Mapping[str, Kept]]) -> Iterable[str]:
    before, ever = _NONE, False
    for number, kept in enumerate(rounds):
        own = kept.get(page, NOTHING)
        shown = _shown(own.text, behaviour.says.get(page, ""))
        where = f"round {number}: {page}"
        if shown.wrong is not None:
            yield f"{where}: {shown.wrong}"
            continue
        allowed = behaviour.pages[page].at(number)
        chosen = [one for one in allowed if _fits(one, shown, slug(page))]
        if not chosen:
            yield f"{where}: {shown} is held, right is {_told(allowed)}"
        elif own.events is not None:
            problem = _events(before, shown, ever, own.events, chosen)
            if problem is not None:
                yield f"{where}: {problem}"
        before, ever = shown, ever or shown.version is not None


def _shown(text: str | None, says: str) -> _Version:
    if text is None:
        return _NONE
    found = set(MARKER.findall(text))
    if len(found) != 1:
        what = "no page of this behaviour" if not found else "a mixture of pages"
        return _Version(wrong=f"the text held is {what}: {' '.join(text.split())[:80]!r}")
    if END not in text:
        return _Version(wrong="the text held is only a part of the page")
    if says not in text:
        return _Version(wrong=f"the text held does not say {says!r}")
    [(page, version)] = found
    return _Version(page, version)


def _fits(holding: Holding, shown: _Version, own: str) -> bool:
    if holding.version is None or shown.version is None:
        return holding.version == shown.version
    return holding.version == shown.version and (own if holding.page is None else holding.page) == shown.page


def _events(
    before: _Version, shown: _Version, ever: bool, events: frozenset[str], chosen: Sequence[Holding]
) -> str | None:
    right = _right_events(before, shown, ever, chosen)
    if events in right:
        return None
    told = ", ".join(sorted(events)) or "nothing"
    wanted = " or ".join(sorted(", ".join(sorted(one)) or "nothing" for one in right))
    return f"{told} was reported, right is {wanted}"


def _right_events(before: _Version, shown: _Version, ever: bool, chosen: Sequence[Holding]) -> set[frozenset[str]]:
    quiet: frozenset[str] = frozenset()
    if before == shown:
        return {quiet}
    if shown.version is None:
        return {frozenset({one.ends}) if one.ends else quiet for one in chosen}
    open_ = any(one.event_open for one in chosen)
    if before.version is not None:
        right = {frozenset({"changed"})}
    else:
        right = {frozenset({"restored"}), frozenset({"restored", "changed"})} if ever else {frozenset({"new"})}
    return right | {quiet} if open_ else right


def _told(allowed: Allowed) -> str:
    words = [
        one.ends or "nothing" if one.version is None else one.version + (f" of /{one.page}" if one.page else "")
        for one in allowed
    ]
    return " or ".join(words)
