"""The adversarial origin: every behaviour of the catalogue on a loopback address of its own, or under a path."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import escape
from ipaddress import IPv4Address
from random import Random
from types import TracebackType
from typing import Any, Self

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Behaviour, Respond
from incremental_crawl.origin.adversarial.logged import AdversarialLog, Logged
from incremental_crawl.origin.adversarial.raw_server import RawRequest, RawServer
from incremental_crawl.origin.adversarial.say import not_found

FIRST_ROUND = datetime(2026, 5, 1, 12, tzinfo=UTC)
BETWEEN_ROUNDS = timedelta(hours=25)
"""A little more than a day, so that nothing that holds for a day still holds in the next round."""

DEFAULT_HOST = "127.0.1.0"
_OTHER = "other"


@dataclass(slots=True)
class _Stage:
    """What a behaviour remembers."""

    memory: dict[str, Any] = field(default_factory=dict)
    random: Random = field(default_factory=Random)
    asked: Counter[tuple[int, str, str]] = field(default_factory=Counter)


class AdversarialOrigin:
    """Serves `behaviours` from `start` to `stop`, or inside a `with` block.

    With the index page on `host`, every behaviour has the next address, those with two hosts the next two; all share
    `port` (0: any free one). With `shared`, all are on `host` under `/<name>/`, their second hosts under
    `/<name>~other/`; behaviours that need a host of their own are then left out.

    `round` is the number of the visit, set by whoever tests; `clock` gives the moment of the Date line, by default 25
    hours after each other from round to round. The same `seed` gives the same noise. An answer that never ends is cut
    after `patience_s`. `restart` makes everything as it was before the first round. Raises ValueError for a `host` that
    is no IPv4 address of the loopback network.
    """

    def __init__(
        self,
        behaviours: Sequence[Behaviour],
        host: str = DEFAULT_HOST,
        port: int = 0,
        *,
        shared: bool = False,
        seed: int = 0,
        clock: Callable[[], datetime] | None = None,
        patience_s: float = 6.0,
        log: AdversarialLog | None = None,
    ) -> None:
        self.behaviours = tuple(one for one in behaviours if not (shared and one.own_host))
        self.log = AdversarialLog() if log is None else log
        self.round = 0
        self._host = host
        self._shared = shared
        self._seed = seed
        self._clock = clock
        self._patience_s = patience_s
        self._hosts: dict[tuple[str, str], str] = {}
        self._by_address: dict[str, tuple[Behaviour, str]] = {}
        self._by_name = {one.name: one for one in self.behaviours}
        self._stages: dict[str, _Stage] = {}
        self._place()
        addresses = list(dict.fromkeys([host, *self._by_address]))
        self._server = RawServer(self._answered, addresses, port, self.log, patience_s)
        self.restart()

    def start(self) -> Self:
        """Listen; raises OSError where the machine lacks one of the addresses or the port is taken."""
        self._server.start()
        return self

    def stop(self) -> None:
        """Close every connection; the log stays readable."""
        self._server.stop()
        self.log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def restart(self) -> None:
        """Round 0, nothing remembered, an empty log."""
        self.round = 0
        self.log.clear()
        self._stages = {name: _Stage(random=Random(f"{self._seed} {name}")) for name in self._by_name}

    @property
    def now(self) -> datetime:
        """The origin's present moment."""
        return FIRST_ROUND + self.round * BETWEEN_ROUNDS if self._clock is None else self._clock()

    @property
    def index_url(self) -> str:
        """The page that lists every behaviour."""
        return f"http://{self._host}:{self._server.port}/"

    def url(self, behaviour: Behaviour, page: str) -> str:
        """The absolute URL of a behaviour's page (`/x`, `other:/x`)."""
        host, path = _parts(page)
        address = self._hosts[behaviour.name, host]
        return f"http://{address}:{self._server.port}{self._prefix(behaviour, host)}{path}"

    def starts(self, behaviour: Behaviour) -> list[str]:
        """The URLs that a client is told to visit."""
        return [self.url(behaviour, page) for page in behaviour.starts]

    def page_urls(self, behaviour: Behaviour) -> dict[str, str]:
        """The URL of each page that something is expected of."""
        return {page: self.url(behaviour, page) for page in behaviour.pages}

    def _place(self) -> None:
        address = IPv4Address(self._host)
        if not address.is_loopback:
            raise ValueError(f"{self._host} is no loopback address (127.…): what lies is served to this machine alone")
        for behaviour in self.behaviours:
            for host in ("", _OTHER) if behaviour.two_hosts else ("",):
                if not self._shared:
                    address += 1
                    self._by_address[str(address)] = (behaviour, host)
                self._hosts[behaviour.name, host] = str(address)

    def _prefix(self, behaviour: Behaviour, host: str) -> str:
        return f"/{behaviour.name}{'~' + host if host else ''}" if self._shared else ""

    def _found(self, request: RawRequest) -> tuple[Behaviour, str, str] | None:
        """Behaviour, host and target within it."""
        if not self._shared:
            placed = self._by_address.get(request.address)
            return None if placed is None else (*placed, request.target)
        name, slash, rest = request.target[1:].partition("/")
        name, _, host = name.partition("~")
        behaviour = self._by_name.get(name)
        return None if behaviour is None or not slash else (behaviour, host, "/" + rest)

    def _answered(self, request: RawRequest) -> tuple[Script, Logged | None]:
        found = self._found(request)
        if found is None:
            return self._index(request), None
        behaviour, host, target = found
        asked = self._asked(behaviour, host, target, request)
        entry = Logged.of(asked, request.connection, time.monotonic())
        self.log.append(entry)
        if asked.path == "/robots.txt":
            return _told(not_found if behaviour.robots is None else behaviour.robots, asked), entry
        return _told(behaviour.respond, asked), entry

    def _asked(self, behaviour: Behaviour, host: str, target: str, request: RawRequest) -> Asked:
        stage, until = self._stages[behaviour.name], time.monotonic() + self._patience_s
        stage.asked[self.round, host, target] += 1
        return Asked(
            behaviour=behaviour.name,
            host=host,
            method=request.method,
            target=target,
            fields=request.fields,
            round=self.round,
            nth=stage.asked[self.round, host, target],
            on_connection=request.on_connection,
            memory=stage.memory,
            random=stage.random,
            now=self.now,
            version="v1" if self.round < behaviour.edit_at else "v2",
            url_of=lambda page: self.url(behaviour, page),
            path_of=lambda page: self._prefix(behaviour, _parts(page)[0]) + _parts(page)[1],
            served=lambda: time.monotonic() < until,
        )

    def _index(self, request: RawRequest) -> bytes:
        if request.method == "POST" and request.target == "/next":
            self.round += 1
            return _plain(200, "application/json", json.dumps({"round": self.round}) + "\n")
        if request.target == "/catalogue.json":
            return _plain(200, "application/json", json.dumps(self.as_data(), indent=1) + "\n")
        if request.target != "/":
            return _plain(404, "text/plain", "only / and /catalogue.json, and POST /next\n")
        rows = "".join(
            f"<tr><td>{escape(one['name'])}<td>{escape(one['summary'])}<td>"
            + " ".join(f'<a href="{escape(url)}">{escape(url)}</a>' for url in one["starts"])
            for one in self.as_data()["behaviours"]
        )
        return _plain(
            200, "text/html; charset=utf-8", f"<!doctype html><h1>Round {self.round}</h1><table>{rows}</table>\n"
        )

    def as_data(self) -> dict[str, Any]:
        """Round and behaviours with their start URLs, as the index page and `--list --json` show them."""
        return {
            "round": self.round,
            "behaviours": [
                {
                    "name": one.name,
                    "kind": str(one.kind),
                    "summary": one.summary,
                    "right": one.right,
                    "authority": one.authority,
                    "starts": self.starts(one),
                }
                for one in self.behaviours
            ],
        }


def _told(respond: Respond, asked: Asked) -> Script:
    try:
        return respond(asked)
    except Exception as error:
        # A defect of the origin must be seen by whoever crawls it.
        return _plain(500, "text/plain", f"{asked.behaviour} failed: {error!r}\n")


def _parts(page: str) -> tuple[str, str]:
    """Host and path of a page as expectations name it."""
    if page.startswith("/"):
        return "", page
    host, _, path = page.partition(":")
    return host, path


def _plain(status: int, kind: str, text: str) -> bytes:
    body = text.encode()
    return (
        b"HTTP/1.1 %d OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, kind.encode(), len(body)) + body
    )
