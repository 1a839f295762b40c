"""The crawl's end of one extraction worker: start it, hand it a batch, collect the answer, end it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from incremental_crawl.extraction.extract import Extract
from incremental_crawl.extraction.worker import FRAME, Batch, framed

_CHUNK = 1 << 20
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])


class WorkerLostError(RuntimeError):
    """The worker ended before its answer was complete."""


class WorkerProcess:
    """One worker; busy from `send` until `receive` has given the answer."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "incremental_crawl.extraction.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        self._received = bytearray()
        self.sent_at = 0.0
        self.pages_done = 0

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def fileno(self) -> int:
        """The descriptor that becomes readable when an answer arrives."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, batch: Batch) -> None:
        """Hands over a batch. Raises WorkerLostError where the worker has ended."""
        assert self._process.stdin is not None
        self.sent_at = time.monotonic()
        self.pages_done += len(batch.pages)
        try:
            self._process.stdin.write(framed(batch))
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerLostError(f"worker {self.pid} ended before it took its batch") from error

    def receive(self) -> list[Extract] | None:
        """What has arrived, once it is complete; None before. Raises WorkerLostError at the end of the pipe."""
        chunk = os.read(self.fileno(), _CHUNK)
        if not chunk:
            raise WorkerLostError(f"worker {self.pid} ended with status {self._process.wait()}")
        self._received += chunk
        if len(self._received) < FRAME.size:
            return None
        if len(self._received) < FRAME.size + FRAME.unpack_from(self._received)[0]:
            return None
        extracts: list[Extract] = pickle.loads(memoryview(self._received)[FRAME.size :])  # noqa: S301
        self._received = bytearray()
        return extracts

    def end(self) -> None:
        """Ends the worker at once and waits until it is gone."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                _close(stream)
        self._process.wait()


def _close(stream: IO[bytes]) -> None:
    # What it has not taken yet cannot be flushed any more.
    with suppress(OSError):
        stream.close()


def _environment() -> dict[str, str]:
    """The worker finds this very package, wherever the crawl was started."""
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{_PACKAGE_PARENT}{os.pathsep}{known}" if known else _PACKAGE_PARENT}
