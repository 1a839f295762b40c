"""The values of a record: what type they have, when they are equal, and how a person reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from incremental_crawl.semantics.digest import canonical_json, number_text, well_formed

_SENTENCE_END = re.compile(r"(?<=[.!?]\s)|(?<=[\n\u3002\uff01\uff1f])")

# A list with more elements, or a text with more sentences, is shown in part.
PART_LIMIT = 20_000


class ValueType(StrEnum):
    """The types that a change can be between."""

    TEXT = "text"
    NUMBER = "number"
    BOOL = "bool"
    PRICE = "price"
    LIST = "list"
    OBJECT = "object"
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class PageLines:
    """The canonical lines of a page without declared fields."""

    lines: Sequence[str]


def type_of(value: Any) -> ValueType:
    """The type of a value that is not None."""
    match value:
        case str():
            return ValueType.TEXT
        case bool():
            return ValueType.BOOL
        case int() | float() | Decimal():
            return ValueType.NUMBER
        case PageLines():
            return ValueType.PAGE
        case Mapping():
            return ValueType.PRICE if value.keys() == {"amount", "currency"} else ValueType.OBJECT
        case _:
            return ValueType.LIST


def same_value(old: Any, new: Any) -> bool:
    """Whether two values, None for no value, are equal: 12 and 12.0 are, true and 1 are not."""
    if old is None or new is None:
        return old is new
    kind = type_of(old)
    if kind is not type_of(new):
        return False
    return number_text(old) == number_text(new) if kind is ValueType.NUMBER else bool(old == new)


def text_of(value: Any) -> str:
    """A value in one text: a price as `12.50 GBP`, lists and objects as canonical JSON."""
    match type_of(value):
        case ValueType.TEXT:
            return well_formed(value)
        case ValueType.PRICE:
            return well_formed(" ".join(str(part) for part in (value["amount"], value["currency"]) if part is not None))
        case ValueType.LIST:
            return canonical_json(value[:PART_LIMIT])
        case _:
            return canonical_json(value)


def lines_of(name: str, value: Any) -> list[str]:
    """A value as lines of a diff, each with the name before it: one an element of a list, one a sentence of a text."""
    return [f"{name}: {part}" for part in _parts(value)]


def elements_of(value: Any) -> Sequence[str] | None:
    """The elements of a list, or the lines of a page, each as text; None where the value is neither."""
    if isinstance(value, PageLines):
        return value.lines
    if value is None or type_of(value) is not ValueType.LIST:
        return None
    return [each if isinstance(each, str) else _element(each) for each in value]


def is_oversized(value: Any) -> bool:
    """Whether a list is shown only in part."""
    return isinstance(value, list | tuple) and len(value) > PART_LIMIT


def quantity_of(value: Any) -> tuple[Decimal, str | None] | None:
    """The number in a value and its currency, None for a plain number's; None where the value is no quantity."""
    kind = type_of(value)
    if kind is ValueType.NUMBER:
        return Decimal(number_text(value)), None
    if kind is not ValueType.PRICE:
        return None
    try:
        amount = Decimal(str(value["amount"]))
    except InvalidOperation:
        return None
    return (amount, str(value["currency"])) if amount.is_finite() else None


def _parts(value: Any) -> list[str]:
    kind = type_of(value)
    if kind is ValueType.LIST and value:
        return [_element(each) for each in value[:PART_LIMIT]]
    if kind is ValueType.TEXT:
        return _sentences(value)
    return [text_of(value)]


def _sentences(text: str) -> list[str]:
    """Nothing but the one space between two sentences is lost, so that different texts have different lines."""
    *parts, last = [part for part in _SENTENCE_END.split(text, PART_LIMIT) if part] or [""]
    return [*(part.removesuffix(" ") for part in parts), last]


def _element(value: Any) -> str:
    return "null" if value is None else text_of(value)
