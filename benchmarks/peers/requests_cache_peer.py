"""requests-cache: a session that keeps every answer and asks about it every time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from requests.adapters import HTTPAdapter
from requests_cache import EXPIRE_IMMEDIATELY, CachedSession  # type: ignore[import-not-found]
from urllib3.util import Retry

from benchmarks.peers.answers import CONNECT_S, READ_S, Answer, Tell, side_by_side


def visit(urls: Sequence[str], folder: Path, tell: Tell) -> None:
    """Ask for each URL through the session."""
    session = CachedSession(
        folder / "cache",
        backend="sqlite",
        # `always_revalidate`: a conditional request even where the server calls the answer fresh. What has no validator
        # is kept for no time, or it would never be asked for again.
        always_revalidate=True,
        expire_after=EXPIRE_IMMEDIATELY,
        # `cache_control` off: whoever asks once a day wants validators used under `no-store` too.
        cache_control=False,
        # `stale_if_error` off: it would hide 404 and 410 behind the old page.
        stale_if_error=False,
    )

    # requests: retries belong to the adapter; once more where the connection or the read failed.
    session.mount("http://", HTTPAdapter(max_retries=Retry(total=1, respect_retry_after_header=False)))

    def fetch(url: str) -> Answer:
        response = session.get(url, timeout=(CONNECT_S, READ_S))
        # requests: without a charset in the header, `apparent_encoding` is the guess by content.
        if "charset" not in response.headers.get("Content-Type", "").lower():
            response.encoding = response.apparent_encoding
        chain = [*response.history, response]
        hops = tuple((before.status_code, str(after.url)) for before, after in pairwise(chain))
        return Answer(response.status_code, response.text, hops)

    side_by_side(urls, fetch, tell)
