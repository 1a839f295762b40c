"""Declared fields: from a parsed page to a record of typed values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from incremental_crawl.extraction.field_values import Scalar, Surroundings, typed
from incremental_crawl.extraction.rules import FieldRule
from incremental_crawl.semantics.digest import canonical_json

Value: TypeAlias = Scalar | list[Scalar] | None

_ADDRESS_OF = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "source": "src",
    "video": "src",
    "iframe": "src",
}
_UNSEEN = "script, style, noscript, template"
_BREAKS = frozenset("br p div li tr td th h1 h2 h3 h4 h5 h6 dt dd ul ol table section article".split())


@dataclass(frozen=True, slots=True)
class Record:
    """The values of all fields by name, and the fault that makes the record unusable, if any."""

    values: dict[str, Value]
    fault: str | None = None


def read_record(tree: LexborHTMLParser, fields: Sequence[FieldRule], around: Surroundings) -> Record:
    """Reads every field; a fault is a required field without a value, or a page without any value at all."""
    values = {field.name: _value(tree, field, around) for field in fields}
    for field in fields:
        if field.required and values[field.name] in (None, []):
            return Record(values, _missing(tree, field))
    if all(_is_void(values[field.name], field) for field in fields):
        return Record(values, f"empty: none of the fields was found ({', '.join(values)}); check their selectors")
    return Record(values)


def _is_void(value: Value, field: FieldRule) -> bool:
    return value is None or value == [] or (value is False and _is_presence(field))


def _missing(tree: LexborHTMLParser, field: FieldRule) -> str:
    found = len(_nodes(tree, field.css))
    reason = f"{found} elements match, but none holds a {field.type}" if found else "nothing matches"
    return f"required field {field.name}: {reason} (selector {field.css!r})"


def _value(tree: LexborHTMLParser, field: FieldRule, around: Surroundings) -> Value:
    nodes = _nodes(tree, field.css)
    if field.many:
        found = [value for value in (_of_node(node, field, around) for node in nodes) if value is not None]
        return sorted(found, key=canonical_json) if field.sort else found
    for node in nodes:
        value = _of_node(node, field, around)
        if value is not None:
            return value
    return False if _is_presence(field) and not field.required else None


def _is_presence(field: FieldRule) -> bool:
    """Whether the field asks if the element is there at all."""
    return field.type == "bool" and field.has_class is None and field.attr is None and field.match is None


def _nodes(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    try:
        return tree.css(selector)
    except (SelectolaxError, ValueError):
        return []


def _of_node(node: LexborNode, field: FieldRule, around: Surroundings) -> Scalar | None:
    if field.has_class is not None:
        return field.has_class in (node.attributes.get("class") or "").split()
    source = _source(node, field)
    if source is not None and field.match is not None:
        source = _matched(source, field.match)
    if source is None:
        return None
    if not source.strip() and _is_presence(field):
        return True
    return typed(source, field.type, around)


def _source(node: LexborNode, field: FieldRule) -> str | None:
    attributes = node.attributes
    if field.attr is not None:
        return (attributes[field.attr] or "") if field.attr in attributes else None
    if field.type == "url" and node.tag in _ADDRESS_OF:
        return attributes.get(_ADDRESS_OF[node.tag])
    return visible_text(node)


def _matched(text: str, pattern: str) -> str | None:
    found = re.search(pattern, text)
    if found is None:
        return None
    return found.group(1) if found.re.groups else found.group()


def visible_text(node: LexborNode) -> str:
    """The text of an element, white space collapsed; blocks and line breaks part words."""
    unseen = {inner.mem_id for inner in node.css(_UNSEEN)}
    parts: list[str] = []
    for inner in node.traverse(include_text=True):
        if inner.is_text_node:
            parent = inner.parent
            if parent is None or parent.mem_id not in unseen:
                parts.append(inner.text_content or "")
        elif inner.tag in _BREAKS:
            parts.append(" ")
    return " ".join("".join(parts).split())
