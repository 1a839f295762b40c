"""What a page looks like, read from its bytes without parsing: cheap, and safe on any body.

Every pattern takes what it begins to the end of the body where it is never closed, so that the time is linear.
"""

from __future__ import annotations

import html
import re
from itertools import islice

from incremental_crawl.extraction.decoding import decode
from incremental_crawl.semantics.block_signs import Glance

LOOKED_AT = 131_072
"""So many bytes of a body are looked at."""
_KEPT_TEXT = 4_000
_HEADINGS = 4
_SOME = 300

_UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|noscript|template|svg|math|object|title)\b[^>]*(?:>|\Z).*?(?:</\1[^>]*(?:>|\Z)|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<[a-z!/?][^>]*(?:>|\Z)", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^>]*(?:>|\Z)(.*?)(?:</title|\Z)", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<h([12])\b[^>]*(?:>|\Z)(.*?)(?:</h\1|\Z)", re.IGNORECASE | re.DOTALL)
_PASSWORD = re.compile(r"<input\b[^<>]{0,400}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_REFRESH = re.compile(r"<meta\b(?=[^<>]{0,400}\bhttp-equiv\s*=\s*[\"']?refresh)[^<>]{0,800}>", re.IGNORECASE)
_REFRESH_TO = re.compile(
    r"content\s*=\s*[\"']?\s*(\d+)[.\d]*\s*(?:[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'>]*))?", re.IGNORECASE
)
_LINK = re.compile(r"<a\b[^<>]{0,2000}\bhref\b", re.IGNORECASE)
_MEDIA = re.compile(
    r"<(?:img|picture|video|audio|iframe|frame|object|embed|canvas|input|select|textarea|button)\b", re.IGNORECASE
)
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_SLOWEST_REFRESH_S = 30


def markup_of(body: bytes, content_type: str | None) -> str:
    """The beginning of a body as text."""
    return decode(body[:LOOKED_AT], content_type).text


def glance(markup: str, whole: bool = True) -> Glance:
    """What a page looks like; `whole` says whether `markup` is all of it."""
    seen = _UNSEEN.sub(" ", markup)
    text = _words(seen)
    title = _TITLE.search(markup)
    return Glance(
        title=_words(title[1])[:_SOME] if title else "",
        headings=tuple(_words(found[2])[:_SOME] for found in islice(_HEADING.finditer(seen), _HEADINGS)),
        text=text[:_KEPT_TEXT],
        length=len(text),
        password=_PASSWORD.search(seen) is not None,
        refresh=_refresh(markup),
        links=_count(_LINK, seen),
        media=_count(_MEDIA, seen),
        scripts=_count(_SCRIPT, markup),
        whole=whole,
    )


def glance_at(body: bytes, content_type: str | None) -> Glance:
    """What the page of a body looks like."""
    return glance(markup_of(body, content_type), len(body) <= LOOKED_AT)


def _refresh(markup: str) -> str | None:
    found = _REFRESH.search(markup)
    to = _REFRESH_TO.search(found[0]) if found else None
    if to is None or int(to[1][:6]) > _SLOWEST_REFRESH_S:
        return None
    return html.unescape(to[2] or "").strip()


def _words(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).replace("\0", "").split())


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in islice(pattern.finditer(text), _SOME))
