"""Building blocks of answers: pages with their marker, honest revalidation, and heads with any bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from incremental_crawl.origin.adversarial.asked import Asked
from incremental_crawl.origin.representation import http_date

Line: TypeAlias = str | bytes
"""A header line without its end: text is written as latin-1, bytes as they are."""

END = "Here the page ends."
OLD_DATE = "Mon, 05 Jan 2026 10:00:00 GMT"
NEW_DATE = "Wed, 04 Feb 2026 10:00:00 GMT"
HTML = "Content-Type: text/html; charset=utf-8"
MARKER = re.compile(r"edition:(\w*):(v[0-9]+)")

_WORDS = (
    "harbour lantern meadow copper window garden letter bridge winter basket river candle orchard thread mirror "
    "station button carpet kettle ladder needle pocket saddle timber velvet barrel anchor feather hammer island"
).split()
_REASONS = {
    200: "OK", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 404: "Not Found", 410: "Gone", 429: "Too Many Requests", 503: "Service Unavailable",
}  # fmt: skip


def slug(page: str) -> str:
    """The page's name within a marker: its path with everything but letters and digits as `_`."""
    return re.sub(r"[^A-Za-z0-9]", "_", page.partition(":")[2][1:] if not page.startswith("/") else page[1:])


def marker(page: str, version: str) -> str:
    """The word that shows which version of which page a text is."""
    return f"edition:{slug(page)}:{version}"


def html(asked: Asked, version: str | None = None, inside: str = "", page: str | None = None, head: str = "") -> str:
    """A whole page: title, the marker, `inside`, a few stable paragraphs, and the last line by which it is complete."""
    name = asked.page if page is None else page
    words = Random(f"{asked.behaviour} {name}")
    paragraphs = "".join(f"<p>{_sentence(words)} {_sentence(words)}</p>\n" for _ in range(4))
    title = f"{_WORDS[words.randrange(len(_WORDS))]} and {_WORDS[words.randrange(len(_WORDS))]}".capitalize()
    return (
        f"<!doctype html>\n<html lang=en><head>{head}<title>{title}</title></head>\n<body><main><h1>{title}</h1>\n"
        f"<p>This is {marker(name, version or asked.version)} of the page.</p>\n{inside}\n{paragraphs}<p>{END}</p>\n"
        "</main></body></html>\n"
    )


def tag_of(asked: Asked, version: str | None = None) -> str:
    """The page's strong entity tag."""
    return f'"{slug(asked.page) or "start"}-{version or asked.version}"'


def date_of(asked: Asked, version: str | None = None) -> str:
    """The page's Last-Modified: long ago, and later after the edit."""
    return OLD_DATE if (version or asked.version) == "v1" else NEW_DATE


def now(asked: Asked) -> str:
    """The origin's present moment as an HTTP date."""
    return http_date(asked.now)


def head(asked: Asked, status: int, *lines: Line, version: str = "1.1") -> bytes:
    """Status line, Date, `lines` and the empty line."""
    first = f"HTTP/{version} {status} {_REASONS.get(status, 'As It Is')}"
    return b"\r\n".join([first.encode(), b"Date: " + now(asked).encode(), *map(_bytes, lines), b"", b""])


def answer(asked: Asked, status: int, body: bytes | str = b"", *lines: Line) -> bytes:
    """A complete answer with its Content-Length, as HTML unless `lines` say otherwise."""
    content = body.encode() if isinstance(body, str) else body
    kind: tuple[Line, ...] = () if any(_bytes(one).lower().startswith(b"content-type") for one in lines) else (HTML,)
    start = head(asked, status, *kind, *lines, f"Content-Length: {len(content)}")
    return start if asked.method == "HEAD" else start + content


def ok(asked: Asked, *lines: Line, version: str | None = None) -> bytes:
    """The page as a 200."""
    return answer(asked, 200, html(asked, version), *lines)


def not_modified(asked: Asked, *lines: Line) -> bytes:
    """A 304 without a body."""
    return head(asked, 304, *lines)


def redirect(asked: Asked, status: int, location: Line | None, *lines: Line) -> bytes:
    """A redirect with a short body; `location` None leaves the line out."""
    where: Sequence[Line] = () if location is None else (b"Location: " + _bytes(location),)
    return answer(asked, status, "<p>The page is elsewhere.</p>", *where, *lines)


def not_found(asked: Asked) -> bytes:
    """A 404 in the server's own words."""
    return answer(asked, 404, "<h1>Not Found</h1><p>No such page on this server.</p>")


def revalidated(
    asked: Asked, etag: str | None = None, date: str | None = None, *lines: Line, version: str | None = None
) -> bytes:
    """The page as an honest server sends it: 304 where the condition holds (RFC 9110 §13.2.2), compared as texts."""
    own: list[Line] = [*([f"ETag: {etag}"] if etag is not None else []), *([f"Last-Modified: {date}"] if date else [])]
    if holds(asked, etag, date):
        return not_modified(asked, *own)
    return ok(asked, *own, *lines, version=version)


def holds(asked: Asked, etag: str | None, date: str | None) -> bool:
    """Whether the request's condition holds: If-None-Match alone where it is there, a list too; dates exactly."""
    if asked.tag is not None:
        return etag is not None and (asked.tag == etag or etag in [one.strip() for one in asked.tag.split(",")])
    return date is not None and asked.since == date


def honest(asked: Asked, *lines: Line, version: str | None = None) -> bytes:
    """The page with both validators, honestly revalidated."""
    return revalidated(asked, tag_of(asked, version), date_of(asked, version), *lines, version=version)


def chunked(*chunks: bytes) -> bytes:
    """A body in chunks, with the last one (RFC 9112 §7.1)."""
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _bytes(line: Line) -> bytes:
    return line if isinstance(line, bytes) else line.encode("latin-1")


def _sentence(words: Random) -> str:
    return " ".join(words.choice(_WORDS) for _ in range(12)).capitalize() + "."
