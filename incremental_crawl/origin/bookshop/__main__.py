"""`python -m incremental_crawl.origin.bookshop`: serves the demo bookshop until it is interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from incremental_crawl.origin.bookshop.shop import DEFAULT_PORT, Bookshop
from incremental_crawl.origin.bookshop.step_file import StepFile


def main(arguments: list[str] | None = None) -> int:
    """Serves until SIGINT or SIGTERM; 1 where the port is taken, 0 otherwise."""
    options = _parser().parse_args(arguments)
    step_file = StepFile(options.state / "step")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        step = step_file.advance(1 if options.advance else 0)
        with Bookshop(step_file.read, options.port, options.log) as shop:
            print(f"The bookshop is open at {shop.base_url}/ (step {step}); Ctrl-C closes it.", flush=True)
            stopped.wait()
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bookshop", description="Serves the demo bookshop on 127.0.0.1.")
    port = int(os.environ.get("BOOKSHOP_PORT", DEFAULT_PORT))
    parser.add_argument("--port", type=int, default=port, help="default: BOOKSHOP_PORT, else %(default)s")
    parser.add_argument(
        "--state", type=Path, default=Path("data/demo"), help="the folder of the step file (default: %(default)s)"
    )
    parser.add_argument("--advance", action="store_true", help="move the world one step before opening")
    parser.add_argument("--log", type=Path, default=None, help="append each request to this file as a line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
