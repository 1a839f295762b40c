"""What is held after an answer, for clients that hand out answers and leave that to whoever uses them.

The same for all of them: an address that a chain of permanent redirects leads to takes the place of the one asked
(RFC 9110 §15.4.2, §15.4.9), a temporary one does not; 404 and 410 mean that there is no page; any other failure leaves
what was held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

IN_FLIGHT = 24

CONNECT_S = READ_S = 1.0
TOTAL_S = 3.0
"""The time-outs of every client, as far as it has them; those of the product in the same trial."""

Held: TypeAlias = Mapping[str, str | None]
"""URL → text, or None where nothing is held."""


class Tell(Protocol):
    """Hands one line to the measurement."""

    def __call__(self, **said: object) -> None:
        """`url` with `text` and, where the client reports events, `events`; or `connects`, an address."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """The last answer to a request. `hops` are the redirects before it: status, and the URL that each led to."""

    status: int
    text: str
    hops: tuple[tuple[int, str], ...] = ()


def held(asked: str, answer: Answer) -> Held:
    """What changes by `answer` to the request for `asked`; empty where all stays as it was."""
    if 200 <= answer.status < 300:
        return {asked: None, _address(asked, answer): answer.text}
    if answer.status in (404, 410):
        return {asked: None, _address(asked, answer): None}
    return {}


def _address(asked: str, answer: Answer) -> str:
    address = asked
    for status, target in answer.hops:
        if status not in (301, 308):
            break
        address = target
    return address


def side_by_side(urls: Sequence[str], fetch: Callable[[str], Answer], tell: Tell) -> None:
    """Fetch the pages of a host one after the other, hosts side by side, and tell of each what is held."""

    def host(own: Sequence[str]) -> None:
        for url in own:
            try:
                changes = held(url, fetch(url))
            except Exception as error:  # noqa: BLE001  # whatever a client raises: nothing new is held
                print(f"{url}: {error!r}"[:500], file=sys.stderr)
                continue
            for address, text in changes.items():
                tell(url=address, text=text)

    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        list(pool.map(host, [list(own) for _, own in groupby(urls, key=lambda url: urlsplit(url).netloc)]))


class Visit(Protocol):
    """A peer's module has a function `visit` of this form."""

    def __call__(self, urls: Sequence[str], folder: Path, tell: Tell) -> None:
        """Ask for `urls` once more; what the client remembers between visits is in `folder`."""
        ...
