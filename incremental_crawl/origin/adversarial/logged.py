"""What the adversarial origin was asked and what it sent: the log that checks read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TextIO

from incremental_crawl.origin.adversarial.asked import Asked, Fields

_FINAL = re.compile(rb"HTTP/[0-9.]+ (?!1[0-9][0-9])([0-9]{3})[ \r\n]")
_FIELD = re.compile(rb"^(etag|last-modified):[ \t]*([^\r\n]*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


@dataclass(slots=True)
class Logged:
    """One request and its answer. `began_s` is monotonic time, `status` 0 where no status line was sent.

    `sent_bytes` counts what the server wrote; `given_up` says that the client closed before the end of the answer.
    `etags` and `dates` are the validators that the answer carried.
    """

    behaviour: str
    host: str
    round: int
    method: str
    target: str
    fields: Fields
    connection: int
    began_s: float
    status: int = 0
    head_bytes: int = 0
    sent_bytes: int = 0
    given_up: bool = False
    ended: bool = False
    etags: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    _head: bytearray = field(default_factory=bytearray, repr=False)

    @classmethod
    def of(cls, asked: Asked, connection: int, began_s: float) -> Logged:
        """The entry of a request that was just received."""
        return cls(
            asked.behaviour, asked.host, asked.round, asked.method, asked.target, asked.fields, connection, began_s
        )

    @property
    def page(self) -> str:
        """The page that was asked for, as expectations name it."""
        return f"{self.host}:{self.target}" if self.host else self.target

    @property
    def body_bytes(self) -> int:
        """What was sent after the header section."""
        return max(0, self.sent_bytes - self.head_bytes)

    @property
    def conditional(self) -> bool:
        """Whether the request carried a condition."""
        return any(name in ("if-none-match", "if-modified-since") for name, _ in self.fields)

    def values(self, name: str) -> list[str]:
        """The values of a field's lines in the request."""
        return [value for key, value in self.fields if key == name]

    def sent(self, data: bytes) -> None:
        """Take note of bytes that go out."""
        self.sent_bytes += len(data)
        if self.head_bytes == 0:
            self._head += data[:65_536]
            self._read_head()

    def to_json(self) -> str:
        """One line for a log file."""
        names = ("behaviour", "host", "round", "method", "target", "status", "body_bytes", "conditional", "given_up")
        return json.dumps({**{name: getattr(self, name) for name in names}, "fields": dict(self.fields)})

    def _read_head(self) -> None:
        final = _FINAL.search(self._head)
        if final is None:
            return
        self.status = int(final[1])
        end = self._head.find(b"\r\n\r\n", final.start())
        if end < 0:
            return
        self.head_bytes = end + 4
        lines = [(name.lower(), value.decode("latin-1")) for name, value in _FIELD.findall(self._head[:end])]
        self.etags = tuple(value for name, value in lines if name == b"etag")
        self.dates = tuple(value for name, value in lines if name == b"last-modified")
        self._head.clear()


class AdversarialLog:
    """All requests in order of their arrival; with `file`, each is a line of JSON there once it is answered."""

    def __init__(self, file: Path | None = None) -> None:
        self._entries: list[Logged] = []
        self._lock = Lock()
        self._stream: TextIO | None = None
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._stream = file.open("a", encoding="utf-8", buffering=1)

    def append(self, entry: Logged) -> None:
        """A request has come in."""
        with self._lock:
            self._entries.append(entry)

    def ended(self, entry: Logged) -> None:
        """Its answer is over."""
        entry.ended = True
        if self._stream is not None:
            self._stream.write(entry.to_json() + "\n")

    def of(self, behaviour: str, number: int | None = None) -> tuple[Logged, ...]:
        """The requests to a behaviour, of all rounds or one."""
        return tuple(one for one in self if one.behaviour == behaviour and number in (None, one.round))

    def clear(self) -> None:
        """Forget what memory holds; the file keeps its lines."""
        with self._lock:
            self._entries.clear()

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __iter__(self) -> Iterator[Logged]:
        with self._lock:
            return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
