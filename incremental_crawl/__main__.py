"""`python -m incremental_crawl`: the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an interrupt while it is still being loaded ends it without a traceback."""
    try:
        from incremental_crawl.cli import main as run
    except KeyboardInterrupt:
        sys.exit("stopped")
    run()


if __name__ == "__main__":
    main()
