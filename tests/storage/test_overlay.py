"""A replaced Parquet file still serves whoever has the footer of the file before."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.storage.durable import replacing
from incremental_crawl.storage.footer_offsets import shifted
from incremental_crawl.storage.overlay import held_besides

SCHEMA = pa.schema([("url", pa.string()), ("fields", pa.list_(pa.struct([("name", pa.string())])))])


def rows_of(number: int, version: int) -> pa.Table:
    """Rows that differ from version to version."""
    values = [{"url": f"{version}-{n}", "fields": [{"name": str(n)}] * (n % 3)} for n in range(number)]
    return pa.Table.from_pylist(values, schema=SCHEMA)


def write(path: Path, rows: pa.Table, by_duckdb: bool = False, hollow: bool = False) -> None:
    """Replace the file as the product does."""
    with replacing(path, hollow) as temporary:
        if by_duckdb:
            with duckdb.connect() as con:
                con.register("rows_to_write", rows)
                con.execute(f"COPY rows_to_write TO '{temporary}' (FORMAT parquet, COMPRESSION zstd)").fetchall()
        else:
            pq.write_table(rows, temporary, row_group_size=100, write_page_index=True)


def footer_of(path: Path) -> bytes:
    """The raw footer."""
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    return content[-8 - length : -8]


def read_with_footer(content: bytes, footer: bytes) -> pa.Table:
    """The rows that a reader finds who has an older footer."""
    # The same bytes in the same places with the old footer behind them.
    return pq.read_table(pa.BufferReader(content + footer + len(footer).to_bytes(4, "little") + b"PAR1"))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.booleans()), min_size=2, max_size=9))
def test_the_new_rows_and_those_of_the_version_before_are_found(
    tmp_path_factory: pytest.TempPathFactory, versions: list[tuple[int, bool]]
) -> None:
    path = tmp_path_factory.mktemp("overlay") / "pages.parquet"
    before: tuple[bytes, pa.Table, int] | None = None
    for version, (number, by_duckdb) in enumerate(versions):
        rows = rows_of(number, version)
        write(path, rows, by_duckdb)
        assert pq.read_table(path).equals(rows)
        with duckdb.connect() as con:
            assert con.sql(f"FROM '{path}'").to_arrow_table().to_pylist() == rows.to_pylist()
        content = path.read_bytes()
        if before is not None:
            assert read_with_footer(content, before[0]).to_pylist() == before[1].to_pylist()
            assert len(content) >= before[2]
        before = footer_of(path), rows, len(content)


def with_duckdb(path: Path) -> int:
    """How many rows DuckDB reads."""
    with duckdb.connect() as con:
        return len(con.execute(f"FROM '{path}'").fetchall())


READERS: dict[str, Callable[[Path], int]] = {
    "duckdb": with_duckdb,
    "polars": lambda path: pl.scan_parquet(path).collect().height,
    "pandas": lambda path: len(pd.read_parquet(path)),
}


@pytest.mark.parametrize("engine", READERS)
def test_an_engine_reads_a_file_that_is_replaced_all_the_time(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "site=shop" / "pages.parquet"
    versions = [rows_of(number, version) for version, number in enumerate((3000, 10, 0, 1500, 1))]
    write(path, versions[0])
    end = threading.Event()
    writes: list[int] = []

    def replace_on_and_on() -> None:
        while not end.is_set():
            write(path, versions[len(writes) % len(versions)])
            writes.append(path.stat().st_size)
            time.sleep(0.005)

    writer = threading.Thread(target=replace_on_and_on)
    writer.start()
    try:
        until = time.monotonic() + 2
        while time.monotonic() < until:
            assert READERS[engine](path) in {rows.num_rows for rows in versions}
    finally:
        end.set()
        writer.join()
    assert len(writes) > 20


def test_a_file_that_is_replaced_over_and_over_levels_off(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    sizes = []
    for version in range(60):
        write(path, rows_of(300 + version, version))
        sizes.append(path.stat().st_size)
    alone = tmp_path / "alone.parquet"
    write(alone, rows_of(360, 0))
    assert sizes[-1] < 9 * alone.stat().st_size


def test_of_large_files_only_the_version_before_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    table = pa.table({"url": [""]})
    for version in range(8):
        table = pa.table({"url": [f"{version} {n * 2654435761 % 2**32:x}" * 4 for n in range(80_000)]})
        with replacing(path) as temporary:
            pq.write_table(table, temporary, compression="none", use_dictionary=False)
    assert path.stat().st_size < 3.5 * table.nbytes


def test_a_hollow_file_has_the_size_of_the_old_one_and_none_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "visit-1.parquet"
    write(path, rows_of(5000, 1))
    write(path, SCHEMA.empty_table())
    size = path.stat().st_size
    assert held_besides(path) > 10_000
    write(path, SCHEMA.empty_table(), hollow=True)
    assert pq.read_table(path).num_rows == 0
    assert path.stat().st_size == size
    assert held_besides(path) == 0
    assert path.read_bytes().count(0) > size * 0.9


def test_a_broken_file_is_simply_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    for content in (b"", b"PAR1", b"not a parquet file at all, whatever it is called", b"\xff" * 8 + b"PAR1"):
        path.write_bytes(content)
        write(path, rows_of(3, 1))
        assert pq.read_table(path).num_rows == 3


def test_what_replaces_a_file_must_be_parquet(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    write(path, rows_of(3, 1))
    with pytest.raises(ValueError, match="not a Parquet file"), replacing(path) as temporary:
        temporary.write_bytes(b"something else")
    assert pq.read_table(path).num_rows == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["pages.parquet"]


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_footer_that_is_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "pages.parquet"
    write(path, rows_of(3, 1))
    with pytest.raises(ValueError, match="cut off"):
        shifted(footer_of(path)[:cut], 10)


def test_shifting_a_footer_there_and_back_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    for by_duckdb in (False, True):
        write(path, rows_of(3000, 1), by_duckdb)
        footer = footer_of(path)
        assert shifted(footer, 0) == footer
        assert shifted(shifted(footer, 100_000), -100_000) == footer
        assert shifted(footer, 100_000) != footer
        path.unlink()
