"""An answer that can be revalidated: preconditions and content-coding, as RFC 9110 asks of an origin."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

from incremental_crawl.origin.messages import HeaderLines, Reply, Request

_ENTITY_TAG = re.compile(r'(?:W/)?("[^"]*")')
_SMALLEST_TO_COMPRESS = 256


@dataclass(frozen=True, slots=True)
class Representation:
    """What a path holds at the moment: a body, its type, and the validators that are offered for it.

    `etag` is a complete entity tag with its quotes, for the body without content-coding; `last_modified` is aware.
    """

    body: bytes
    content_type: str
    etag: str | None = None
    last_modified: datetime | None = None
    headers: HeaderLines = ()
    compressible: bool = True

    @property
    def content_headers(self) -> HeaderLines:
        """The header lines that a 200 carries for its body and a 304 leaves out (RFC 9110 §15.4.5)."""
        return (("Content-Type", self.content_type),)

    @property
    def validator_headers(self) -> HeaderLines:
        """ETag and Last-Modified, as far as they are offered."""
        tag = () if self.etag is None else (("ETag", self.etag),)
        date = () if self.last_modified is None else (("Last-Modified", http_date(self.last_modified)),)
        return tag + date


def http_date(moment: datetime) -> str:
    """An aware time as an IMF-fixdate (RFC 9110 §5.6.7)."""
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def answer(request: Request, held: Representation) -> Reply:
    """The honest answer to a GET or HEAD: 304 where a precondition says so, else 200, gzipped if asked for."""
    vary: HeaderLines = (("Vary", "Accept-Encoding"),) if held.compressible else ()
    coded = _is_worth_coding(held) and accepts_gzip(request.headers.get("accept-encoding"))
    chosen = _with_coding_in_tag(held) if coded else held
    kept = (*chosen.validator_headers, *vary, *chosen.headers)
    if is_not_modified(request, chosen.etag, chosen.last_modified):
        return Reply(304, kept)
    if not coded:
        return Reply(200, (*chosen.content_headers, *kept), held.body)
    lines = (*chosen.content_headers, ("Content-Encoding", "gzip"), *kept)
    return Reply(200, lines, gzip.compress(held.body, compresslevel=5, mtime=0))


def _is_worth_coding(held: Representation) -> bool:
    return held.compressible and len(held.body) >= _SMALLEST_TO_COMPRESS


def _with_coding_in_tag(held: Representation) -> Representation:
    # A strong tag names octets, so each content-coding has its own (RFC 9110 §8.8.3.3).
    if held.etag is None or held.etag.startswith("W/"):
        return held
    return replace(held, etag=held.etag[:-1] + '-gz"')


def is_not_modified(request: Request, etag: str | None, last_modified: datetime | None) -> bool:
    """RFC 9110 §13.2.2: If-None-Match decides alone where it is present, If-Modified-Since otherwise."""
    if request.method not in {"GET", "HEAD"}:
        return False
    tags = request.headers.get("if-none-match")
    if tags is not None:
        return _matches_weakly(tags, etag)
    since = _parsed_date(request.headers.get("if-modified-since"))
    if since is None or last_modified is None:
        return False
    return last_modified.replace(microsecond=0) <= since


def _matches_weakly(field_value: str, etag: str | None) -> bool:
    if field_value.strip() == "*":
        return True
    return etag is not None and etag.removeprefix("W/") in _ENTITY_TAG.findall(field_value)


def _parsed_date(field_value: str | None) -> datetime | None:
    if field_value is None:
        return None
    try:
        moment = parsedate_to_datetime(field_value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def accepts_gzip(field_value: str | None) -> bool:
    """Whether an Accept-Encoding value allows gzip (RFC 9110 §12.5.3); no header asks for the plain body."""
    weights = dict(_coding_weight(member) for member in (field_value or "").lower().split(","))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _coding_weight(member: str) -> tuple[str, float]:
    coding, _, parameter = member.partition(";")
    name, _, weight = parameter.strip().partition("=")
    if name.strip() != "q":
        return coding.strip(), 1.0
    try:
        return coding.strip(), float(weight)
    except ValueError:
        return coding.strip(), 0.0
