"""Canonical JSON and SHA-256: equal data gives equal text, and equal text gives equal digests."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal

_quoted = json.JSONEncoder(ensure_ascii=False).encode
_lines = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

# Beyond this many places a plain number would be mostly zeros, so that it keeps its exponent.
_PLAIN_PLACES = 40


def sha256_bytes(data: bytes) -> str:
    """The SHA-256 of `data` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """The SHA-256 of `text` in UTF-8 as 64 lower-case hex digits; lone surrogates count as U+FFFD."""
    return sha256_bytes(well_formed(text).encode())


def well_formed(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, so that it encodes as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def canonical_json(value: object) -> str:
    """One text for one value: keys sorted, no spaces, strings in NFC and well formed, numbers without spare zeros.

    Takes None, bool, int, float, Decimal, str, mappings with string keys, lists and tuples. 12, 12.0 and
    Decimal("12.00") are all written `12`. Raises TypeError for any other type, ValueError for NaN and infinities.
    """
    if isinstance(value, str):
        return _quoted(_canonical_text(value))
    if value is None or isinstance(value, bool):
        return _quoted(value)
    if isinstance(value, int | float | Decimal):
        return number_text(value)
    if isinstance(value, Mapping):
        return _canonical_object(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        if all(type(item) is str for item in value):  # the lines of a page: written in one go
            return _lines(list(map(_canonical_text, value)))
        return "[" + ",".join(map(canonical_json, value)) + "]"
    raise TypeError(f"canonical JSON cannot hold a {type(value).__name__}; convert it to text or a number first")


def number_text(number: int | float | Decimal) -> str:
    """A JSON number without spare zeros: `12.5`, `0`, `-3`, `1E+60`. Raises ValueError for NaN and infinities."""
    exact = number if isinstance(number, Decimal) else Decimal(repr(number) if isinstance(number, float) else number)
    if not exact.is_finite():
        raise ValueError(f"canonical JSON has no {number}; store None instead")
    if not exact:
        return "0"
    if -_PLAIN_PLACES <= exact.adjusted() <= _PLAIN_PLACES:
        plain = format(exact, "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return _scientific(exact)


def _scientific(number: Decimal) -> str:
    sign, digits, exponent = number.as_tuple()
    figures = "".join(map(str, digits)).lstrip("0")
    significant = figures.rstrip("0")
    power = int(exponent) + len(figures) - len(significant)
    return f"{'-' if sign else ''}{significant}E{power:+d}"


def _canonical_text(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", well_formed(text))


def _canonical_object(members: Mapping[object, object]) -> str:
    named = {_canonical_key(key): item for key, item in members.items()}
    if len(named) != len(members):
        raise ValueError("two keys of an object are the same text in Unicode NFC; rename one of them")
    return "{" + ",".join(f"{_quoted(key)}:{canonical_json(named[key])}" for key in sorted(named)) + "}"


def _canonical_key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"canonical JSON needs text as a key, not {type(key).__name__}")
    return _canonical_text(key)
