"""Checks of what a behaviour was asked, written into its declaration. Each yields a sentence per thing that is wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from incremental_crawl.origin.adversarial.behaviour import Check
from incremental_crawl.origin.adversarial.expectations import ROUNDS
from incremental_crawl.origin.adversarial.logged import Logged

Log = tuple[Logged, ...]


def earned(*rounds: int, page: str = "/page") -> Check:
    """In each of `rounds` the page was asked with a condition that held: an honest 304."""

    def check(log: Log) -> Iterator[str]:
        found = {one.round for one in log if one.page == page and one.status == 304 and one.conditional}
        for number in rounds:
            if number not in found:
                yield f"round {number}: no honest 304 for {page}"

    return check


def earned_once(*rounds: int, page: str | None = "/page") -> Check:
    """In at least one of `rounds` the page (None: any page) earned an honest 304."""

    def check(log: Log) -> Iterator[str]:
        found = {one.round for one in log if page in (None, one.page) and one.status == 304 and one.conditional}
        if not found & set(rounds):
            yield f"no honest 304 for {page or 'any page'} in any of the rounds {', '.join(map(str, rounds))}"

    return check


def verbatim(page: str = "/page") -> Check:
    """Every If-None-Match and If-Modified-Since of the page is what was served for it, byte for byte.

    A list may follow the tag (RFC 9110 §13.1.2), as long as it begins with one that was served.
    """

    def check(log: Log) -> Iterator[str]:
        tags: set[str] = set()
        dates: set[str] = set()
        for one in log:
            if one.page != page:
                continue
            for value in one.values("if-none-match"):
                if value not in tags and not any(value.startswith(f"{tag}, ") for tag in tags):
                    yield f"round {one.round}: If-None-Match for {page} was {value[:60]!r}, which was never served"
            for value in one.values("if-modified-since"):
                if value not in dates:
                    yield f"round {one.round}: If-Modified-Since for {page} was {value!r}, which was never served"
            tags.update(one.etags)
            dates.update(one.dates)

    return check


def unconditional(page: str, *rounds: int) -> Check:
    """The page was never asked with a condition (in `rounds`, where they are given)."""

    def check(log: Log) -> Iterator[str]:
        for one in log:
            if one.page == page and one.conditional and (not rounds or one.round in rounds):
                yield f"round {one.round}: {page} was asked with a condition that is not its own"

    return check


def never(page: str, *rounds: int) -> Check:
    """The page was never requested (in `rounds`, where they are given)."""

    def check(log: Log) -> Iterator[str]:
        for one in log:
            if one.page == page and (not rounds or one.round in rounds):
                yield f"round {one.round}: {page} was requested"

    return check


def requested(page: str, *rounds: int) -> Check:
    """The page was requested in each of `rounds`."""

    def check(log: Log) -> Iterator[str]:
        for number in rounds or (0,):
            if not any(one.page == page and one.round == number for one in log):
                yield f"round {number}: {page} was not requested"

    return check


def at_most(limit: int, page: str | None = None, *rounds: int) -> Check:
    """At most so many requests a round, for the page or for all of them; those for robots.txt do not count."""

    def check(log: Log) -> Iterator[str]:
        for number in rounds or range(ROUNDS):
            own = [one for one in log if one.round == number and page in (None, one.page)]
            sent = len([one for one in own if one.target != "/robots.txt"])
            if sent > limit:
                yield f"round {number}: {sent} requests{f' for {page}' if page else ''}, at most {limit} are right"

    return check


def few_robots_requests(limit: int = 8) -> Check:
    """robots.txt and what it redirects to is asked for at most so often a round."""

    def check(log: Log) -> Iterator[str]:
        for number in range(ROUNDS):
            sent = len([one for one in log if one.round == number and "robots" in one.target])
            if sent > limit:
                yield f"round {number}: {sent} requests for robots.txt, at most {limit} are right"

    return check


def bounded(*rounds: int, page: str = "/page", most_bytes: int | None = None) -> Check:
    """The client gave up on an answer that never ends, before the server did."""

    def check(log: Log) -> Iterator[str]:
        for one in log:
            if one.page == page and one.round in rounds:
                if not one.given_up:
                    yield f"round {one.round}: the client did not give up on {page} before the server did"
                elif most_bytes is not None and one.sent_bytes > most_bytes:
                    yield f"round {one.round}: {one.sent_bytes} bytes of {page} were read, more than {most_bytes}"

    return check


def no_cookie_at_first(page: str) -> Check:
    """A cookie lives for one fetch: no round begins with one, and no other page gets it."""

    def check(log: Log) -> Iterator[str]:
        seen: set[int] = set()
        for one in log:
            if one.target == "/robots.txt":
                continue
            first = one.page == page and one.round not in seen
            if one.page == page:
                seen.add(one.round)
            if (first or one.page != page) and one.values("cookie"):
                yield f"round {one.round}: {one.page} was asked with a cookie of another fetch"

    return check


def spaced(seconds: float, *pages: str) -> Check:
    """Requests for the pages of one round are spread over the time that such a delay takes, half of it at least.

    Judged over all of them: a client that is busy may send one late and the next in time.
    """

    def check(log: Log) -> Iterator[str]:
        began: dict[int, list[float]] = defaultdict(list)
        for one in log:
            if one.page in pages:
                began[one.round].append(one.began_s)
        for number, moments in began.items():
            span, right = max(moments) - min(moments), seconds * (len(moments) - 1)
            if span < right / 2:
                yield f"round {number}: {len(moments)} requests within {span:.2f} s, {right:.2f} s are asked for"

    return check
