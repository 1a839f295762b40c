"""The public HTTP cache test-suite against the rules: which validators are stored, and how a 304 is merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from incremental_crawl.semantics.lifecycle import Moment, not_modified
from incremental_crawl.semantics.validators import Validators, from_response, merge_not_modified
from tests.markdown import ROOT, tables
from tests.semantics.cache_suite import CASES, DIFFERS, IN_SUBSTANCE, PASSES, Case, lines
from tests.semantics.page_rows import CADENCE, row

PAGE = (ROOT / "docs" / "cache-tests.md").read_text(encoding="utf-8")
AT = Moment(7, datetime(2026, 11, 2, tzinfo=UTC).date(), datetime(2026, 11, 2, tzinfo=UTC))
CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def current(case: Case) -> Validators:
    """The validators that the suite expects after the 304."""
    return Validators(case.merged.get("ETag"), case.merged.get("Last-Modified"))


@CASE
def test_the_validators_of_a_304_are_merged_as_the_suite_expects(case: Case) -> None:
    stored = from_response(lines(case.stored))
    assert stored == Validators(case.stored.get("ETag"), case.stored.get("Last-Modified"))
    assert merge_not_modified(stored, lines(case.not_modified)) == current(case)


@CASE
def test_a_304_touches_nothing_of_a_page_but_validators_and_times(case: Case) -> None:
    held = replace(row(3), etag=case.stored.get("ETag"), last_modified=case.stored.get("Last-Modified"))
    after = not_modified(held, lines(case.not_modified), False, AT, CADENCE)
    assert after.validators == current(case)
    moved = {name for name in held.__slots__ if getattr(held, name) != getattr(after, name)}
    assert moved <= {
        *("etag", "last_modified", "last_checked", "last_visit", "next_due", "failures", "priority"),
        *("unpaired_change", "checked_lastmod", "lastmod_moved"),
    }


def test_the_cases_are_the_thirty_five_about_what_a_store_sends_and_merges() -> None:
    assert Counter(case.suite for case in CASES) == {
        "conditional-inm": 7,
        "conditional-lm": 1,
        "update304": 21,
        "cc-response": 4,
        "cc-request": 2,
    }
    assert len({case.id for case in CASES}) == 35
    assert [case.id for case in CASES if case.browser_only] == ["cc-resp-immutable-stale"]


def test_the_page_names_every_case_with_its_result_and_a_reason_where_it_does_not_pass() -> None:
    told = [(row[0].strip("`"), row[1], row[2], row[3]) for row in tables(PAGE)["test"]]
    assert told == [(case.id, case.question, case.result, case.why) for case in CASES]
    assert all(bool(case.why) == (case.result != PASSES) for case in CASES)


def test_the_page_counts_as_the_table_does() -> None:
    counts = Counter(case.result for case in CASES if not case.browser_only)
    told = {row[0]: int(row[1]) for row in tables(PAGE)["result"]}
    assert told == {PASSES: counts[PASSES], IN_SUBSTANCE: counts[IN_SUBSTANCE], DIFFERS: counts[DIFFERS]}
    assert counts.total() == 34
