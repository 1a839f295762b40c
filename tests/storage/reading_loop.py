"""Reads every dataset over and over until told to stop: `python -m` this with an engine and the data root.

A line on standard input ends it; then it prints one JSON object: how many rounds it made, and the errors.
"""

from __future__ import annotations

import json
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

GROWING = ("body_snapshots", "page_records", "page_diffs", "tombstones", "observations")
GLOBS = {
    **{name: f"{name}/*/*/*.parquet" for name in GROWING},
    "records": "records/*/*/*.parquet",
    "pages": "pages/*/*.parquet",
    "hosts": "hosts/*/*.parquet",
}
HIVE_GLOBS = {name: glob.replace("/*/", "/site=*/", 1).replace("/*/", "/day=*/", 1) for name, glob in GLOBS.items()}
HIVE_GLOBS["records"] = "records/site=*/type=*/records.parquet"


class DuckDbReader:
    """One connection for all rounds, as a notebook would keep it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._con = duckdb.connect()
        self._con.execute("SET threads = 2")

    def read(self, dataset: str) -> None:
        """Every row and column of the dataset, by the plain and by the hive glob."""
        union = ", union_by_name = true" if dataset == "records" else ""
        for glob in (GLOBS[dataset], HIVE_GLOBS[dataset]):
            source = f"read_parquet('{self._root / glob}'{union})"
            self._con.sql(f"SELECT * FROM {source}").to_arrow_table()
            self._con.sql(
                f"SELECT count(*), max(url) FROM {source}" if dataset != "hosts" else f"FROM {source}"
            ).fetchall()


class PandasReader:
    """The folder as a whole, and the files of a glob one by one."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, dataset: str) -> None:
        """Every row and column of the dataset."""
        pd.read_parquet(self._root / dataset)
        files = sorted(self._root.glob(GLOBS[dataset]))
        pd.concat([pd.read_parquet(file, partitioning=None) for file in files])
        pq.read_table(files)


class PolarsReader:
    """Lazy scans of the glob, with and without hive partitions."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, dataset: str) -> None:
        """Every row and column of the dataset; of the records each page type's, for these have columns of their own."""
        globs = [GLOBS[dataset], HIVE_GLOBS[dataset]]
        if dataset == "records":
            globs = [HIVE_GLOBS["records"].replace("type=*", f"type={name}") for name in ("page", "product")]
        for hive in (True, False):
            for glob in globs:
                pl.scan_parquet(self._root / glob, hive_partitioning=hive).collect()


ENGINES: dict[str, Callable[[Path], DuckDbReader | PandasReader | PolarsReader]] = {
    "duckdb": DuckDbReader,
    "pandas": PandasReader,
    "polars": PolarsReader,
}


def _wait_for_line(told: threading.Event) -> None:
    sys.stdin.readline()
    told.set()


def main() -> None:
    """Arguments: engine, data root."""
    engine, root = sys.argv[1], Path(sys.argv[2])
    reader, told = ENGINES[engine](root), threading.Event()
    threading.Thread(target=_wait_for_line, args=(told,), daemon=True).start()
    rounds, errors = 0, []
    print("reading", flush=True)
    while not told.is_set():
        for dataset in GLOBS:
            try:
                reader.read(dataset)
            except Exception:  # noqa: BLE001 - any error at all is what the test is about
                errors.append(f"{engine} {dataset} in round {rounds}: {traceback.format_exc(limit=-2)}")
        rounds += 1
    print(json.dumps({"rounds": rounds, "errors": errors}), flush=True)


if __name__ == "__main__":
    main()
