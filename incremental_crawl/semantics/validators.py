"""Validators: opaque strings that are stored and echoed byte for byte (RFC 9110 §8.8, §13.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from incremental_crawl.semantics.answers import Headers, first
from incremental_crawl.semantics.retry_after import http_date

WEAK_DATE_WINDOW = timedelta(seconds=60)
"""A Last-Modified this close before Date may hide a second edit (RFC 9110 §8.8.2.2)."""

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
    return Validators(sent.etag or stored.etag, sent.last_modified or stored.last_modified)


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


def representation(request_headers: Mapping[str, str]) -> str:
    """Fingerprint of the request headers that a validator belongs to, 16 hex digits (RFC 9110 §12.5, §8.8.3.3)."""
    folded = {name.lower(): value for name, value in request_headers.items()}
    lines = "\n".join(f"{name}: {folded.get(name, '')}" for name in _REPRESENTATION_HEADERS)
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()[:16]
