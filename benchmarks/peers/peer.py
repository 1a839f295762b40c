"""The peers, and a client of the adversarial origin that runs one of them, a process for each visit."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Timer
from typing import Any

from benchmarks.peers.environment import ROOT
from incremental_crawl.origin.adversarial import Kept

VISIT_LIMIT_S = 120.0
"""A visit that takes longer is ended; what was told until then counts."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A client: its module `<name>_peer`, its packages (its own first), what was set, and whether it reports events."""

    name: str
    title: str
    packages: tuple[str, ...]
    settings: str
    reports: bool = False


PEERS = (
    Peer(
        "scrapy",
        "Scrapy",
        ("scrapy", "twisted"),
        "`HTTPCACHE_POLICY` RFC2616Policy with the servers' Cache-Control ignored and `max-age=0` in requests, "
        "`ROBOTSTXT_OBEY`, one request at a time for a host and half a second between two, one retry of failed "
        "connections, limits of time and size.",
    ),
    Peer(
        "hishel",
        "hishel",
        ("hishel", "httpx"),
        "its httpx client with `CacheOptions(shared=False, allow_stale=False)`, `no-cache` in requests, "
        "one retry where no connection could be made, none kept, a charset detector where the header names none.",
    ),
    Peer(
        "requests_cache",
        "requests-cache",
        ("requests-cache", "requests"),
        "`always_revalidate`, `expire_after=EXPIRE_IMMEDIATELY`, `cache_control` and `stale_if_error` off, one retry, "
        "the charset by `apparent_encoding` where the header names none.",
    ),
    Peer(
        "urlwatch",
        "urlwatch",
        ("urlwatch", "requests"),
        "`url` jobs with `html2text`, passing failures ignored (`ignore_connection_errors` and the like).",
        reports=True,
    ),
    Peer(
        "webchanges",
        "webchanges",
        ("webchanges", "httpx"),
        "`url` jobs with `html2text`, `empty_as_transient`, passing failures ignored.",
        reports=True,
    ),
)


class PeerClient:
    """Visits with one peer; a visit that crashes or hangs loses what it had not told, not the trial.

    `folder` is where the peer remembers; `clock` gives the moment that the server's answers will carry. Afterwards
    `lost` has a sentence for each visit that did not end well and `connects` every foreign address that it tried.
    """

    def __init__(self, peer: Peer, python: Path, folder: Path, clock: Callable[[], datetime]) -> None:
        self.peer = peer
        self.lost: list[str] = []
        self.connects: set[str] = set()
        self._python = python
        self._folder = folder
        self._errors = folder / "errors.log"
        self._clock = clock
        self._texts: dict[str, str | None] = {}
        self._visits = 0

    def visit(self, urls: Sequence[str]) -> Mapping[str, Kept]:
        """One visit; what is held then."""
        events: dict[str, frozenset[str]] = {}
        for said in self._told(urls):
            if "connects" in said:
                self.connects.add(said["connects"])
            elif "url" in said:
                self._texts[said["url"]] = said["text"]
                events[said["url"]] = frozenset(said.get("events", ()))
        self._visits += 1
        nothing: frozenset[str] = frozenset()
        reports = self.peer.reports
        return {url: Kept(text, events.get(url, nothing) if reports else None) for url, text in self._texts.items()}

    @property
    def errors(self) -> str:
        """What the processes wrote to their error streams."""
        return self._errors.read_text(errors="replace") if self._errors.exists() else ""

    def _told(self, urls: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The lines of a new process, until it is done, ends or is ended."""
        command = [str(self._python), "-m", "benchmarks.peers.child", self.peer.name, str(self._folder)]
        home = {"HOME": str(self._folder), "PYTHONPATH": str(ROOT), "PATH": os.environ.get("PATH", "")}
        done = False
        with (
            self._errors.open("ab") as errors,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=self._folder, env=home
            ) as process,
        ):
            assert process.stdin is not None
            assert process.stdout is not None
            limit = Timer(VISIT_LIMIT_S, process.kill)
            limit.start()
            try:
                request = {"urls": list(urls), "now": self._clock().timestamp()}
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.close()
                for line in process.stdout:
                    said = json.loads(line)
                    done = done or "done" in said
                    yield said
            finally:
                limit.cancel()
                process.kill()
        if not done:
            self.lost.append(f"visit {self._visits} ended early (status {process.returncode})")
