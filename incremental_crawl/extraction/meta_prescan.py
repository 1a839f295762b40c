"""The charset that a page declares in a `meta` element or an XML declaration, read from its first bytes.

HTML Standard, "prescan a byte stream to determine its encoding" and "get an XML encoding".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(rb"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_MENTION = re.compile(rb"charset", re.IGNORECASE)
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
_TAG = re.compile(rb"</?[a-z][^\t\n\f\r />]*", re.IGNORECASE)
_BOGUS = re.compile(rb"<[!/?][^>]*>?")
_SPACE = rb"[\t\n\f\r ]*"
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*(?P<name>=?[^\t\n\f\r />=]+)"
    rb"(?:" + _SPACE + rb"=" + _SPACE + rb"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'"
    rb"|(?P<bare>[^\t\n\f\r >\"'][^\t\n\f\r >]*)?))?"
)
_IN_CONTENT = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))", re.IGNORECASE
)


_XML = re.compile(rb"<\?xml[\t\n\r ][^>]*?encoding[\t\n\r ]*=[\t\n\r ]*(?:\"([^\">]*)\"|'([^'>]*)')")


def xml_label(head: bytes) -> str | None:
    """The label of an XML declaration that the body begins with, verbatim; None where there is none."""
    found = _XML.match(head)
    return (found[1] or found[2] or b"").decode("latin-1").strip() or None if found else None


def declared_label(head: bytes) -> str | None:
    """The first label that a `meta` outside comments declares, verbatim; None where there is none."""
    place = head.find(b"<") if _MENTION.search(head) else -1
    while place >= 0:
        place, label = _step(head, place)
        if label is not None:
            return label
        place = head.find(b"<", place)
    return None


def _step(head: bytes, place: int) -> tuple[int, str | None]:
    """The place after the markup that starts at `place`, and the label if it is a `meta` with one."""
    if head.startswith(b"<!--", place):
        comment = _COMMENT.match(head, place)
        return (comment.end() if comment else len(head)), None
    if _META.match(head, place):
        attributes, end = _attributes(head, place + 5)
        return end, _label(attributes)
    tag = _TAG.match(head, place)
    if tag:
        return _attributes(head, tag.end())[1], None
    bogus = _BOGUS.match(head, place)
    return (bogus.end() if bogus else place + 1), None


def _attributes(head: bytes, place: int) -> tuple[dict[str, bytes], int]:
    attributes: dict[str, bytes] = {}
    for found in _each_attribute(head, place):
        value = found["double"] or found["single"] or found["bare"] or b""
        attributes.setdefault(found["name"].decode("latin-1").lower(), value)
        place = found.end()
    return attributes, place


def _each_attribute(head: bytes, place: int) -> Iterator[re.Match[bytes]]:
    found = _ATTRIBUTE.match(head, place)
    while found:
        yield found
        found = _ATTRIBUTE.match(head, found.end())


def _label(attributes: dict[str, bytes]) -> str | None:
    if "charset" in attributes:
        return attributes["charset"].decode("latin-1").strip()
    if attributes.get("http-equiv", b"").lower() != b"content-type":
        return None
    found = _IN_CONTENT.search(attributes.get("content", b""))
    return next((group for group in found.groups() if group), b"").decode("latin-1").strip() if found else None
