"""The cookies of one fetch: what its answers set, and what its next request sends back (RFC 6265).

They live as long as the hops of one page's fetch and are never kept: another page, or the same one later, begins
without any. Domain, path, secure and expiry rules are the standard library's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

from incremental_crawl.semantics.answers import Headers

# RFC 6265 §6.1: what a client should hold at least; more than that is no gate.
_MOST_COOKIES = 50
_LONGEST_COOKIE = 4096


class FetchCookies:
    """The jar of one fetch. Moments are UTC, aware; header values are wire bytes decoded as latin-1."""

    def __init__(self) -> None:
        self._jar = _Jar()

    def take(self, url: str, headers: Headers, now: datetime) -> None:
        """Keep what the answer from `url` sets; lines that are malformed, too long or for another site are ignored."""
        lines = [value for name, value in headers if name == "set-cookie" and _usable(value)]
        if lines and len(self._jar) < _MOST_COOKIES:
            self._jar.set_moment(now)
            self._jar.extract_cookies(_Lines(lines[:_MOST_COOKIES]), _Hop(url))  # type: ignore[arg-type]

    def header(self, url: str, now: datetime) -> str | None:
        """The Cookie field value for a request to `url`, None where no cookie belongs to it."""
        if not len(self._jar):
            return None
        self._jar.set_moment(now)
        hop = _Hop(url)
        self._jar.add_cookie_header(hop)  # type: ignore[arg-type]
        return hop.cookie


def cookie_names(header: str | None) -> tuple[str, ...]:
    """The names in a Cookie field value, each once, sorted."""
    pairs = (pair.partition("=")[0].strip() for pair in (header or "").split(";"))
    return tuple(sorted({name for name in pairs if name}))


def joined(standing: str | None, own: str | None) -> str | None:
    """One Cookie field value of a standing one and that of the fetch, whose cookies win where names are the same."""
    if standing is None or own is None:
        return own if standing is None else standing
    taken = cookie_names(own)
    kept = [pair.strip() for pair in standing.split(";") if pair.partition("=")[0].strip() not in taken]
    return "; ".join([*filter(None, kept), own])


def _usable(value: str) -> bool:
    """Whether the line may be sent back without breaking a request, and is not absurdly long."""
    return len(value) <= _LONGEST_COOKIE and all(character == "\t" or character >= " " for character in value)


class _Fixed:
    """A moment that http.cookiejar's own readings of the clock do not replace."""

    _moment = 0

    @property
    def _now(self) -> int:
        return self._moment

    @_now.setter
    def _now(self, _: int) -> None:
        pass

    def set_moment(self, now: datetime) -> None:
        self._moment = int(now.timestamp())


class _Policy(_Fixed, DefaultCookiePolicy):
    """Netscape cookies as RFC 6265 describes them; no cookie for a whole top-level domain."""


class _Jar(_Fixed, CookieJar):
    def __init__(self) -> None:
        own_host = DefaultCookiePolicy.DomainStrictNonDomain
        self._rules = _Policy(strict_domain=True, rfc2965=False, strict_ns_domain=own_host)
        super().__init__(self._rules)

    def set_moment(self, now: datetime) -> None:
        super().set_moment(now)
        self._rules.set_moment(now)

    def clear_expired_cookies(self) -> None:
        for cookie in [own for own in self if own.is_expired(self._now)]:
            self.clear(cookie.domain, cookie.path, cookie.name)


class _Hop:
    """A request as http.cookiejar wants to see it: one that nobody else caused."""

    unverifiable = False

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._url, self.type, self.host = url, parts.scheme, parts.netloc
        self.origin_req_host = parts.hostname or ""
        self.cookie: str | None = None

    def get_full_url(self) -> str:
        return self._url

    def has_header(self, _: str) -> bool:
        return False

    def get_header(self, _: str, default: str | None = None) -> str | None:
        return default

    def add_unredirected_header(self, name: str, value: str) -> None:
        if name == "Cookie":
            self.cookie = value


class _Lines:
    """An answer as http.cookiejar wants to see it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def info(self) -> _Lines:
        return self

    def get_all(self, name: str, default: Any = None) -> Any:
        return list(self._lines) if name.lower() == "set-cookie" else default
