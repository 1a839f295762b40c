"""The demo: what `make crawl` shows, and what it does where its port is taken."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from incremental_crawl.origin.bookshop import Bookshop, StepFile
from tests.cli.projects import REPOSITORY

TITLES = (
    "incremental_crawl: a shop that changes, crawled twice",
    "What changed: ",
    "Gone, back, moved, new",
    "What was not downloaded",
    "Where to look, what to try next",
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run of the demo showed, and how long it took."""

    status: int
    out: str
    err: str
    seconds: float

    def section(self, title: str) -> list[str]:
        """The lines under a heading."""
        parts = re.split(r"^(.*?) ─{3,}$", self.out, flags=re.MULTILINE)
        found = {parts[at]: parts[at + 1] for at in range(1, len(parts), 2)}
        return next(text.strip().splitlines() for name, text in found.items() if name.startswith(title))

    def named(self, kind: str) -> list[str]:
        """The paths that are told to be of a kind."""
        lines = self.section("Gone, back, moved, new")
        return [line.removeprefix(kind).split()[0] for line in lines if line.startswith(kind)]


def show(folder: Path, port: int) -> Shown:
    """Run the demo with its data in `folder`."""
    own = {"INCREMENTAL_CRAWL_DATA": str(folder / "data"), "DAGSTER_HOME": str(folder / "dagster"), "COLUMNS": "80"}
    environment = {**os.environ, **own, "BOOKSHOP_PORT": str(port)}
    environment.pop("INCREMENTAL_CRAWL_SITES", None)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "incremental_crawl.demo"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env=environment,
        timeout=110,
        check=False,
    )
    return Shown(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


def free_port() -> int:
    """A port that nothing listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Twice:
    """The demo shown twice on the same data: by itself, then with the shop already open, as `make dev` opens it."""

    folder: Path
    port: int
    first: Shown
    second: Shown
    open_shop_was_asked: int


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Twice:
    """Two runs for all tests."""
    folder, port = tmp_path_factory.mktemp("demo"), free_port()
    first = show(folder, port)
    with Bookshop(StepFile.under(folder / "data").read, port) as shop:
        second = show(folder, port)
        asked = len(shop.log)
    return Twice(folder, port, first, second, asked)


def test_the_first_run_shows_everything_a_person_wants_to_know(twice: Twice) -> None:
    shown = twice.first
    assert (shown.status, shown.err) == (0, "")
    assert [title for title in TITLES if title not in shown.out] == []
    assert "✓ bookshop  213 known · 213 due · 0 not due (next every run; --all asks now)" in shown.out
    assert "That was everything. Now its world moves on to step 1. Second visit:" in shown.out
    assert "What changed: 10 books, and " in shown.out
    assert shown.out.count("+++ new") == 3, "three unified diffs"
    assert re.search(r"^/book/\S+ +price [\d.]+ GBP → [\d.]+ GBP \([+-][\d.]+ %\)$", shown.out, re.MULTILINE)
    assert len(shown.named("Gone")) == 2
    assert {line.partition("answered ")[2] for line in shown.section("Gone") if line.startswith("Gone")} == {
        "404)",
        "410)",
    }
    assert (len(shown.named("Moved")), len(shown.named("New")), shown.named("Back again")) == (1, 1, [])
    assert re.search(r"^19\d of 21\d pages answered 304 Not Modified\.$", shown.out, re.MULTILINE)
    assert re.search(r"kB did not: [78]\d % of a full crawl\.$", shown.out, re.MULTILINE)


def test_the_report_fits_a_terminal_of_80_columns(twice: Twice) -> None:
    long = [line for line in twice.first.out.splitlines() if len(line) > 80]
    # Diffs, addresses, paths, commands and the summary are never broken; everything else fits.
    unbroken = re.compile("  |.*/|.*incremental.crawl |. bookshop ")
    assert [line for line in long if not unbroken.match(line)] == []
    assert "\x1b" not in twice.first.out


def test_the_commands_to_try_work(twice: Twice) -> None:
    lines = [
        line
        for line in twice.first.section("Where to look")
        if "incremental_crawl " in line or "incremental-crawl " in line
    ]
    assert len(lines) == 3
    environment = os.environ | {"INCREMENTAL_CRAWL_DATA": str(twice.folder / "data")}
    for line in lines[:2]:
        program, arguments = re.split(r"(?<=incremental.crawl) ", line, maxsplit=1)
        assert program.endswith(("incremental-crawl", "-m incremental_crawl"))
        command = f"{sys.executable} -m incremental_crawl {arguments}"
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, cwd=REPOSITORY, env=environment, check=True
        )
        assert len(done.stdout.splitlines()) > 5


def test_the_second_run_finds_the_world_moved_on_and_a_book_back(twice: Twice) -> None:
    shown = twice.second
    assert (shown.status, shown.err) == (0, "")
    assert "Nothing is new since last time. Now its world moves on to step 2. Second visit:" in shown.out
    assert "3 without news" in shown.out, "what is gone or moved stays so"
    vanished = {line.split()[1] for line in twice.first.section("Gone") if line.endswith("(answered 404)")}
    assert set(shown.named("Back again")) == vanished
    assert not set(shown.named("Gone")) & set(twice.first.named("Gone"))


def test_a_shop_that_is_open_already_is_used(twice: Twice) -> None:
    assert twice.open_shop_was_asked > 400
    assert "cannot listen" not in twice.second.out


def test_the_demo_takes_less_than_half_a_minute(twice: Twice) -> None:
    assert min(twice.first.seconds, twice.second.seconds) < 30


def test_a_port_that_something_else_has_taken_is_told(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        shown = show(tmp_path, port)
    assert (shown.status, shown.out) == (1, "")
    assert f"port {port} is taken, and not by the bookshop" in shown.err
    assert "BOOKSHOP_PORT=8766 make crawl" in shown.err


def test_a_port_that_is_none_is_told(tmp_path: Path) -> None:
    shown = show(tmp_path, 70000)
    assert (shown.status, shown.out) == (2, "")
    assert "BOOKSHOP_PORT=70000 is not a port: a whole number from 1 to 65535" in shown.err
