"""A state of an older release goes on with this one, and the old file is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from incremental_crawl.storage import migration
from incremental_crawl.storage.state import SCHEMA_VERSION
from tests.crawl.pages_origin import OLD_DATE, PagesOrigin, Scene, page

COPIED = "meta visits visit_stages known_urls held_records sources listings".split()


@pytest.fixture(params=[1, 2])
def older(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Scene]:
    """A site with one visit, whose state file is of an older schema version."""
    with PagesOrigin({f"/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(3)}) as origin:
        scene = Scene(tmp_path, origin)
        scene.visit()
        _write_older(scene.site.layout.state_file, request.param)
        yield scene


def _write_older(path: Path, version: int) -> None:
    new = path.with_suffix(".new")
    path.rename(new)
    with duckdb.connect(str(path)) as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute(Path(__file__).with_name(f"schema_{version}.sql").read_text(encoding="utf-8"))
        con.execute(f"ATTACH '{new}' AS newer (READ_ONLY)")
        for table in COPIED if version == 1 else (*COPIED, "hosts", "ledger"):
            names = ", ".join(f'"{name}"' for (name, *_) in con.execute(f"DESCRIBE {table}").fetchall())
            con.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM newer.{table}")
        con.execute("""UPDATE meta SET "value" = ? WHERE "key" = 'schema_version'""", [str(version)])
        if version == 1:
            con.execute(
                "INSERT INTO hosts BY NAME SELECT host, mode, conditional_requests, not_modified, same_hash, audits, "
                "etag_trusted, last_modified_trusted, head_trusted, verdict, now() + INTERVAL 1 HOUR AS not_before "
                "FROM newer.hosts"
            )
        else:
            con.execute("INSERT INTO host_pauses SELECT host, now() + INTERVAL 1 HOUR, 0, 0 FROM newer.hosts")
    new.unlink()


def test_an_older_state_goes_on_where_it_stopped(older: Scene) -> None:
    older.visit()
    assert older.events(2) == []
    assert older.texts() == {"/": "Start", "/0": "Page 0", "/1": "Page 1", "/2": "Page 2"}
    assert older.site.state("SELECT version FROM schema_version") == [(SCHEMA_VERSION,)]
    (kept,) = older.site.layout.state_file.parent.glob("site.duckdb.v?")
    with duckdb.connect(str(kept), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM known_urls").fetchall() == [(4,)]


def test_what_hosts_asked_for_is_not_forgotten(older: Scene) -> None:
    assert older.site.state("SELECT count(*) FROM host_pauses WHERE not_before IS NOT NULL") == [(1,)]


def test_a_crash_on_the_way_leaves_the_old_file(older: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(migration, "query", crash)
        with pytest.raises(KeyboardInterrupt):
            older.site.state("SELECT 1")
    older.visit()
    assert older.events(2) == []
