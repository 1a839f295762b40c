"""DuckDB's one engine of this process, and the state files that are attached to it.

An engine of its own takes thirty milliseconds to start, a file that is attached takes three, and a visit opens its
state seven times. Memory and threads are bounded here, for all states of the process together: one thread as long as
all states are small, since handing out the work of a small query takes longer than the work (a fifth of a small visit).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import duckdb

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "2GB",
    "threads": 1,
}
_LARGE_BYTES = 32_000_000
_THREADS_OF_LARGE = 2
_FIRST = "memory"
"""The catalog that an engine without a file starts with."""

_lock = threading.Lock()
_engines: list[duckdb.DuckDBPyConnection] = []
_numbers = count(1)


@contextmanager
def attached(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the database file at `path`, made where there is none, with times in UTC; let go at the end.

    Raises DuckDB's own errors. What is not folded is written into the file when it is let go.
    """
    con = _engine(path).cursor()
    name = f"state_{next(_numbers)}"
    try:
        con.execute(f"ATTACH '{quoted(path)}' AS {name}")
        if path.stat().st_size > _LARGE_BYTES:
            con.execute(f"SET GLOBAL threads = {_THREADS_OF_LARGE}")
        try:
            con.execute(f"USE {name}")
            con.execute("SET TimeZone = 'UTC'")
            yield con
        finally:
            con.execute(f"USE {_FIRST}")
            con.execute(f"DETACH {name}")
    except (duckdb.FatalException, duckdb.InternalException):
        _engines.clear()  # such an error ends the engine; the next state gets a fresh one
        raise
    finally:
        con.close()


def quoted(path: Path) -> str:
    """A path as it stands between SQL's quotes."""
    return str(path).replace("'", "''")


def _engine(path: Path) -> duckdb.DuckDBPyConnection:
    """The engine; made at the first state, beside which it puts what does not fit into memory."""
    with _lock:
        if not _engines:
            _engines.append(duckdb.connect(config={**_SETTINGS, "temp_directory": f"{path}.tmp"}))
        return _engines[0]
