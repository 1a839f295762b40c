"""Listings that are suddenly small, by root and for the whole site: what stays listed and what does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from incremental_crawl.storage import discovery, visits
from incremental_crawl.storage.discovery import FoundBy, MergeReport, Source
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.listing_guard import shrunk
from incremental_crawl.storage.state import State, open_state
from incremental_crawl.storage.visits import DEFAULT_OPTIONS

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SITE = "https://shop.example/"
_HINTS: list[pa.Field[Any]] = [pa.field("changefreq", pa.string()), pa.field("priority", pa.float64())]
_LISTED = pa.schema([pa.field("url", pa.string()), pa.field("lastmod", pa.string()), *_HINTS])
A, B, FEED = SITE + "a.xml", SITE + "b.xml", SITE + "feed"


class Merging:
    """A state whose sources list what a test says, one visit after the other."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.now = NOON

    def visit(
        self,
        listings: Mapping[str, Sequence[str]],
        later: timedelta = timedelta(hours=12),
        roots: Mapping[str, str] | None = None,
        found_by: FoundBy = FoundBy.ROBOTS,
        scope: str = "",
    ) -> MergeReport:
        """Read `listings` (source → paths) and merge them; `roots` names the index above a source."""
        self.now += later
        visit = visits.enter(self.state, self.now.date(), self.now, DEFAULT_OPTIONS, None)
        for url, paths in listings.items():
            root = (roots or {}).get(url, url)
            kind = "feed" if url == FEED else "sitemap"
            read = Source(url, visit.visit, kind, 200, None, None, "x", len(paths), (), None, None, root, found_by)
            urls = [SITE + path for path in paths]
            listed = pa.Table.from_pylist([{"url": url} for url in urls], schema=_LISTED)
            discovery.store(self.state, read, listed, True, [])
        with self.state.transaction():
            merged = discovery.merge(
                self.state,
                visit.visit,
                self.now,
                timedelta(hours=1),
                0.2,
                10_000,
                lambda url: not scope or scope in url,
            )
        self.state.run("UPDATE visits SET status = 'closed'")
        return merged

    def listed(self) -> int:
        """How many URLs count as listed."""
        return int(self.state.value("SELECT count(*) FROM known_urls WHERE listed"))

    def gone(self, paths: Sequence[str]) -> None:
        """Let pages be gone."""
        urls = [SITE + path for path in paths]
        self.state.run("UPDATE known_urls SET gone_since = ? WHERE list_contains(?::VARCHAR[], url)", [self.now, urls])


@pytest.fixture
def merging(tmp_path: Path) -> Iterator[Merging]:
    with open_state(SiteLayout(tmp_path, "shop"), "test", NOON) as state:
        yield Merging(state)


def pages(first: int, last: int, prefix: str = "p") -> list[str]:
    return [f"{prefix}/{number}" for number in range(first, last)]


def test_a_little_less_is_believed_at_once(merging: Merging) -> None:
    merging.visit({A: pages(0, 100)})
    merged = merging.visit({A: pages(0, 80)})
    assert (merged.unlisted, merged.guarded.held, merging.listed()) == (20, (), 80)
    assert merged.guarded.unlisted == {A: 20}


def test_much_less_is_held_until_it_has_stood_for_three_visits_and_a_day(merging: Merging) -> None:
    merging.visit({A: pages(0, 100)})
    for visit in (1, 2):
        merged = merging.visit({A: pages(0, 50)})
        [held] = [each for each in merged.guarded.held if each.root == A]
        assert (held.before, held.now, held.visits) == (100, 50, visit)
        assert (merged.unlisted, merging.listed()) == (0, 100)
    merged = merging.visit({A: pages(0, 50)})
    assert merged.guarded.held == ()
    assert {each.root for each in merged.guarded.believed} == {A, "*"}
    assert (merged.unlisted, merging.listed(), shrunk(merging.state)) == (50, 50, [])
    assert merging.visit({A: pages(0, 50)}).guarded.believed == (), "it is said once"


def test_one_that_comes_back_is_forgotten_and_begins_anew(merging: Merging) -> None:
    merging.visit({A: pages(0, 100)})
    merging.visit({A: pages(0, 10)})
    merging.visit({A: pages(0, 100)})
    assert shrunk(merging.state) == []
    merging.visit({A: pages(0, 10)}, timedelta(days=3))
    assert {each.visits for each in shrunk(merging.state)} == {1}


def test_each_root_is_guarded_by_itself(merging: Merging) -> None:
    merging.visit({A: pages(0, 30, "a"), B: pages(0, 970, "b")})
    merged = merging.visit({A: pages(0, 3, "a"), B: pages(0, 900, "b")})
    assert [each.root for each in merged.guarded.held] == [A]
    assert (merged.unlisted, merging.listed()) == (70, 930)
    assert merged.guarded.unlisted == {B: 70}


def test_small_roots_that_vanish_together_are_held_for_the_whole_site(merging: Merging) -> None:
    many = {f"{SITE}{letter}.xml": pages(0, 10, letter) for letter in "cdefgh"}
    merging.visit(many)
    merged = merging.visit(dict(list(many.items())[:1]))
    assert [each.root for each in merged.guarded.held] == ["*"]
    assert (merged.unlisted, merging.listed()) == (0, 60)


def test_pages_that_move_from_one_sitemap_to_another_are_no_loss(merging: Merging) -> None:
    merging.visit({A: pages(0, 50), B: pages(50, 100)})
    merged = merging.visit({A: pages(90, 100), B: pages(0, 90)})
    assert (merged.guarded.held, merged.unlisted, merging.listed()) == ((), 0, 100)


def test_children_of_an_index_count_for_it(merging: Merging) -> None:
    children = {f"{SITE}{number}.xml": pages(100 * number, 100 * number + 100) for number in range(5)}
    roots = dict.fromkeys(children, A)
    merging.visit({A: [], **children}, roots=roots)
    fewer = {**children, f"{SITE}4.xml": pages(400, 410)}
    merged = merging.visit({A: [], **fewer}, roots=roots)
    assert (merged.guarded.held, merged.unlisted) == ((), 90)
    merged = merging.visit({A: [], f"{SITE}0.xml": pages(0, 100)}, roots=roots)
    assert {each.root for each in merged.guarded.held} == {A, "*"}
    assert merging.listed() == 410


def test_a_listing_that_only_names_other_pages_has_not_shrunk(merging: Merging) -> None:
    merging.visit({A: pages(0, 100)})
    merged = merging.visit({A: pages(90, 190)})
    assert (merged.guarded.held, merged.unlisted, merging.listed()) == ((), 90, 100)


def test_entries_of_a_feed_come_and_go(merging: Merging) -> None:
    merging.visit({FEED: pages(0, 40)}, found_by=FoundBy.SITE_FILE)
    merged = merging.visit({FEED: pages(35, 42)}, found_by=FoundBy.SITE_FILE)
    assert (merged.guarded.held, merging.listed()) == ((), 7)


def test_pages_that_are_gone_leave_without_a_word(merging: Merging) -> None:
    merging.visit({A: pages(0, 100)})
    merging.gone(pages(10, 100))
    merged = merging.visit({A: pages(0, 10)})
    assert (merged.guarded.held, merging.listed()) == ((), 10)


def test_what_is_held_ends_when_the_pages_prove_gone(merging: Merging) -> None:
    merging.visit({A: pages(0, 100)})
    assert merging.visit({A: pages(0, 10)}).guarded.held
    merging.gone(pages(15, 100))
    merged = merging.visit({A: pages(0, 10)}, timedelta(minutes=5))
    assert merged.guarded.held == ()
    assert merging.listed() == 10


def test_a_sitemap_that_robots_txt_names_no_more_is_held_and_one_of_the_site_file_is_not(merging: Merging) -> None:
    merging.visit({A: pages(0, 50), B: pages(50, 100)})
    assert {each.root for each in merging.visit({B: pages(50, 100)}).guarded.held} == {A, "*"}
    merging.visit({A: pages(0, 50), B: pages(50, 100)}, found_by=FoundBy.SITE_FILE)
    merged = merging.visit({B: pages(50, 100)}, found_by=FoundBy.SITE_FILE)
    assert (merged.guarded.held, merging.listed()) == ((), 50)


def test_pages_that_a_new_scope_leaves_out_are_no_loss(merging: Merging) -> None:
    merging.visit({A: [*pages(0, 50, "in"), *pages(0, 50, "out")]})
    merged = merging.visit({A: pages(0, 45, "in")}, scope="/in/")
    assert (merged.guarded.held, merging.listed()) == ((), 45)
