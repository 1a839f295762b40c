"""One engine of DuckDB serves all state files of a process, and none of them notices the others."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from incremental_crawl.storage import engine
from incremental_crawl.storage.engine import attached
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.state import StateUnusable, open_state

NOW = datetime(2026, 5, 1, tzinfo=UTC)
READ = """import duckdb, sys
print(duckdb.connect(sys.argv[1]).execute("SELECT \\"value\\" FROM meta WHERE \\"key\\" = 'told'").fetchall())"""


def test_two_states_are_open_at_once_and_keep_their_own(tmp_path: Path) -> None:
    one, other = SiteLayout(tmp_path, "one"), SiteLayout(tmp_path, "other")
    with open_state(one, "test", NOW) as first, open_state(other, "test", NOW) as second:
        first.set_meta("told", "first")
        second.set_meta("told", "second")
        first.run("CREATE TEMP TABLE scratch AS SELECT 1 AS x")
        second.run("CREATE TEMP TABLE scratch AS SELECT 2 AS x")
        assert first.value("SELECT x FROM scratch") == 1
    with open_state(one, "test", NOW) as first, open_state(other, "test", NOW) as second:
        assert (first.meta("told"), second.meta("told")) == ("first", "second")


def test_a_closed_state_is_whole_and_free_for_another_process(tmp_path: Path) -> None:
    layout = SiteLayout(tmp_path, "one")
    with open_state(layout, "test", NOW) as state:
        state.set_meta("told", "yes")
    assert not layout.state_file.with_name(f"{layout.state_file.name}.wal").exists()
    read = [sys.executable, "-c", READ, str(layout.state_file)]
    assert subprocess.run(read, capture_output=True, text=True, check=True).stdout == "[('yes',)]\n"


def test_an_error_inside_lets_the_file_go_and_nothing_half_done_stays(tmp_path: Path) -> None:
    layout = SiteLayout(tmp_path, "one")
    with pytest.raises(duckdb.CatalogException):
        _fail_half_way(layout)
    with open_state(layout, "test", NOW) as state:
        assert state.meta("told") is None


def test_a_file_that_is_no_state_is_named_and_hinders_no_other(tmp_path: Path) -> None:
    broken, sound = SiteLayout(tmp_path, "broken"), SiteLayout(tmp_path, "sound")
    broken.state_file.parent.mkdir(parents=True)
    broken.state_file.write_bytes(b"not a database" * 1000)
    with pytest.raises(StateUnusable, match=str(broken.state_file)), open_state(broken, "test", NOW):
        pass
    with open_state(sound, "test", NOW) as state:
        assert state.meta("site") == "sound"


def test_an_engine_that_failed_for_good_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "o'clock.duckdb"
    with pytest.raises(duckdb.FatalException):
        _fail_for_good(path)
    assert not engine._engines
    with attached(path) as con:
        assert con.execute("SELECT count(*) FROM t").fetchone() == (0,)


def _fail_half_way(layout: SiteLayout) -> None:
    with open_state(layout, "test", NOW) as state, state.transaction():
        state.run("INSERT INTO meta VALUES ('told', 'half')")
        state.run("SELECT * FROM no_such_table")


def _fail_for_good(path: Path) -> None:
    with attached(path) as con:
        con.execute("CREATE TABLE t (x INTEGER)")
        raise duckdb.FatalException("as after a failed write to a full disk")
