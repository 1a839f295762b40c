"""A real server as a child process on a free loopback port, and what its own access log says."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.document_root import DocumentRoot
from tests.servers.software import LOG_FIELDS, Software, Varnish

_MARK = "/-mark-"
_START_S = 5.0


@dataclass(frozen=True)
class Served:
    """One request as the server logged it; what was not sent is None."""

    method: str
    path: str
    status: int
    body_bytes: int
    etag: str | None
    last_modified: str | None
    cache_control: str | None
    etag_sent: str | None

    @property
    def conditional(self) -> bool:
        """Whether it carried a condition."""
        return self.etag is not None or self.last_modified is not None


@dataclass(frozen=True)
class Got:
    """An answer to a request of the test's own; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def etag(self) -> str:
        """Its ETag; there has to be one."""
        return self.headers["etag"]


class ServerFailedError(Exception):
    """The server did not start: what its output said."""


@dataclass
class RealServer:
    """`software` on `port`, serving `documents`; everything that it writes lies in `folder`."""

    software: Software
    folder: Path
    port: int = 0
    marks: int = 0
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "documents").mkdir(mode=0o755)
        self.documents = DocumentRoot(self.folder / "documents")

    @property
    def base_url(self) -> str:
        """Scheme, host and port."""
        return f"http://{self.host}"

    @property
    def host(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Run it; a port that somebody else was quicker to take is exchanged for another one."""
        if not Path(self.software.program).exists():
            raise ServerFailedError(f"{self.software.program} is missing: apt-get install {self.software.package}")
        for attempt in range(5):
            self.port = _free_port()
            (self.folder / "server.conf").write_text(self.software.configuration(self.folder, self.port))
            try:
                self._spawn(self.software.command(self.folder, self.port))
                if isinstance(self.software, Varnish):
                    self._wait_for_port()
                    self._spawn(self.software.log_command(self.folder))
                self.log()
                break
            except ServerFailedError:
                self.stop()
                if attempt == 4:
                    raise
        self.documents.fill(self.base_url)

    def stop(self) -> None:
        """End it and its own children."""
        for child in reversed(self.children):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(3)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self.children.clear()

    def log(self) -> list[Served]:
        """All requests so far but the test's own marks; the last mark's line proves that the others are there."""
        self.marks += 1
        mark = f"{_MARK}{self.marks}"
        until, sent = time.monotonic() + _START_S, False
        while time.monotonic() < until and all(child.poll() is None for child in self.children):
            if (
                self.marks == 1 or not sent
            ):  # the first lines may fall between the start of a server and that of its log
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.get(mark)
                    sent = True
            with contextlib.suppress(FileNotFoundError):
                text = (self.folder / "access.log").read_text("latin-1")
                served = [_served(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
                if any(entry.path == mark for entry in served):
                    return [entry for entry in served if not entry.path.startswith(_MARK)]
            time.sleep(0.01)
        raise ServerFailedError(f"{self.software.package} logs nothing: {self._said()}")

    def get(self, path: str, method: str = "GET", **headers: str) -> Got:
        """One request on a connection of its own; underscores in names stand for hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, headers={"Accept-Encoding": "gzip", **named})
            response = connection.getresponse()
            lines = {name.lower(): value for name, value in response.getheaders()}
            return Got(response.status, lines, response.read())
        finally:
            connection.close()

    def _spawn(self, command: list[str]) -> None:
        # The kernel ends the server when the tests are killed; a group of its own takes its children along.
        with (self.folder / "output.log").open("ab") as output:
            child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.children.append(child)

    def _wait_for_port(self) -> None:
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self.children[-1].poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.01)
        raise ServerFailedError(f"{self.software.package} did not start: {self._said()}")

    def _said(self) -> str:
        files = [self.folder / "output.log", self.folder / "error.log"]
        return "\n".join(file.read_text("utf-8", "replace")[-2000:] for file in files if file.exists())


@contextlib.contextmanager
def running(software: Software) -> Iterator[RealServer]:
    """A server that serves twelve pages and a sitemap; its folder may be read by the account that it changes to."""
    folder = Path(tempfile.mkdtemp(prefix="crawled-server-"))
    folder.chmod(0o755)
    server = RealServer(software, folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    """A port that nobody listens on, below those that the kernel gives to clients."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _served(line: str) -> Served:
    fields = [_plain(value) for value in line.rstrip("\n").split("\t")]
    assert len(fields) == LOG_FIELDS, f"not a line of the access log: {line!r}"
    method, path, status, size, *rest = fields
    assert method is not None
    assert path is not None
    path = path.split(" ")[1] if " " in path else path
    return Served(method, path, int(status or 0), int(size or 0), *rest)


def _plain(value: str) -> str | None:
    return None if value in ("", "-") else value.replace('\\"', '"')
