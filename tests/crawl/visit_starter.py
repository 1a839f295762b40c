"""Starts visits as processes of their own: `python -m` this.

It only imports; a visit is a fork of it, so that many kills do not cost as many imports. A line of JSON comes in for
each visit, with the arguments of `killed_visit.visit`; `begun PID` goes out, and `ended STATUS`.
"""

from __future__ import annotations

import json
import os
import sys

from tests.crawl.killed_visit import visit


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            status = 1
            try:
                visit(*json.loads(line))
                status = 0
            finally:
                os._exit(status)
        print("ended", os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
