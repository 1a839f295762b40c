"""URLs that nothing lists, links or answers are forgotten in time, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from incremental_crawl.semantics.page import PageState
from incremental_crawl.storage import growth, link_notes
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.state import State, open_state

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
AFTER = timedelta(days=90)
LONG_AGO = NOW - timedelta(days=200)
SITE = "https://shop.example"
PARENT = PageState(
    f"{SITE}/parent", "start", held=True, first_seen=LONG_AGO, last_changed=NOW - timedelta(days=10), last_checked=NOW
)
DEAD = PageState(f"{SITE}/dead", f"link:{SITE}/parent", depth=1, first_seen=LONG_AGO, failures=3, last_visit=9)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    with open_state(SiteLayout(tmp_path, "shop"), "test", NOW, 1) as opened:
        yield opened


def left(state: State, *rows: PageState) -> set[str]:
    """The paths that are still known, of `rows` and the page that links to them."""
    state.append("known_urls", list(rows))
    with state.transaction():
        growth.forget(state, NOW - AFTER)
    return {row[0].removeprefix(SITE) for row in state.rows("SELECT url FROM known_urls")}


@pytest.mark.parametrize(
    "row",
    [
        DEAD,
        replace(DEAD, failures=0, gone_since=NOW - timedelta(days=1), gone_checks=1, status=404),
        replace(DEAD, source=f"sitemap:{SITE}/sitemap.xml"),
        replace(DEAD, source=f"link:{SITE}/unknown"),
        replace(DEAD, first_seen=NOW - AFTER - timedelta(seconds=1)),
    ],
    ids=["fails", "never there", "unlisted", "its source is unknown", "just too old"],
)
def test_what_never_answered_and_nothing_names_is_forgotten(state: State, row: PageState) -> None:
    assert left(state, PARENT, row) == {"/parent"}


@pytest.mark.parametrize(
    "row",
    [
        replace(DEAD, listed=True),
        replace(DEAD, source="start"),
        replace(DEAD, source="asked"),
        replace(DEAD, first_seen=NOW - AFTER),
        replace(DEAD, failures=0, last_visit=0),
        replace(DEAD, redirect_to=f"{SITE}/parent"),
        replace(DEAD, held=True),
        replace(DEAD, held=True, gone_since=LONG_AGO, failures=0),
        replace(DEAD, held=True, redirect_to=f"{SITE}/parent", failures=0),
    ],
    ids=["listed", "start", "by hand", "to the second", "never asked", "redirect", "held", "tombstone", "moved"],
)
def test_what_is_listed_wanted_held_or_was_never_asked_is_kept(state: State, row: PageState) -> None:
    assert left(state, PARENT, row) == {"/parent", "/dead"}


def test_the_target_of_a_redirect_is_kept(state: State) -> None:
    moved = replace(PARENT, url=f"{SITE}/old", redirect_to=DEAD.url)
    assert left(state, PARENT, moved, DEAD) == {"/parent", "/old", "/dead"}


@pytest.mark.parametrize(
    ("parent", "kept"),
    [
        (replace(PARENT, last_changed=LONG_AGO), True),
        (replace(PARENT, last_changed=LONG_AGO + timedelta(seconds=1)), False),
        (replace(PARENT, last_changed=LONG_AGO, gone_since=NOW), False),
        (replace(PARENT, last_changed=LONG_AGO, redirect_to=f"{SITE}/x"), False),
        (replace(PARENT, last_changed=LONG_AGO, held=False), False),
    ],
    ids=["unchanged", "changed since", "gone", "moved", "never held"],
)
def test_a_link_counts_while_the_page_that_holds_it_is_live_and_unchanged(
    state: State, parent: PageState, kept: bool
) -> None:
    assert ("/dead" in left(state, parent, DEAD)) is kept


@pytest.mark.parametrize(("days", "kept"), [(89, True), (90, True), (91, False)])
def test_a_link_that_was_read_again_counts_from_then_on(state: State, days: int, kept: bool) -> None:
    link_notes.name_again(state, [DEAD.url], LONG_AGO)
    link_notes.name_again(state, [DEAD.url, f"{SITE}/other"], NOW - timedelta(days=days))
    assert ("/dead" in left(state, PARENT, DEAD)) is kept
    notes = state.rows("SELECT url FROM last_named ORDER BY url")
    assert notes == [(DEAD.url,)] * kept + [(f"{SITE}/other",)]


def test_forgetting_twice_changes_nothing_more(state: State) -> None:
    assert left(state, PARENT, DEAD) == left(state) == {"/parent"}
