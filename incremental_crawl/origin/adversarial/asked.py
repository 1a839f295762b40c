"""One request as a behaviour sees it, and the steps of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from random import Random
from typing import Any, TypeAlias


class End(Enum):
    """How the server ends a connection: orderly (FIN) or by a reset (RST)."""

    CLOSE = "close"
    RESET = "reset"


Step: TypeAlias = bytes | float | End
Script: TypeAlias = bytes | Iterable[Step]
"""What is sent: bytes, or steps in turn (bytes, a pause in seconds, an end). A generator may go on for ever."""

Fields: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a behaviour.

    `target` and `fields` are the wire bytes read as latin-1, names in lower case. `host` is "" or "other". `round` is
    the number of the visit, from 0. `nth` counts the requests for this target in this round, `on_connection` those on
    this connection, both from 1. `memory` belongs to the behaviour and lasts over all rounds. `now` is the origin's
    clock (UTC, aware), `random` its seeded noise. `version` is what a page has now where its behaviour says no more.
    `url_of` makes the absolute URL of a page (`/x`, `other:/x`), `path_of` its path on its own host.
    """

    behaviour: str
    host: str
    method: str
    target: str
    fields: Fields
    round: int
    nth: int
    on_connection: int
    memory: dict[str, Any]
    random: Random
    now: datetime
    version: str
    url_of: Callable[[str], str]
    path_of: Callable[[str], str]
    served: Callable[[], bool]
    """Whether the server is still willing to go on with an answer that never ends."""

    @property
    def path(self) -> str:
        """The target without its query, as it was sent."""
        return self.target.partition("?")[0]

    @property
    def page(self) -> str:
        """The page that is asked for, as expectations name it."""
        return f"{self.host}:{self.target}" if self.host else self.target

    def values(self, name: str) -> list[str]:
        """The values of a field's lines."""
        return [value for key, value in self.fields if key == name]

    def value(self, name: str) -> str | None:
        """The value of a field, None where it was not sent; lines are joined (RFC 9110 §5.3)."""
        found = self.values(name)
        return ", ".join(found) if found else None

    @property
    def tag(self) -> str | None:
        """If-None-Match."""
        return self.value("if-none-match")

    @property
    def since(self) -> str | None:
        """If-Modified-Since."""
        return self.value("if-modified-since")

    @property
    def conditional(self) -> bool:
        """Whether the request carries a condition."""
        return self.tag is not None or self.since is not None

    @property
    def past_caches(self) -> bool:
        """Whether the request asks caches to stand aside."""
        return "no-cache" in (self.value("cache-control") or "").lower()

    def count(self, name: str) -> int:
        """How often this was called with `name` before, over all rounds."""
        before = int(self.memory.get(name, 0))
        self.memory[name] = before + 1
        return before
