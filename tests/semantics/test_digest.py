"""Canonical JSON and digests."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.digest import canonical_json, sha256_bytes, sha256_text, well_formed

NUMBERS = (
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet="abcxyz", max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_canonical_json_is_compact_sorted_and_readable() -> None:
    record = {"title": "Café", "in_stock": True, "price": {"currency": "GBP", "amount": "12.50"}, "tags": ["a", None]}
    assert canonical_json(record) == (
        '{"in_stock":true,"price":{"amount":"12.50","currency":"GBP"},"tags":["a",null],"title":"Café"}'
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (12, "12"),
        (12.0, "12"),
        (Decimal("12.00"), "12"),
        (Decimal("12.50"), "12.5"),
        (1200, "1200"),
        (Decimal("1.2E+3"), "1200"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (Decimal("-0.00"), "0"),
        (1e-7, "0.0000001"),
        (Decimal("12345678901234567890123456789.10"), "12345678901234567890123456789.1"),
        (Decimal("-1.50E+1000000"), "-15E+999999"),
        (Decimal("1E-1000000"), "1E-1000000"),
    ],
)
def test_equal_numbers_have_one_spelling(number: int | float | Decimal, text: str) -> None:
    assert canonical_json(number) == text


def test_a_number_of_any_length_is_written() -> None:
    assert canonical_json(10**6000) == "1E+6000"


def test_equal_text_in_two_unicode_forms_is_one_text() -> None:
    assert canonical_json("cafe\u0301") == canonical_json("caf\u00e9")


def test_lone_surrogates_become_replacement_characters_and_pairs_are_joined() -> None:
    assert canonical_json("a\ud83db") == '"a\ufffdb"'
    assert canonical_json({"\ud83d\ude00": 1}) == '{"\U0001f600":1}'
    assert sha256_text("\udc00") == sha256_text("\ufffd")


def test_an_array_of_lines_equals_the_array_of_a_tuple() -> None:
    assert canonical_json(("a", "b")) == canonical_json(["a", "b"]) == '["a","b"]'


@pytest.mark.parametrize("value", [math.nan, math.inf, Decimal("NaN"), Decimal("-Infinity")])
def test_numbers_that_json_does_not_have_are_refused(value: float | Decimal) -> None:
    with pytest.raises(ValueError, match="canonical JSON"):
        canonical_json(value)


@pytest.mark.parametrize("value", [b"bytes", {1: "number as key"}, object()])
def test_types_that_json_does_not_have_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="canonical JSON"):
        canonical_json(value)


def test_keys_that_become_one_are_refused() -> None:
    with pytest.raises(ValueError, match="NFC"):
        canonical_json({"cafe\u0301": 1, "caf\u00e9": 2})


@given(VALUES)
def test_reading_canonical_json_and_writing_it_again_changes_nothing(value: object) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text, parse_float=Decimal)) == text


@given(st.dictionaries(st.text(alphabet="abcdef", min_size=1), st.integers(), min_size=2))
def test_the_order_of_keys_does_not_matter(record: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(record.items()))) == canonical_json(record)


@given(st.text())
def test_well_formed_text_encodes_and_stays(text: str) -> None:
    assert well_formed(text).encode().decode() == well_formed(text)


def test_digests_are_the_published_ones() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256_bytes(b"") == sha256_text("") == empty
    assert sha256_text("é") == sha256_bytes(b"\xc3\xa9")
