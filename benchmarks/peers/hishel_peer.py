"""hishel: its cache client for httpx, as a private cache that follows RFC 9111 and revalidates always."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import charset_normalizer
import httpx
from hishel import CacheOptions, SqliteStorage  # type: ignore[import-not-found]
from hishel.httpx import CacheClient, CacheTransport  # type: ignore[import-not-found]

from benchmarks.peers.answers import CONNECT_S, READ_S, Answer, Tell, side_by_side


def _detected(content: bytes) -> str:
    return str(charset_normalizer.detect(content)["encoding"] or "utf-8")


def visit(urls: Sequence[str], folder: Path, tell: Tell) -> None:
    """Ask for each URL through the cache."""
    transport = CacheTransport(
        # httpx: retries belong to the transport; once more where no connection could be made.
        # Its pool's limits: no connection is kept, so none is used that the server has given up meanwhile.
        httpx.HTTPTransport(retries=1, limits=httpx.Limits(max_keepalive_connections=0)),
        # Documented for a cache of one user; nothing stale without a question to the server.
        rfc=CacheOptions(shared=False, allow_stale=False),
        storage=SqliteStorage(database_path=folder / "cache.db"),
    )
    client = CacheClient(
        transport=transport,
        # RFC 9111 §5.2.1.4, which hishel honours: nothing stored is used without validation.
        headers={"Cache-Control": "no-cache"},
        # httpx: redirects are followed only where asked for.
        follow_redirects=True,
        # httpx: without a charset in the header, a detector's guess by content.
        default_encoding=_detected,
        timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
    )

    def fetch(url: str) -> Answer:
        response = client.get(url)
        chain = [*response.history, response]
        hops = tuple((before.status_code, str(after.request.url)) for before, after in pairwise(chain))
        return Answer(response.status_code, response.text, hops)

    with client:
        side_by_side(urls, fetch, tell)
