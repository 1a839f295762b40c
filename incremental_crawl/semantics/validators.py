"""Validators: opaque strings that are stored and echoed byte for byte (RFC 9110 §8.8, §13.1)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from incremental_crawl.semantics.answers import Headers, first
from incremental_crawl.semantics.cookies import cookie_names
from incremental_crawl.semantics.retry_after import http_date

WEAK_DATE_WINDOW = timedelta(seconds=60)
"""A Last-Modified this close before Date may hide a second edit (RFC 9110 §8.8.2.2)."""

_CODING_SUFFIX = re.compile(r'[-;.](?:gzip|gz|br|zstd|deflate|df)"$')
_REPRESENTATION_HEADERS = ("accept", "accept-encoding", "accept-language", "user-agent")


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of one URL, both from the same response; None where the server sent none."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        """Whether a conditional request can be made at all."""
        return self.etag is not None or self.last_modified is not None


def from_response(headers: Headers) -> Validators:
    """The validators of a 200, verbatim; the first line where a field is repeated, an empty value as none."""
    return Validators(first(headers, "etag") or None, first(headers, "last-modified") or None)


def merge_not_modified(stored: Validators, headers: Headers) -> Validators:
    """Adopt what a 304 carries and keep what it omits (RFC 9111 §4.3.4, RFC 9110 §15.4.5)."""
    sent = from_response(headers)
    tag = stored.etag if _names_other_coding(stored.etag, sent.etag) else sent.etag
    return Validators(tag or stored.etag, sent.last_modified or stored.last_modified)


def without_coding(etag: str) -> str:
    """The entity tag without the suffix that names a content coding; the tag itself where it has none."""
    return _CODING_SUFFIX.sub('"', etag)


def _names_other_coding(stored: str | None, sent: str | None) -> bool:
    """A 304 whose tag lacks the stored one's coding suffix names the page without its coding: not what is held."""
    if stored is None or sent is None or weakly_equal(stored, sent):
        return False
    return weakly_equal(without_coding(stored), sent)


def weakly_equal(one: str, other: str) -> bool:
    """Weak comparison of two entity tags (RFC 9110 §8.8.3.2): W/ is ignored, nothing else is."""
    return one.removeprefix("W/") == other.removeprefix("W/")


def has_weak_date(headers: Headers) -> bool:
    """Whether Last-Modified lies 0 to 60 s before Date, so that the same second may still bring an edit.

    An unreadable or later Last-Modified is a plain token and not weak; without a Date nothing can be said.
    """
    modified = http_date(first(headers, "last-modified"))
    sent = http_date(first(headers, "date"))
    if modified is None or sent is None:
        return False
    return timedelta(0) <= sent - modified <= WEAK_DATE_WINDOW


def repeated(headers: Headers) -> tuple[str, ...]:
    """A sentence for each validator that came in several lines: only one may (RFC 9110 §5.3); the first counts."""
    counts = {name: sum(1 for own, _ in headers if own == name) for name in ("etag", "last-modified")}
    return tuple(f"{number} lines of {name}; the first counts" for name, number in counts.items() if number > 1)


def representation(request_headers: Mapping[str, str], key: bytes, cookie: str | None = None) -> str:
    """Fingerprint of the request headers that a validator belongs to (RFC 9110 §12.5, §8.8.3.3).

    16 hex digits over all of `request_headers`, hashed with the site's `key`, so that nobody can guess a token from
    it. `cookie` is what a fetch sent back of the cookies that it was given: their names follow as `+` and 8 digits,
    their values change from fetch to fetch.
    """
    folded = {name.lower(): value for name, value in request_headers.items()}
    lines = {name: folded.get(name, "") for name in (*_REPRESENTATION_HEADERS, *folded)}
    base = _keyed(key, "\n".join(f"{name}: {value}" for name, value in sorted(lines.items())), 16)
    names = cookie_names(cookie)
    return f"{base}+{_keyed(key, ' '.join(names), 8)}" if names else base


def without_cookies(fingerprint: str | None) -> str | None:
    """The part of a fingerprint that is about the headers alone: a record is compared with one that has the same."""
    return None if fingerprint is None else fingerprint.partition("+")[0]


def _keyed(key: bytes, text: str, digits: int) -> str:
    return hmac.new(key, text.encode("utf-8"), hashlib.sha256).hexdigest()[:digits]
