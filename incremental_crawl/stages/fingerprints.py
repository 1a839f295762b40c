"""Which request headers a page's validators belong to, by the origin that was asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from incremental_crawl.semantics.request_headers import RequestHeaders
from incremental_crawl.semantics.urls import origin_of
from incremental_crawl.semantics.validators import representation
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage.site_key import site_key
from incremental_crawl.storage.state import State


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints of the request headers in force, made with the site's own key."""

    headers: RequestHeaders
    key: bytes

    def of(self, url: str, cookie: str | None = None) -> str:
        """The fingerprint of a request to `url` (canonical) that carries the fetch's cookies `cookie`."""
        return representation(self.headers.to(_origin(url[: url.index("/", 8)])), self.key, cookie)

    @property
    def by_origin(self) -> dict[str, str]:
        """Those of requests without cookies: by origin where header lines are bound to it, of all others under ""."""
        bound = {origin: self.headers.to(origin) for origin in self.headers.origins}
        return {origin: representation(sent, self.key) for origin, sent in {"": self.headers.common, **bound}.items()}


def fingerprints(run: SiteRun, state: State) -> Fingerprints:
    """The fingerprints of this run. Not inside a transaction: the first use makes the site's key."""
    return Fingerprints(run.request_headers, site_key(state))


@lru_cache(maxsize=1024)
def _origin(prefix: str) -> str:
    return origin_of(prefix + "/")
