"""Bytes to text as browsers decode them, with one fixed step instead of statistics where nothing is declared.

| syntax | order |
| ------ | ----- |
| HTML   | byte order mark, Content-Type, `meta` or XML declaration, the page's known charset, UTF-8, windows-1252 |
| text   | byte order mark, Content-Type, the page's known charset, UTF-8, windows-1252 |
| XML    | byte order mark, Content-Type, XML declaration, UTF-8 (RFC 7303 §3) |
| JSON   | byte order mark or the zeros of UTF-16 and UTF-32 (RFC 4627 §3), UTF-8 (RFC 8259 §8.1), else like text |

HTML Standard, "determining the character encoding"; Encoding Standard for labels. What is tried without a declaration
counts only where every byte fits.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import webencodings

from incremental_crawl.extraction.meta_prescan import declared_label, xml_label

CharsetSource: TypeAlias = Literal["bom", "header", "meta", "xml", "zeros", "known", "utf-8", "fallback"]
Syntax: TypeAlias = Literal["html", "text", "xml", "json"]

# Stands in for the restart of a browser's parser on a late `meta`.
_PRESCANNED = 16_384
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
# Browsers know no UTF-32; JSON and XML may be in it. Its little-endian mark begins like that of UTF-16.
_WIDE_BOMS = ((codecs.BOM_UTF32_BE, "utf-32be"), (codecs.BOM_UTF32_LE, "utf-32le"))
_ZEROS = (
    (re.compile(rb"\x00\x00\x00[^\x00]"), "utf-32be"),
    (re.compile(rb"[^\x00]\x00\x00\x00"), "utf-32le"),
    (re.compile(rb"\x00[^\x00]"), "utf-16be"),
    (re.compile(rb"[^\x00]\x00"), "utf-16le"),
)
_JSON = re.compile(r"(?:application|text)/(?:[\w.-]+\+)?json")
_XML = re.compile(r"(?:application|text)/(?:[\w.-]+\+)?xml(?:-\w+)?")
_HTML = frozenset({"", "text/html", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_CHARSET = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^;\s\"']+))", re.IGNORECASE)
# Python's codecs of these names lack characters that pages use; the wider ones are those of the Encoding Standard.
_WIDER = {"gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text without its byte order mark, its charset, and where that was found.

    `conflict` is the charset that the page itself declares against the header that won: a sign of a misconfigured
    server.
    """

    text: str
    charset: str
    source: CharsetSource
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """The charset that an answer declares, where, how many bytes its mark takes, and what the page says against it."""

    charset: str
    source: CharsetSource
    mark: int = 0
    conflict: str | None = None


def decode(body: bytes, content_type: str | None, known_charset: str | None = None) -> Decoded:
    """Decodes a body; bytes that do not fit become U+FFFD, so this never fails.

    `known_charset` is what the page had before; it counts only for pages that declare none, as long as it fits, so
    that a page does not change its charset with its content.
    """
    found = declared(body, content_type)
    if found is not None:
        return Decoded(_text(body[found.mark :], found.charset), found.charset, found.source, found.conflict)
    syntax = syntax_of(content_type)
    if syntax == "xml":
        return Decoded(_text(body, "utf-8"), "utf-8", "utf-8")
    in_header = _header_charset(content_type) if syntax == "json" else None
    return _undeclared(body, None if syntax == "json" else _name(known_charset or ""), in_header)


def declared(body: bytes, content_type: str | None) -> Declared | None:
    """The charset that a body or its header declares, by the rules of its syntax; None where nothing does."""
    syntax = syntax_of(content_type)
    marked = _marked(body, syntax)
    if marked is not None:
        return marked
    if syntax == "json":
        # RFC 8259 §11: JSON has no charset parameter; a header is heard only where the bytes are no UTF-8.
        return None
    in_header, in_page = _header_charset(content_type), _declared_inside(body, syntax)
    if in_header:
        conflict = in_page.charset if in_page is not None and in_page.charset != in_header else None
        return Declared(in_header, "header", conflict=conflict)
    return in_page


def syntax_of(content_type: str | None) -> Syntax:
    """By which rules a body of that media type is decoded; what says nothing is read like a page."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type in _HTML:
        return "html"
    if _JSON.fullmatch(media_type):
        return "json"
    return "xml" if _XML.fullmatch(media_type) else "text"


def _marked(body: bytes, syntax: Syntax) -> Declared | None:
    """A byte order mark, or for JSON the zeros around its first character, which is always ASCII."""
    marks = (*_WIDE_BOMS, *_BOMS) if syntax in ("json", "xml") else _BOMS
    for mark, charset in marks:
        if body.startswith(mark):
            return Declared(charset, "bom", len(mark))
    for zeros, charset in _ZEROS if syntax == "json" else ():
        if zeros.match(body):
            return Declared(charset, "zeros")
    return None


def _declared_inside(body: bytes, syntax: Syntax) -> Declared | None:
    if syntax == "html":
        in_meta = _meta_charset(body)
        if in_meta:
            return Declared(in_meta, "meta")
    if syntax in ("html", "xml"):
        in_xml = _as_ascii(_name(xml_label(body[:_PRESCANNED]) or ""))
        return Declared(in_xml, "xml") if in_xml else None
    return None


def _undeclared(body: bytes, known: str | None, in_header: str | None) -> Decoded:
    tried: tuple[tuple[str | None, CharsetSource], ...] = ((known, "known"), ("utf-8", "utf-8"), (in_header, "header"))
    for charset, source in tried:
        text = _clean_text(body, charset) if charset else None
        if charset and text is not None:
            return Decoded(text, charset, source)
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
    name = _as_ascii(_name(label) if label else None)
    return "windows-1252" if name == "x-user-defined" else name


def _as_ascii(name: str | None) -> str | None:
    """A declaration that could be read as ASCII is not in UTF-16, whatever it says (HTML Standard, prescan)."""
    return "utf-8" if name in ("utf-16le", "utf-16be") else name


def _name(label: str) -> str | None:
    """The name of an encoding label in the Encoding Standard; None for unknown labels."""
    encoding = webencodings.lookup(label)
    return encoding.name if encoding is not None else None


def _codec(charset: str) -> codecs.CodecInfo:
    if charset in _WIDER:
        return codecs.lookup(_WIDER[charset])
    encoding = webencodings.lookup(charset)
    return encoding.codec_info if encoding is not None else codecs.lookup(charset)
