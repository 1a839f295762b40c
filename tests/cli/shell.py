"""Runs one command after the other in one process, so that Dagster is loaded once: `python -m` this.

A line of JSON comes in for each command, and one goes out with what it said.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

from click.testing import CliRunner

from incremental_crawl.cli import cli


def main() -> None:
    """Answer until the input ends."""
    # What a command starts writes to stderr; the answers have a channel of their own.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            result = CliRunner().invoke(cli, json.loads(line), prog_name="incremental-crawl")
            if result.exc_info and not isinstance(result.exception, SystemExit | None):
                traceback.print_exception(*result.exc_info)
            said = {"status": result.exit_code, "out": result.stdout, "err": result.stderr}
            answers.write(json.dumps(said) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
