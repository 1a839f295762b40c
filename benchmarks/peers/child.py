"""One visit of one peer, in a process of its own: a line of JSON in, lines of JSON out.

`python -m benchmarks.peers.child NAME FOLDER` reads `{"urls": […], "now": seconds}` and has `NAME_peer.py` visit. It
runs in the peers' environment, so it imports neither the product nor its packages.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import resource
import sys
import threading
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import time_machine  # type: ignore[import-not-found]

from benchmarks.peers.answers import Tell, Visit

_MOST_MEMORY_BYTES = 4 << 30
"""So that an answer that never ends costs the client its answer, not the machine its memory."""


def main(name: str, folder: Path) -> None:
    """Visit and tell; whatever else the peer prints goes to the error stream."""
    tell = _teller()
    request = json.loads(sys.stdin.readline())
    _stay_on_loopback(tell)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
    # A visit is a day after the last one for the server: the client's clock has to agree.
    time_machine.travel(datetime.fromtimestamp(request["now"], UTC), tick=True).start()
    visit: Visit = importlib.import_module(f"benchmarks.peers.{name}_peer").visit
    visit(request["urls"], folder, tell)
    tell(done=True)
    sys.stderr.flush()
    os._exit(0)  # threads that still wait for an answer are not waited for


def _teller() -> Tell:
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    lock = threading.Lock()

    def tell(**said: object) -> None:
        with lock:
            lines.write(json.dumps(said) + "\n")
            lines.flush()

    return tell


def _stay_on_loopback(tell: Tell) -> None:
    """No peer reaches anything but loopback addresses; where it tried to, the measurement is told."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event != "socket.connect" or not isinstance(address := arguments[1], tuple):
            return
        try:
            loopback = ip_address(address[0]).is_loopback
        except ValueError:
            loopback = address[0] == "localhost"
        if not loopback:
            tell(connects=str(address[0]))
            raise OSError(errno.ENETUNREACH, "only loopback addresses can be reached")

    sys.addaudithook(hook)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
