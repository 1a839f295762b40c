"""The plainest client there is, for looking at an origin without the product."""

from __future__ import annotations

import gzip
import http.client
from dataclasses import dataclass, field
from email.message import Message
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer as it came: `body` as sent, `text` with gzip removed."""

    status: int
    headers: Message
    body: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The body as UTF-8, its content-coding removed."""
        coded = self.headers.get("Content-Encoding") == "gzip"
        return (gzip.decompress(self.body) if coded else self.body).decode()

    @property
    def etag(self) -> str:
        """The entity tag; KeyError where there is none."""
        return str(self.headers["ETag"])


class Client:
    """One keep-alive connection to 127.0.0.1."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def get(self, path: str, method: str = "GET", **headers: str) -> Seen:
        """One request; header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request(method, path, headers=named)
        response = self._connection.getresponse()
        return Seen(response.status, response.headers, response.read())

    def close(self) -> None:
        """Close the connection; a later request opens another."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
