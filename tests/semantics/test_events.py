"""The identity of a change event."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.events import EventKind, event_id

URL = "https://a.example/1"
CHANGED = event_id(7, "shop", URL, None, EventKind.CHANGED, "v1")
words = st.text("ab/:?", max_size=4)


def test_an_event_has_the_same_id_however_often_it_is_made_and_in_every_process() -> None:
    assert event_id(7, "shop", URL, None, "changed", "v1") == CHANGED == "0000000007-93f0bef065980731c074b722"
    assert re.fullmatch(r"\d{10}-[0-9a-f]{24}", CHANGED)


@pytest.mark.parametrize(
    "other",
    [
        event_id(8, "shop", URL, None, EventKind.CHANGED, "v1"),
        event_id(7, "other", URL, None, EventKind.CHANGED, "v1"),
        event_id(7, "shop", URL + "0", None, EventKind.CHANGED, "v1"),
        event_id(7, "shop", URL, "item", EventKind.CHANGED, "v1"),
        *(event_id(7, "shop", URL, None, kind, "v1") for kind in EventKind if kind is not EventKind.CHANGED),
    ],
)
def test_another_visit_site_page_item_or_kind_is_another_event(other: str) -> None:
    assert other != CHANGED


@pytest.mark.parametrize("kind", EventKind)
def test_only_a_correction_is_told_apart_by_its_rules(kind: EventKind) -> None:
    by_rules = {event_id(7, "shop", URL, None, kind, rules) for rules in ("v1", "v2", None)}
    assert len(by_rules) == (3 if kind is EventKind.CORRECTED else 1)


@given(st.integers(0, 9_999_999_999), st.integers(0, 9_999_999_999), words, words)
def test_ids_sort_by_visit(one: int, other: int, url: str, other_url: str) -> None:
    first = event_id(one, "shop", url, None, "new", None)
    second = event_id(other, "shop", other_url, None, "new", None)
    assert one == other or (first < second) == (one < other)


@given(words, words, words, words)
def test_parts_never_run_into_each_other(site: str, url: str, other_site: str, other_url: str) -> None:
    one = event_id(1, site, url, None, "new", None)
    assert (one == event_id(1, other_site, other_url, None, "new", None)) is ((site, url) == (other_site, other_url))


@given(st.text(st.characters()), st.text(st.characters(categories=["Cs"])))
def test_no_url_is_too_strange_to_have_an_id(url: str, surrogates: str) -> None:
    assert event_id(1, "shop", url + surrogates, surrogates, "corrected", None).startswith("0000000001-")
