"""Differences between records: field changes and unified diffs."""

from __future__ import annotations

import random
import time
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.line_alignment import changed_blocks
from incremental_crawl.semantics.record_diff import ChangeKind, FieldChange, RecordDiff, diff_records
from incremental_crawl.semantics.unified_diff import DIFF_LIMIT_BYTES, unified_diff

FEW_LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)
WORDS = st.text(alphabet="ab. !é", max_size=12)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), WORDS, st.lists(WORDS, max_size=4))
RECORDS = st.dictionaries(st.sampled_from(["name", "size", "tags"]), VALUES)


def price(amount: str, currency: str = "GBP") -> dict[str, str]:
    return {"amount": amount, "currency": currency}


def only_change(old: Any, new: Any) -> FieldChange:
    (change,) = diff_records({"field": old}, {"field": new}).fields
    return change


def test_a_changed_price_is_a_diff_that_a_person_can_read() -> None:
    old = {"title": "A Book", "price": price("12.50"), "upc": "x1"}
    new = {"title": "A Book", "price": price("10.00"), "upc": "x1"}
    assert diff_records(old, new) == RecordDiff(
        "--- old\n+++ new\n@@ -1,2 +1,2 @@\n-price: 12.50 GBP\n+price: 10.00 GBP\n title: A Book\n",
        (FieldChange("price", ChangeKind.CHANGED, "12.50 GBP", "10.00 GBP", -2.5, -20.0),),
    )


@pytest.mark.parametrize(
    ("old", "new", "delta", "percent"),
    [
        (10, 12, 2.0, 20.0),
        (Decimal("0.1"), Decimal("0.3"), 0.2, 200.0),
        (0.1, 0.3, 0.2, 200.0),
        (0, 5, 5.0, None),
        (-10, -5, 5.0, 50.0),
        (price("0.00"), price("5"), 5.0, None),
        (price("10"), price("12", "EUR"), None, None),
        (price("about 10"), price("12"), None, None),
        (price("NaN"), price("12"), None, None),
        (Decimal("1E+999999"), Decimal("-9E+999999"), None, None),
        ("10", "12", None, None),
        (True, False, None, None),
        ("10", 12, None, None),
    ],
)
def test_numbers_and_prices_have_a_difference(old: Any, new: Any, delta: float | None, percent: float | None) -> None:
    change = only_change(old, new)
    assert (change.delta, change.percent) == (delta, percent)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (None, "a", ChangeKind.ADDED),
        ("a", None, ChangeKind.REMOVED),
        ("a", "b", ChangeKind.CHANGED),
        ("1", 1, ChangeKind.TYPE),
        (True, 1, ChangeKind.TYPE),
        (["a"], "a", ChangeKind.TYPE),
        (price("1"), "1 GBP", ChangeKind.TYPE),
    ],
)
def test_the_kind_says_what_happened(old: Any, new: Any, kind: ChangeKind) -> None:
    assert only_change(old, new).kind is kind
    assert diff_records({"field": old}, {"field": new}).diff


@pytest.mark.parametrize(
    ("old", "new"),
    [(12, 12.0), (Decimal("12.50"), 12.5), ([], []), (price("1"), price("1")), (None, None)],
)
def test_equal_values_are_no_change(old: Any, new: Any) -> None:
    assert diff_records({"field": old}, {"field": new}) == RecordDiff("", ())


def test_a_null_field_counts_as_absent() -> None:
    assert diff_records({"a": None}, {}) == RecordDiff("", ())


def test_lists_say_what_came_and_went_as_multisets() -> None:
    change = only_change(["a", "b", "b", "c"], ["c", "b", "d", "d"])
    assert (change.added, change.removed) == (("d", "d"), ("a", "b"))
    assert (change.old, change.new) == ('["a","b","b","c"]', '["c","b","d","d"]')


def test_a_list_in_another_order_is_a_change_without_elements() -> None:
    change = only_change(["a", "b"], ["b", "a"])
    assert (change.kind, change.added, change.removed) == (ChangeKind.CHANGED, (), ())


def test_only_tracked_fields_appear() -> None:
    diff = diff_records({"a": 1, "seen": "1"}, {"a": 2, "seen": "2"}, tracked={"a"})
    assert [change.name for change in diff.fields] == ["a"]
    assert "seen" not in diff.diff
    assert diff_records({"seen": "1"}, {"seen": "2"}, tracked=()) == RecordDiff("", ())


def test_a_long_text_is_compared_by_sentence() -> None:
    old, new = "One. Two! Three? Four. Five.", "One. Two! Third? Four. Five."
    assert diff_records({"d": old}, {"d": new}).diff == (
        "--- old\n+++ new\n@@ -2,3 +2,3 @@\n d: Two!\n-d: Three?\n+d: Third?\n d: Four.\n"
    )


def test_the_lines_of_a_page_are_one_field_named_text() -> None:
    diff = diff_records(["a", "b", "c", "d"], ["a", "b", "x", "d"], tracked=())
    assert diff == RecordDiff(
        "--- old\n+++ new\n@@ -2,3 +2,3 @@\n b\n-c\n+x\n d\n",
        (FieldChange("text", ChangeKind.CHANGED, None, None, added=("x",), removed=("c",)),),
    )


def test_a_first_record_is_all_added_and_a_last_one_all_removed() -> None:
    assert diff_records(None, ["a"]).diff == "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n"
    assert diff_records(["a"], None).diff == "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n"
    assert [change.kind for change in diff_records(None, {"a": 1, "b": 2}).fields] == [ChangeKind.ADDED] * 2
    assert diff_records(None, None) == RecordDiff("", ())


def test_a_page_that_got_declared_fields_shows_both() -> None:
    diff = diff_records(["a"], {"text": "b", "title": "c"})
    assert [(change.name, change.kind) for change in diff.fields] == [("text", "type"), ("title", "added")]
    assert "-a\n" in diff.diff
    assert "+title: c\n" in diff.diff


def test_line_breaks_and_lone_surrogates_cannot_break_the_format() -> None:
    diff = diff_records(["a"], ["b\n+c\u2028d\ud83d"])
    assert diff.diff.splitlines() == ["--- old", "+++ new", "@@ -1 +1 @@", "-a", "+b\\n+c\\u2028d\ufffd"]


def test_changes_apart_are_separate_hunks_and_near_ones_are_joined() -> None:
    old = [str(number) for number in range(20)]
    text, cut = unified_diff(old, ["x", *old[1:3], "y", *old[4:15], "z", *old[16:]])
    assert not cut
    assert [line for line in text.splitlines() if line.startswith("@@")] == ["@@ -1,5 +1,5 @@", "@@ -15,3 +15,3 @@"]


def test_a_difference_deep_in_a_long_line_is_in_view() -> None:
    old, new = "x" * 50_000 + " before " + "y" * 50_000, "x" * 50_000 + " after " + "y" * 50_000
    diff = diff_records({"d": old}, {"d": new})
    assert diff.truncated
    assert " before " in diff.diff
    assert " after " in diff.diff
    (change,) = diff.fields
    assert change.old is not None
    assert " before " in change.old
    assert len(change.old) < 10_000


def test_a_diff_beyond_the_limit_shows_both_sides_and_says_what_is_missing() -> None:
    old, new = [f"old line {number}" for number in range(10_000)], [f"new line {number}" for number in range(9_000)]
    diff = diff_records(old, new)
    assert diff.truncated
    assert len(diff.diff.encode()) <= DIFF_LIMIT_BYTES
    lines = diff.diff.splitlines()
    removed, added = (sum(line.startswith(mark) for line in lines[2:]) for mark in "-+")
    assert removed > 1_000
    assert added > 1_000
    assert lines[-2:] == [
        f"\\ and {10_000 - removed} more lines removed, {9_000 - added} more lines added",
        "\\ cut here: 10000 lines before, 9000 lines after",
    ]


@given(RECORDS, RECORDS)
def test_applying_the_changes_to_the_old_record_gives_the_new_one(old: dict[str, Any], new: dict[str, Any]) -> None:
    values = texts(old)
    for change in diff_records(old, new).fields:
        assert values.pop(change.name, None) == change.old
        if change.new is not None:
            values[change.name] = change.new
    assert values == texts(new)


@given(RECORDS, RECORDS)
def test_there_is_a_diff_exactly_when_a_field_differs(old: dict[str, Any], new: dict[str, Any]) -> None:
    diff = diff_records(old, new)
    assert bool(diff.diff) is bool(diff.fields)
    assert diff_records(old, old) == RecordDiff("", ())


@given(RECORDS, RECORDS)
def test_list_elements_balance(old: dict[str, Any], new: dict[str, Any]) -> None:
    for change in diff_records(old, new).fields:
        before, after = old.get(change.name), new.get(change.name)
        if isinstance(before, list) and isinstance(after, list):
            assert change.added is not None
            assert change.removed is not None
            assert Counter(before) - Counter(change.removed) + Counter(change.added) == Counter(after)


@given(FEW_LINES, FEW_LINES)
def test_a_diff_applied_to_the_old_lines_gives_the_new_ones(old: list[str], new: list[str]) -> None:
    text, cut = unified_diff(old, new)
    assert not cut
    assert patched(old, text) == new


@given(FEW_LINES, FEW_LINES)
def test_an_alignment_keeps_as_many_lines_as_can_be_kept(old: list[str], new: list[str]) -> None:
    kept = len(old) - sum(block.old_end - block.old_start for block in changed_blocks(old, new))
    assert kept == longest_common(old, new)


@given(FEW_LINES, FEW_LINES)
def test_a_diff_backwards_changes_as_many_lines(old: list[str], new: list[str]) -> None:
    there, back = changed_blocks(old, new), changed_blocks(new, old)
    assert sum(b.old_end - b.old_start for b in there) == sum(b.new_end - b.new_start for b in back)


def five_megabytes(kind: str, seed: int) -> Any:
    chance = random.Random(seed)
    match kind:
        case "one line":
            return {"t": "x" * 2_500_000 + str(seed) + "x" * 2_500_000}
        case "sentences":
            return {"t": "".join(chance.choices(["! ", "? "], k=2_500_000))}
        case "line breaks":
            return {"t": "\n" * 5_000_000 + str(seed)}
        case "two kinds of lines":
            return chance.choices(["a", "b"], k=2_500_000)
        case "all lines differ":
            return [f"{number:x}{seed}" for number in range(700_000)]
        case "every second line differs":
            return [f"{number:x}{seed if number % 2 else ''}" for number in range(180_000)]
        case _:
            return {"t": chance.choices(["a", "b"], k=2_500_000)}


@pytest.mark.parametrize(
    "kind",
    [
        "one line",
        "sentences",
        "line breaks",
        "two kinds of lines",
        "all lines differ",
        "every second line differs",
        "list",
    ],
)
def test_large_records_are_compared_in_bounded_time_and_space(kind: str) -> None:
    old, new = five_megabytes(kind, 1), five_megabytes(kind, 2)
    started = time.perf_counter()
    diff = diff_records(old, new)
    assert time.perf_counter() - started < 4
    assert diff.fields
    assert len(diff.diff.encode()) <= DIFF_LIMIT_BYTES
    assert (
        sum(len(text) for change in diff.fields for text in (*(change.added or ()), *(change.removed or ()))) < 40_000
    )


def test_lines_on_which_recursive_matching_takes_minutes_are_aligned_at_once() -> None:
    old = ["x"] * 2_000
    new = [line for number in range(1_000) for line in ("x", f"y{number}")]
    started = time.perf_counter()
    text, cut = unified_diff(old, new)
    assert time.perf_counter() - started < 2
    assert not cut
    assert patched(old, text) == new


def texts(record: dict[str, Any]) -> dict[str, str | None]:
    """The fields that a record has, as text: as the changes from no record show them."""
    return {change.name: change.new for change in diff_records(None, record).fields}


def patched(old: list[str], diff: str) -> list[str]:
    """`old` with a unified diff applied, checking context and removed lines."""
    new: list[str] = []
    at = 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            first, _, length = line.split()[1].removeprefix("-").partition(",")
            start = int(first) - (0 if length == "0" else 1)
            new += old[at:start]
            at = start
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            new += [line[1:]] if line[0] == " " else []
    return new + old[at:]


def longest_common(old: list[str], new: list[str]) -> int:
    """The length of the longest common subsequence, by its definition."""
    lengths = [0] * (len(new) + 1)
    for line in old:
        before = lengths.copy()
        for at, other in enumerate(new, start=1):
            lengths[at] = before[at - 1] + 1 if line == other else max(before[at], lengths[at - 1])
    return lengths[-1]
