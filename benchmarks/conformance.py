"""The catalogue of server behaviours: this product, Scrapy, hishel, requests-cache, urlwatch and webchanges in one run.

`make bench ARGS="conformance"` writes `docs/conformance.md`. With names of clients (`product`, `scrapy`, …) only these
are run, and what was wrong is printed instead.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

import dagster as dg
import pytest

from benchmarks.peers.environment import CONSTRAINTS, ROOT, interpreter, versions
from benchmarks.peers.peer import PEERS, Peer, PeerClient
from benchmarks.peers.scores import Score, held_verdicts, score, tables
from incremental_crawl.origin.adversarial import CATALOGUE, ROUNDS, AdversarialOrigin, Kept, Verdict, verdicts
from tests.conformance.product import crawl
from tests.dagster_model.dagster_project import DagsterProject

PAGE = ROOT / "docs" / "conformance.md"
PRODUCT = "product"
_SIDE_BY_SIDE = 2
"""Peers mostly wait, each with a server of its own; more at once would cost some of them their time-outs."""

_LINK_LOCAL = "redirect-to-link-local"


@dataclass(frozen=True, slots=True)
class Tried:
    """A client's trial: its score, what was wrong by behaviour, and what went wrong with the client itself."""

    score: Score
    problems: Mapping[str, Sequence[str]]
    lost: Sequence[str] = ()


def main(arguments: list[str]) -> int:
    """Run the clients named, or all of them; returns 2 for a name that is none."""
    known = [PRODUCT, *(one.name for one in PEERS)]
    if unknown := set(arguments) - set(known):
        print(f"no client {', '.join(sorted(unknown))}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    began = time.monotonic()
    chosen = arguments or known
    tried = [_told(PRODUCT, product_trial)] if PRODUCT in chosen else []
    peers = [one for one in PEERS if one.name in chosen]
    missing: list[str] = []
    try:
        python = interpreter() if peers else Path()
    except subprocess.CalledProcessError:
        missing, peers = [one.title for one in peers], []
    else:
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            tried += pool.map(lambda one: _told(one.name, lambda: peer_trial(one, python)), peers)
    if arguments:
        print("\n".join(_details(tried)))
    else:
        PAGE.write_text(page(tried, missing, time.monotonic() - began), encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


def product_trial() -> Tried:
    """This product, through the real Dagster job, as its own conformance tests run it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        AdversarialOrigin(CATALOGUE) as origin,
    ):
        home = Path(folder, "home")
        home.mkdir()
        shutil.copy(ROOT / "dagster.yaml", home)
        patch.setenv("DAGSTER_HOME", str(home))
        with dg.DagsterInstance.get() as instance:
            crawled = crawl(DagsterProject(Path(folder), instance, patch), origin, CATALOGUE)
        return _judged("**incremental-crawl**", version("incremental-crawl"), origin, crawled.kept, {})


def peer_trial(peer: Peer, python: Path) -> Tried:
    """A peer, a process for each visit."""
    pinned = versions(CONSTRAINTS.read_text(encoding="utf-8"))
    own, *others = peer.packages
    told = pinned[own] + "".join(f", {name} {pinned[name]}" for name in others)
    with tempfile.TemporaryDirectory() as folder, AdversarialOrigin(CATALOGUE) as origin:
        client = PeerClient(peer, python, Path(folder), lambda: origin.now)
        starts = [url for behaviour in CATALOGUE for url in origin.starts(behaviour)]
        kept = []
        for number in range(ROUNDS):
            origin.round = number
            kept.append(client.visit(starts))
        if client.lost:
            print(client.errors[-2_000:], file=sys.stderr)
        # The server cannot see this one: the address is another machine's.
        foreign = ", ".join(sorted(client.connects))
        more = {_LINK_LOCAL: f"it connected to {foreign}"} if foreign else {}
        return _judged(peer.title, told, origin, kept, more, client.lost)


def _judged(
    client: str,
    told: str,
    origin: AdversarialOrigin,
    kept: Sequence[Mapping[str, Kept]],
    more: Mapping[str, str],
    lost: Sequence[str] = (),
) -> Tried:
    found = verdicts(origin, kept, CATALOGUE)
    for name, problem in more.items():
        one = found[name]
        found[name] = Verdict(
            one.behaviour, (*one.problems, problem), one.requests, one.honest_304s, one.body_bytes
        )  # fmt: skip
    problems = {name: one.problems for name, one in found.items() if not one.passed}
    return Tried(score(client, told, found, held_verdicts(origin, kept, CATALOGUE)), problems, lost)


def _told(name: str, trial: Callable[[], Tried]) -> Tried:
    began = time.monotonic()
    tried = trial()
    passed = len(CATALOGUE) - len(tried.problems)
    print(f"{name}: {passed} of {len(CATALOGUE)} in {time.monotonic() - began:.0f} s", *tried.lost, file=sys.stderr)
    return tried


def _details(tried: Sequence[Tried]) -> list[str]:
    return [
        f"{one.score.client}  {one.score.marks[name]}  {name}: {problem}"
        for one in tried
        for name, problems in one.problems.items()
        for problem in problems
    ]


def page(tried: Sequence[Tried], missing: Sequence[str], seconds: float) -> str:
    """The whole page."""
    foot = [f"{name} could not be installed on this machine." for name in missing]
    foot += [f"{one.score.client}: {lost}." for one in tried for lost in one.lost]
    settings = [fill(f"- **{one.title}**: {one.settings}", 118, subsequent_indent="  ") for one in PEERS]
    return "\n".join(
        [
            _INTRODUCTION.format(count=len(CATALOGUE), rounds=ROUNDS),
            f"{_machine()}; the whole run took {seconds / 60:.0f} minutes.",
            "",
            *tables([one.score for one in tried], CATALOGUE),
            *(["", *foot] if foot else []),
            "",
            "## Settings of the others",
            "",
            _SETTINGS,
            "",
            *settings,
            "",
        ]
    )


def _machine() -> str:
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({platform.machine()}), {system}, {python}, loopback, {datetime.now(UTC).date()}"


_INTRODUCTION = """\
# Conformance, side by side

[The catalogue of server behaviours](adversarial-origin.md) is {count} ways in which servers answer, each with the right
reaction and its authority. This product and five other clients meet it in one run, over {rounds} visits, a day apart by
the server's clock: the same pages, the same judge. `make bench ARGS="conformance"` repeats it and writes this page.

This product was developed with the catalogue, the others were not. They were made for other ends, too: a cache need not
know what is gone, nor a watcher of a few pages what robots.txt says. The table by kind shows where they are strong.

How it is counted:

- `✓`, **passed**: after every visit the right text was held for every page, the right events were reported, and the
  server was asked rightly (an honest 304 where one can be had, validators as they came, robots.txt, limits).
- `data`: the right text was held after every visit, but something else was wrong.
- `✗`: after some visit a wrong text was held, or none, or one that should be gone.
- Scrapy, hishel and requests-cache report no events: what they hold and what the server was asked is all that counts.
  urlwatch and webchanges report what is new and what changed; for them that counts as well, under `noise` above all.
- urlwatch and webchanges send the time of their own last visit as If-Modified-Since. A date that was never served is
  wrong by the catalogue (servers that compare it exactly never answer 304), which is most of their `data` marks.
- hishel, requests-cache, urlwatch and webchanges do not read robots.txt, and lose most of that kind for this alone.
- An honest 304 is a conditional request answered 304; those of the behaviours that lie about it are left out. Fewer
  bytes are better only where no edit is missed. Most of the bytes are those of answers that never end.
- The behaviours whose 304s are false are crawled by this product with `audit_share: 1`. By default 2 % of confirmed
  pages are fetched again, so that a false one is found later.
- Libraries leave it to their user what an answer means. The same few lines decide it for all three: a permanent
  redirect moves the page, a temporary one does not, 404 and 410 end it, any other failure keeps what was held.
- Each visit of another client is a process of its own, with the server's clock, and its memory is on disk. One that
  crashes loses what it had not yet said. None reaches anything but loopback; who tries to connect to a link-local
  address fails that behaviour.
"""

_SETTINGS = """\
Time-outs are one second for connecting and for a read, and three for the whole where a client knows such a thing, as
for this product. The code (`benchmarks/peers/`) says beside each setting what it is for."""
