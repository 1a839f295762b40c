"""Scrapy: a spider with the HTTP cache middleware under its RFC 2616 policy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from scrapy import Request, Spider  # type: ignore[import-not-found]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]

from benchmarks.peers.answers import IN_FLIGHT, TOTAL_S, Answer, Tell, held


def visit(urls: Sequence[str], folder: Path, tell: Tell) -> None:
    """One crawl of all URLs."""
    process = CrawlerProcess(_settings(folder))
    process.crawl(_Pages, urls=urls, tell=tell)
    process.start()


def _settings(folder: Path) -> dict[str, Any]:
    return {
        # HttpCacheMiddleware: conditional requests by the RFC 2616 policy.
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
        "HTTPCACHE_DIR": str(folder / "cache"),
        # Documented for servers that forbid caching: their directives are left aside, so that validators are used.
        "HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS": ["no-store", "no-cache", "must-revalidate", "max-age"],
        # The policy honours the request's own directive: whatever is stored is validated.
        "DEFAULT_REQUEST_HEADERS": {
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Language": "en",
            "Cache-Control": "max-age=0",
        },
        # A new project's settings: robots.txt obeyed, one request at a time for a host, a delay between them. Half a
        # second without the random factor, which is enough for every Crawl-delay of the catalogue.
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0.5,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "CONCURRENT_REQUESTS": IN_FLIGHT,
        # RetryMiddleware: once more where the connection failed; a server that says that it is busy is left alone.
        "RETRY_TIMES": 1,
        "RETRY_HTTP_CODES": [],
        # Limits of a download.
        "DOWNLOAD_TIMEOUT": TOTAL_S,
        "DOWNLOAD_MAXSIZE": 5_000_000,
        "DOWNLOAD_WARNSIZE": 0,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }


class _Pages(Spider):  # type: ignore[misc]  # the package is in the peers' environment only
    name = "pages"

    def __init__(self, urls: Sequence[str], tell: Tell, **more: Any) -> None:
        super().__init__(**more)
        self._urls = urls
        self._tell = tell

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls:
            yield Request(
                url, self.parse, errback=self._failed, dont_filter=True, cb_kwargs={"asked": url}, meta={"asked": url}
            )

    def parse(self, response: Any, asked: str) -> None:
        self._settle(response, asked)

    def _failed(self, failure: Any) -> None:
        response = getattr(failure.value, "response", None)  # there where HttpErrorMiddleware refused a status
        if response is not None and hasattr(response, "meta"):
            self._settle(response, response.meta["asked"])

    def _settle(self, response: Any, asked: str) -> None:
        targets = [*response.meta.get("redirect_urls", ())[1:], response.url]
        hops = [
            (status if isinstance(status, int) else 302, target)  # a <meta> refresh is a redirect for now
            for status, target in zip(response.meta.get("redirect_reasons", ()), targets, strict=False)
        ]
        text = response.text if hasattr(response, "encoding") else response.body.decode("latin-1")
        for address, now in held(asked, Answer(response.status, text, tuple(hops))).items():
            self._tell(url=address, text=now)
