"""The process that extracts: reads batches from its standard input, writes results to its standard output.

Run as `python -m incremental_crawl.extraction.worker`. It ends when its input ends, so that none outlives the crawl,
however that ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from dataclasses import dataclass
from typing import BinaryIO

from incremental_crawl.extraction.extract import Extract, Page, extract
from incremental_crawl.extraction.rules import ExtractionRules

FRAME = struct.Struct("!Q")


@dataclass(frozen=True, slots=True)
class Batch:
    """Pages to extract by the same rules."""

    pages: tuple[Page, ...]
    rules: ExtractionRules
    want_links: bool
    want_main_text: bool


def framed(value: object) -> bytes:
    """A value as bytes on the pipe: eight bytes of length, then the pickle."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return FRAME.pack(len(data)) + data


def _read(stream: BinaryIO) -> Batch | None:
    head = stream.read(FRAME.size)
    if len(head) < FRAME.size:
        return None
    # Only the crawl itself writes to this pipe.
    batch: Batch = pickle.loads(stream.read(FRAME.unpack(head)[0]))  # noqa: S301
    return batch


def _extracted(batch: Batch) -> list[Extract]:
    return [extract(page, batch.rules, batch.want_links, batch.want_main_text) for page in batch.pages]


def _own_output() -> BinaryIO:
    """The pipe to the crawl, moved so that nothing a library prints can get into it."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def main() -> int:
    """Serves batches until the input ends."""
    # The crawl decides when to stop; Ctrl-C reaches the whole process group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = _own_output()
    while (batch := _read(sys.stdin.buffer)) is not None:
        output.write(framed(_extracted(batch)))
        output.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
