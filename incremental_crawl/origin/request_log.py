"""What a local origin was asked and what it sent: the proof of what a crawl cost."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

DEFAULT_CAPACITY = 200_000


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One answered request. `path` includes the query; `total_bytes` adds status line and headers to `body_bytes`.

    `status` is 0 where the connection was closed without an answer.
    """

    method: str
    path: str
    status: int
    body_bytes: int
    conditional: bool
    total_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def to_json(self) -> str:
        """One line for a log file, without the request's headers."""
        names = ("method", "path", "status", "body_bytes", "conditional", "total_bytes")
        return json.dumps({name: getattr(self, name) for name in names})


class RequestLog:
    """The newest requests in order of their answers, and optionally each as a line of JSON at the end of `file`.

    Appending is done by the server's thread, reading by any other; a reader gets a copy.
    """

    def __init__(self, file: Path | None = None, capacity: int = DEFAULT_CAPACITY) -> None:
        self._requests: deque[LoggedRequest] = deque(maxlen=capacity)
        self._stream = _open_for_append(file)

    def append(self, request: LoggedRequest) -> None:
        """Adds one request, and writes its line."""
        self._requests.append(request)
        if self._stream is not None:
            self._stream.write(request.to_json() + "\n")

    def clear(self) -> None:
        """Forgets what memory holds; the file keeps its lines."""
        self._requests.clear()

    def close(self) -> None:
        """Closes the file; what memory holds stays readable."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __iter__(self) -> Iterator[LoggedRequest]:
        return iter(self._requests.copy())

    def __len__(self) -> int:
        return len(self._requests)

    @property
    def body_bytes(self) -> int:
        """Bytes of all bodies sent, content-coding included."""
        return sum(request.body_bytes for request in self)

    @property
    def total_bytes(self) -> int:
        """Bytes of all answers sent: status lines, headers and bodies."""
        return sum(request.total_bytes for request in self)


def _open_for_append(file: Path | None) -> TextIO | None:
    if file is None:
        return None
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.open("a", encoding="utf-8", buffering=1)
