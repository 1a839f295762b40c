"""The spool keeps bodies of unpublished visits: whatever was committed stays readable after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.storage.spool import SpoolRef, read_bodies, remove_visit, spool_writer

BODIES = st.lists(st.lists(st.binary(max_size=3000), min_size=1, max_size=6), max_size=6)


@settings(max_examples=60, deadline=None)
@given(BODIES)
def test_bodies_come_back_byte_for_byte_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    refs: list[SpoolRef] = []
    with spool_writer(folder, 3) as spool:
        for batch in batches:
            refs += spool.append([(f"http://x/{n}", body) for n, body in enumerate(batch)])
            assert list(read_bodies(folder, refs)) == [body for batch in batches for body in batch][: len(refs)]
    written = [body for batch in batches for body in batch]
    assert list(read_bodies(folder, refs)) == written
    assert list(read_bodies(folder, refs[::-1])) == written[::-1]


@pytest.mark.parametrize("lost", [1, 7, 64, 400])
def test_a_truncated_tail_costs_only_the_batch_that_was_not_committed(tmp_path: Path, lost: int) -> None:
    with spool_writer(tmp_path, 1) as spool:
        committed = spool.append([("http://x/a", b"first" * 100), ("http://x/b", bytes(range(256)))])
        end = (tmp_path / committed[0].file).stat().st_size
        spool.append([("http://x/c", bytes(range(250)) * 40)])
    path = tmp_path / committed[0].file
    path.write_bytes(path.read_bytes()[: max(end, path.stat().st_size - lost)])
    assert list(read_bodies(tmp_path, committed)) == [b"first" * 100, bytes(range(256))]
    with spool_writer(tmp_path, 1) as spool:
        again = spool.append([("http://x/c", b"again")])
    assert again[0].file != committed[0].file
    assert list(read_bodies(tmp_path, [*again, *committed])) == [b"again", b"first" * 100, bytes(range(256))]


def test_every_writer_has_a_file_of_its_own(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        with spool_writer(tmp_path, 1) as spool:
            names.append(spool.append([("http://x/", b"x")])[0].file)
    assert len(set(names)) == 3


def test_nothing_is_created_for_no_bodies(tmp_path: Path) -> None:
    with spool_writer(tmp_path / "spool", 1) as spool:
        assert spool.append([]) == []
    assert not (tmp_path / "spool").exists()


def test_only_the_files_of_the_visit_are_removed(tmp_path: Path) -> None:
    refs = {}
    for visit in (1, 11, 111):
        with spool_writer(tmp_path, visit) as spool:
            refs[visit] = spool.append([("http://x/", str(visit).encode())])
    remove_visit(tmp_path, 1)
    remove_visit(tmp_path, 1)
    assert list(read_bodies(tmp_path, [*refs[11], *refs[111]])) == [b"11", b"111"]
    assert len(list(tmp_path.iterdir())) == 2
