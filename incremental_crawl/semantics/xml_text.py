"""XML from the field made readable: bytes to text, and the faults in that text which would end a strict parser."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html.entities import html5

from incremental_crawl.semantics.gzip_layers import peeked
from incremental_crawl.semantics.sitemap_content import UNREADABLE

_DECLARATION_BYTES = 1024
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
# Codecs that text is written in; Python has others (`zip`, `hex`) that a document must not be able to choose.
_TEXT_CODECS = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp125\d|koi8-[ru]|gb2312|gbk|gb18030|big5|shift_jis|cp932|euc_jp|euc_kr"
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)

_CDATA_START, _CDATA_END = "<![CDATA[", "]]>"
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_AMPERSAND = re.compile(r"&(?:#([0-9]{1,10});|#x([0-9A-Fa-f]{1,8});|([A-Za-z][A-Za-z0-9]{1,31});)?")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_LONGEST_REFERENCE = 40


def decoded_text(pieces: Iterator[bytes]) -> Iterator[str]:
    """The text of a document by byte order mark, XML declaration or as UTF-8; bytes that fit not become U+FFFD."""
    head, pieces = peeked(pieces, _DECLARATION_BYTES)
    decoder = codecs.getincrementaldecoder(_codec_of(head))(errors="replace")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _codec_of(head: bytes) -> str:
    for mark, codec in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return codec
    declared = _DECLARED.match(head.lstrip())
    if declared is None:
        return "utf-8"
    try:
        codec = codecs.lookup(declared[1].decode("ascii")).name
    except LookupError:
        return "utf-8"
    return codec if _TEXT_CODECS.fullmatch(codec) else "utf-8"


class XmlRepair:
    """Makes XML text parseable without changing what it says; `ampersands` counts the bare ones that were escaped.

    HTML entities become the characters they name. What cannot be known (an undefined entity, a reference to no
    character, a control character) becomes U+FFFD, so that only the entry that holds it is lost.
    """

    def __init__(self) -> None:
        self.ampersands = 0
        self._inside_cdata = False
        self._held = ""

    def part(self, text: str) -> str:
        """What follows, as far as it is certain; a reference or a marker that may go on is held back."""
        text = self._held + text
        cut = _safe_end(text)
        self._held = text[cut:]
        return self._repaired(text[:cut])

    def whole(self, text: str) -> str:
        """What follows and what was held back, up to a place that is inside no reference and no marker."""
        text, self._held = self._held + text, ""
        return self._repaired(text)

    def _repaired(self, text: str) -> str:
        return "".join(self._sections(_ILLEGAL.sub(UNREADABLE, text)))

    def _sections(self, text: str) -> Iterator[str]:
        while text:
            marker = _CDATA_END if self._inside_cdata else _CDATA_START
            section, found, text = text.partition(marker)
            yield section if self._inside_cdata else self._escaped(section)
            yield found
            if found:
                self._inside_cdata = not self._inside_cdata

    def _escaped(self, text: str) -> str:
        return _AMPERSAND.sub(self._reference, text)

    def _reference(self, match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        if name is not None:
            return _named(match[0], name)
        if decimal is None and hexadecimal is None:
            self.ampersands += 1
            return "&amp;"
        return _numbered(match[0], int(decimal) if decimal is not None else int(hexadecimal, 16))


def _named(reference: str, name: str) -> str:
    if name in _XML_ENTITIES:
        return reference
    return "".join(f"&#{ord(character)};" for character in html5.get(f"{name};", UNREADABLE))


def _numbered(reference: str, code: int) -> str:
    return UNREADABLE if code > 0x10FFFF or code == 0 or _ILLEGAL.match(chr(code)) else reference


def _safe_end(text: str) -> int:
    """Where a piece can end: before a reference or a CDATA marker that may go on in the next one."""
    tail = max(len(text) - _LONGEST_REFERENCE, 0)
    starts = (text.find(character, tail) for character in "&<]")
    return min((start for start in starts if start >= 0), default=len(text))
