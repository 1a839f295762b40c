"""Bytes to text as browsers decode them, with one fixed step instead of statistics where nothing is declared.

Order: byte order mark, charset of the Content-Type, `meta` prescan, the page's known charset, UTF-8, windows-1252
(HTML Standard, "determining the character encoding"; Encoding Standard for labels).
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import webencodings

from incremental_crawl.extraction.meta_prescan import declared_label

CharsetSource: TypeAlias = Literal["bom", "header", "meta", "known", "utf-8", "fallback"]

# Stands in for the restart of a browser's parser on a late `meta`.
_PRESCANNED = 16_384
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
_CHARSET = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^;\s\"']+))", re.IGNORECASE)
# Python's codecs of these names lack characters that pages use; the wider ones are those of the Encoding Standard.
_WIDER = {"gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text without its byte order mark, its charset, and where that was found.

    `conflict` is the charset a `meta` declares against the header that won: a sign of a misconfigured server.
    """

    text: str
    charset: str
    source: CharsetSource
    conflict: str | None = None


def decode(body: bytes, content_type: str | None, known_charset: str | None = None) -> Decoded:
    """Decodes a body; bytes that do not fit become U+FFFD, so this never fails.

    `known_charset` is what the page had before; it counts only for pages that declare none, as long as it fits, so
    that a page does not change its charset with its content.
    """
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return Decoded(_text(body[len(mark) :], charset), charset, "bom")
    in_header, in_meta = _header_charset(content_type), _meta_charset(body)
    if in_header:
        conflict = in_meta if in_meta not in (None, in_header) else None
        return Decoded(_text(body, in_header), in_header, "header", conflict)
    if in_meta:
        return Decoded(_text(body, in_meta), in_meta, "meta")
    return _undeclared(body, _name(known_charset or ""))


def _undeclared(body: bytes, known: str | None) -> Decoded:
    for charset, source in ((known, "known"), ("utf-8", "utf-8")):
        text = _clean_text(body, charset) if charset else None
        if charset and text is not None:
            return Decoded(text, charset, "known" if source == "known" else "utf-8")
    return Decoded(_text(body, "windows-1252"), "windows-1252", "fallback")


def _clean_text(body: bytes, charset: str) -> str | None:
    """The text if every byte fits; a character cut off at the very end does not count against it."""
    decoder = _codec(charset).incrementaldecoder("strict")
    try:
        return decoder.decode(body) + ("\ufffd" if decoder.getstate()[0] else "")
    except UnicodeDecodeError:
        return None


def _text(body: bytes, charset: str) -> str:
    return _codec(charset).decode(body, "replace")[0]


def _header_charset(content_type: str | None) -> str | None:
    found = _CHARSET.search(content_type or "")
    return _name(next((group for group in found.groups() if group is not None), "")) if found else None


def _meta_charset(body: bytes) -> str | None:
    label = declared_label(body[:_PRESCANNED])
    name = _name(label) if label else None
    # A page whose `meta` could be read as ASCII is not in UTF-16 (HTML Standard, prescan).
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _name(label: str) -> str | None:
    """The name of an encoding label in the Encoding Standard; None for unknown labels."""
    encoding = webencodings.lookup(label)
    return encoding.name if encoding is not None else None


def _codec(charset: str) -> codecs.CodecInfo:
    if charset in _WIDER:
        return codecs.lookup(_WIDER[charset])
    encoding = webencodings.lookup(charset)
    return encoding.codec_info if encoding is not None else codecs.lookup(charset)
