"""A site that is in use, an interrupt in the middle, a folder that cannot be written: a sentence, and a way on."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from incremental_crawl.cli import sites
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.lock import site_lock
from incremental_crawl.storage.state import open_state
from tests.cli.conftest import Crawled
from tests.cli.projects import CommandLine, Said, Shell
from tests.origins.documents import Behaviour, DocumentsOrigin
from tests.origins.histories import synthetic_history

COMMANDS = (
    ["crawl", "shop"],
    ["review", "shop"],
    ["approve", "shop"],
    ["reparse", "shop", "--from", "2026-11-01", "--dry-run"],
)
READER = (
    "import duckdb, sys; con = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); sys.stdin.read()"
)


@pytest.fixture
def project(tmp_path: Path) -> CommandLine:
    project = CommandLine(tmp_path)
    project.site("shop")
    with open_state(layout(project), "test", datetime.now(UTC)):
        pass
    return project


def layout(project: CommandLine, site: str = "shop") -> SiteLayout:
    """Where the site's files lie."""
    return SiteLayout(project.data, site)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_site_in_use_is_waited_for_and_then_its_holder_is_named(
    project: CommandLine, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr(sites, "LOCK_WAIT_S", 1.2)
    since = datetime(2026, 11, 30, 8, 15, tzinfo=UTC)
    with site_lock(layout(project).lock_file, "revalidation_sweep", since):
        said = project.here(*command)
    sentence = f"site shop is in use by process {os.getpid()} (revalidation_sweep, since 2026-11-30T08:15:00+00:00)"
    assert said.status == 1
    first, *_, last = said.err.splitlines()
    assert first.startswith(f"waiting up to 0 seconds: {sentence}")
    assert last == f"{sentence}; wait for it to end, or stop that process, and start again"


def test_json_has_the_holder_as_well(project: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "LOCK_WAIT_S", 0.1)
    with site_lock(layout(project).lock_file, "records", datetime.now(UTC)):
        said = project.here("crawl", "shop", "--json")
    [one] = said.objects()
    assert (said.status, one["success"]) == (1, False)
    assert f"process {os.getpid()} (records, since" in one["problem"]


def test_a_site_in_use_does_not_keep_status_waiting(project: CommandLine) -> None:
    with site_lock(layout(project).lock_file, "body_snapshots", datetime.now(UTC)):
        began = time.monotonic()
        said = project.here("status", "shop")
        assert time.monotonic() - began < 5
    assert said.status == 0
    assert said.out.splitlines()[1].endswith("  in use, never crawled")
    assert f"in use by process {os.getpid()} (body_snapshots, since" in said.out


def test_a_reader_that_keeps_the_state_open_is_named(project: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "LOCK_WAIT_S", 0.1)
    state = layout(project).state_file
    command = [sys.executable, "-c", READER, str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        said = project.here("crawl", "shop")
        looked = project.here("status", "shop")
        reader.communicate()
    assert said.status == 1
    assert f"{state} is kept open by another program" in said.err
    assert f"PID {reader.pid}" in said.err
    assert "close it there: readers use the Parquet datasets or `incremental-crawl sql`" in said.err
    assert looked.status == 0
    assert f"PID {reader.pid}" in looked.out


@pytest.fixture(scope="module")
def slow() -> Iterator[DocumentsOrigin]:
    """Documents that can be made to take their time."""
    with DocumentsOrigin(synthetic_history(pages=25, visits=2), noise=False) as origin:
        yield origin


def test_an_interrupt_ends_with_a_sentence_and_the_next_crawl_goes_on(slow: DocumentsOrigin, tmp_path: Path) -> None:
    project = CommandLine(tmp_path)
    project.site("slow", f"{slow.base_url}/", politeness={"requests_per_second": None, "fetch_concurrency": 2})
    paths = [f"/pages/{page}" for page in slow.pages]
    for path in paths:
        slow.script(path, Behaviour(delay_s=0.4))
    process = project.start("crawl", "slow", start_new_session=True)
    _wait_for(lambda: len(slow.log) > 20, process)
    during = project.here("status")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.strip() == "stopped; `incremental-crawl crawl slow` goes on where it stopped"
    assert during.out.splitlines()[1].endswith("in use")

    shown = project.here("status", "slow").out
    assert shown.splitlines()[1].endswith("unfinished visit")
    assert re.search(r"visit 1 of \S+ is unfinished\n  incremental-crawl crawl slow ", shown)

    for path in paths:
        slow.script(path)
    before = len(slow.log)
    said = project.run("crawl", "slow", "--json")
    [one] = said.objects()
    assert (said.status, one["success"], one["visit"], one["known"], one["counts"]["new"]) == (0, True, 1, 26, 26)
    again = {entry.path for entry in list(slow.log)[before:]} & set(paths)
    assert 0 < len(again) < 25, "what was fetched and stored before is not asked again"


def _wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_data_folder_that_cannot_be_written_can_be_read(crawled: Crawled, tmp_path: Path) -> None:
    shutil.copytree(crawled.project.folder, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("dagster"))
    project = CommandLine(tmp_path)
    folders = [path for path in (project.data, *project.data.rglob("*")) if path.is_dir()]
    files = [path for path in project.data.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o444)
    for path in folders:
        path.chmod(0o555)
    try:
        with Shell(project, before=_without_privileges()) as shell:
            _check_read_only(project, shell)
    finally:
        for path in folders:
            path.chmod(0o755)


def _check_read_only(project: CommandLine, shell: Shell) -> None:
    assert shell("changes", "--json").status == 0
    assert len(shell("sql", "FROM pages", "--json").out.splitlines()) > 30
    status = shell("status")
    assert status.status == 0
    assert "always" in status.out
    for command in (["crawl", "daily"], ["review", "daily"]):
        said: Said = shell(*command)
        assert said.status == 1, command
        sentence = said.err.strip().splitlines()[-1]
        assert str(project.data / "state" / "daily.lock") in sentence
        assert "permission denied; make it usable, or choose another folder with INCREMENTAL_CRAWL_DATA" in sentence


def _without_privileges() -> list[str]:
    """What to start a process with so that permissions hold for it too where the tests run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
