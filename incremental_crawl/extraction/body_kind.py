"""What a body is: HTML, plain text, or nothing that has text."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

BodyKind: TypeAlias = Literal["html", "plain", "binary"]

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_LIKE = re.compile(r"text/.+|application/(?:[\w.-]+\+)?(?:json|xml|javascript|yaml|ld\+json)|message/.+")
_UNKNOWN = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_LOOKED_AT = 1_024
_MARKUP = re.compile(
    rb"<(?:!doctype|!--|html|head|body|title|meta|script|style|div|p|h1|table|a|br|span|ul|article|main)\b|<!--",
    re.IGNORECASE,
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))


def body_kind(body: bytes, content_type: str | None) -> BodyKind:
    """The kind of a body, from its media type; from its first bytes where that says nothing."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type in _HTML:
        return "html"
    if media_type not in _UNKNOWN:
        return "plain" if _TEXT_LIKE.fullmatch(media_type) else "binary"
    head = body[:_LOOKED_AT]
    if _MARKUP.search(head):
        return "html"
    # MIME Sniffing Standard: control bytes without a byte order mark mean that this is no text.
    if not body.startswith(_BOMS) and len(head) != len(head.translate(None, _CONTROLS)):
        return "binary"
    return "plain"
