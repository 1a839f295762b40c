"""What changed between two records: field by field, and as a unified diff for people.

A record is an object of fields, or the list of a page's canonical lines, which then is one field named `text`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any, TypeAlias

from incremental_crawl.semantics.digest import canonical_json
from incremental_crawl.semantics.long_text import shortened, shortened_pair
from incremental_crawl.semantics.record_values import (
    PageLines,
    elements_of,
    is_oversized,
    lines_of,
    quantity_of,
    same_value,
    text_of,
    type_of,
)
from incremental_crawl.semantics.unified_diff import unified_diff

PAGE_TEXT = "text"
VALUE_LIMIT_CHARACTERS = 8_000
LIST_LIMIT_CHARACTERS = 16_000
ELEMENT_LIMIT_CHARACTERS = 4_000

Record: TypeAlias = Mapping[str, Any] | Sequence[str]


class ChangeKind(StrEnum):
    """What happened to one field; a field that is null counts as one that is not there."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs.

    `old` and `new` are the values as text: numbers without spare zeros, prices as `12.50 GBP`, lists as JSON; None
    where there is none, and for a page's lines. `delta` and `percent` (of the old value) are set for two numbers and
    for two prices in one currency; percent is None where the old value is zero. `added` and `removed` are the elements
    (lines) that one list has more often than the other, in order; None where the field is no list.
    """

    name: str
    kind: ChangeKind
    old: str | None
    new: str | None
    delta: float | None = None
    percent: float | None = None
    added: tuple[str, ...] | None = None
    removed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RecordDiff:
    """A unified diff (at most 64 KiB) and the fields that differ, by name; `truncated` says that something was cut."""

    diff: str
    fields: tuple[FieldChange, ...]
    truncated: bool = False


def diff_records(old: Record | None, new: Record | None, tracked: Collection[str] | None = None) -> RecordDiff:
    """What differs between two records, each as `json.loads` gives it; None where there is no record.

    Only fields in `tracked` count (None: all); a page's lines always do. Records that do not differ give an empty diff
    and no fields. Time and memory are bounded by the size of the records, whatever they hold.
    """
    before, after = _fields(old, tracked), _fields(new, tracked)
    names = [name for name in sorted({*before, *after}) if not same_value(before.get(name), after.get(name))]
    if not names:
        return RecordDiff("", ())
    changes = [_change(name, before.get(name), after.get(name)) for name in names]
    retyped = {change.name for change, _ in changes if change.kind is ChangeKind.TYPE}
    text, cut = unified_diff(_lines(before, retyped), _lines(after, retyped))
    return RecordDiff(text, tuple(change for change, _ in changes), cut or any(shorter for _, shorter in changes))


def _fields(record: Record | None, tracked: Collection[str] | None) -> dict[str, Any]:
    if record is None:
        return {}
    if not isinstance(record, Mapping):
        return {PAGE_TEXT: PageLines(record)}
    return {name: value for name, value in record.items() if value is not None and (tracked is None or name in tracked)}


def _lines(fields: Mapping[str, Any], retyped: Collection[str]) -> Sequence[str]:
    """All fields as lines, by name; where the type differs, JSON shows it."""
    page = fields.get(PAGE_TEXT)
    if isinstance(page, PageLines):
        return page.lines
    return [
        line
        for name in sorted(fields)
        for line in ([f"{name}: {canonical_json(fields[name])}"] if name in retyped else lines_of(name, fields[name]))
    ]


def _change(name: str, old: Any, new: Any) -> tuple[FieldChange, bool]:
    """The change of one field, and whether a part of it was cut."""
    old_text, new_text, cut_text = _shown(old, new)
    added, removed, cut_list = _list_changes(elements_of(old), elements_of(new))
    delta, percent = _difference(old, new)
    change = FieldChange(name, _kind(old, new), old_text, new_text, delta, percent, added, removed)
    return change, cut_text or cut_list


def _shown(old: Any, new: Any) -> tuple[str | None, str | None, bool]:
    before, after = _text(old), _text(new)
    short = shortened_pair(before or "", after or "", VALUE_LIMIT_CHARACTERS)
    cut = short != (before or "", after or "") or is_oversized(old) or is_oversized(new)
    return None if before is None else short[0], None if after is None else short[1], cut


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, PageLines) else text_of(value)


def _kind(old: Any, new: Any) -> ChangeKind:
    if old is None:
        return ChangeKind.ADDED
    if new is None:
        return ChangeKind.REMOVED
    return ChangeKind.CHANGED if type_of(old) is type_of(new) else ChangeKind.TYPE


def _difference(old: Any, new: Any) -> tuple[float | None, float | None]:
    """New minus old, and that in per cent of old."""
    before = None if old is None else quantity_of(old)
    after = None if new is None else quantity_of(new)
    if before is None or after is None or before[1] != after[1]:
        return None, None
    try:
        delta = after[0] - before[0]
        percent = delta / abs(before[0]) * 100 if before[0] else None
    except ArithmeticError:
        return None, None
    return _finite(float(delta)), None if percent is None else _finite(float(percent))


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


def _list_changes(
    before: Sequence[str] | None, after: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, bool]:
    """Added and removed elements as multisets, and whether some were cut."""
    if before is None and after is None:
        return None, None, False
    balance = Counter(after or ())
    balance.subtract(before or ())
    added, cut_added = _within_limit(_surplus(after or (), balance, 1))
    removed, cut_removed = _within_limit(_surplus(before or (), balance, -1))
    return added, removed, cut_added or cut_removed


def _surplus(elements: Sequence[str], balance: Counter[str], sign: int) -> Iterator[str]:
    """The elements of which `balance` counts more on this side, in order; it is used up."""
    for element in elements:
        if balance[element] * sign > 0:
            balance[element] -= sign
            yield element


def _within_limit(elements: Iterator[str]) -> tuple[tuple[str, ...], bool]:
    kept: list[str] = []
    left = LIST_LIMIT_CHARACTERS
    cut = False
    for element in elements:
        short = shortened(element, ELEMENT_LIMIT_CHARACTERS)
        left -= len(short) + 1
        if left < 0:
            return tuple(kept), True
        cut = cut or short is not element
        kept.append(short)
    return tuple(kept), cut
