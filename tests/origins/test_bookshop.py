"""The demo bookshop: its world moves by steps and only forward, and its server is honest about what has not changed."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import urllib.request
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.origin.bookshop import Bookshop, Event, EventKind, StepFile, World
from incremental_crawl.origin.bookshop.shop import TEXT_PAGES
from tests.origins.client import Client, Seen

EACH_STEP = Counter(
    {
        EventKind.PRICE: 6,
        EventKind.DESCRIPTION: 1,
        EventKind.STOCK: 3,
        EventKind.RENAMED: 1,
        EventKind.VANISHED: 1,
        EventKind.WITHDRAWN: 1,
        EventKind.RETURNED: 1,
        EventKind.ARRIVED: 1,
    }
)


class Demo:
    """An open shop, a client in it, and the step that a test moves."""

    def __init__(self) -> None:
        self.step = 0
        self.shop = Bookshop(lambda: self.step, port=0).start()
        self.client = Client(self.shop.port)

    def get(self, path: str, **headers: str) -> Seen:
        """One request."""
        return self.client.get(path, **headers)

    def listed(self) -> set[str]:
        """The paths of all books in the gzipped sitemap."""
        text = gzip.decompress(self.get("/sitemap-books.xml.gz").body).decode()
        return {loc.removeprefix(self.shop.base_url) for loc in re.findall("<loc>(.*?)</loc>", text)}


@pytest.fixture
def demo() -> Iterator[Demo]:
    """A shop at step 0 on a free port."""
    demo = Demo()
    yield demo
    demo.client.close()
    demo.shop.stop()


def only(step: int, kind: EventKind) -> Event:
    """The one event of a kind at a step."""
    (event,) = [event for event in World.at(step).events if event.kind is kind]
    return event


# The world


def test_the_shop_opens_with_two_hundred_books_twenty_on_each_shelf() -> None:
    world = World.at(0)
    assert len(world.live) == 200
    assert set(Counter(state.category for state in world.live).values()) == {20}
    assert len({state.facts.title for state in world.live}) == 200


def test_the_first_step_changes_everything_but_has_no_comeback_yet() -> None:
    kinds = Counter(event.kind for event in World.at(1).events)
    assert kinds == EACH_STEP - Counter([EventKind.RETURNED])


@given(st.integers(min_value=2, max_value=400))
@settings(max_examples=25, deadline=None)
def test_every_later_step_is_as_lively_and_touches_no_book_twice(step: int) -> None:
    world = World.at(step)
    assert Counter(event.kind for event in world.events) == EACH_STEP
    assert len({event.number for event in world.events}) == sum(EACH_STEP.values())
    assert len(world.live) == 199
    assert min(Counter(state.category for state in world.live).values()) >= 19


@given(st.integers(min_value=1, max_value=120))
@settings(max_examples=25, deadline=None)
def test_what_an_event_says_is_what_differs_between_two_steps(step: int) -> None:
    before, after = World.at(step - 1), World.at(step)
    touched = {event.number for event in after.events}
    assert {number for number in after.books if after.books[number] != before.books.get(number)} == touched
    for event in after.events:
        if event.kind is EventKind.PRICE:
            assert before.books[event.number].price != after.books[event.number].price
        if event.kind is EventKind.STOCK:
            assert before.books[event.number].stock != after.books[event.number].stock


@given(st.integers(min_value=2, max_value=120))
@settings(max_examples=25, deadline=None)
def test_the_book_that_vanished_a_step_ago_is_the_one_that_comes_back(step: int) -> None:
    assert only(step, EventKind.RETURNED).path == only(step - 1, EventKind.VANISHED).path


def test_prices_stay_near_the_list_price_after_hundreds_of_steps() -> None:
    for state in World.at(400).live:
        assert 0.7 < state.price / state.facts.list_price < 1.2


def test_addresses_are_never_shared_nor_reused_over_hundreds_of_steps() -> None:
    world = World.at(400)
    every = [path for state in world.books.values() for path in (state.path, *state.former_paths)]
    assert len(every) == len(set(every))
    assert len(world.books) == 600


def test_the_calendar_is_long_past_even_after_thousands_of_steps() -> None:
    assert World.at(400).at_moment == datetime(2019, 1, 7, 6, tzinfo=UTC) + 400 * timedelta(hours=6)


def test_there_is_no_step_before_the_opening() -> None:
    with pytest.raises(ValueError, match="no step -1"):
        World.at(-1)


# The step file


def test_a_step_file_begins_at_0_and_only_moves_forward(tmp_path: Path) -> None:
    file = StepFile.under(tmp_path)
    assert (file.read(), file.advance(), file.advance(), file.read()) == (0, 1, 2, 2)
    assert file.path == tmp_path / "demo" / "step"
    assert [path.name for path in file.path.parent.iterdir()] == ["step"]
    with pytest.raises(ValueError, match="never goes back"):
        file.advance(-1)


def test_a_step_file_that_holds_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "step").write_text("three")
    with pytest.raises(ValueError, match=r"step: 'three' is not a step"):
        StepFile(tmp_path / "step").read()


# The server


def test_every_listed_page_is_there_and_revalidates_to_304_without_a_body(demo: Demo) -> None:
    for path in [*demo.listed(), "/", "/category/poetry", *TEXT_PAGES, "/feed.atom", "/robots.txt", "/sitemap.xml"]:
        seen = demo.get(path, Accept_Encoding="gzip")
        assert seen.status == 200, path
        again = demo.get(path, Accept_Encoding="gzip", If_None_Match=seen.etag)
        assert (again.status, again.body, again.etag) == (304, b"", seen.etag), path
        dated = demo.get(path, If_Modified_Since=seen.headers["Last-Modified"])
        assert (dated.status, dated.body) == (304, b""), path
    requests = list(demo.shop.log)
    assert sum(request.body_bytes for request in requests if request.status == 304) == 0
    assert all(request.conditional for request in requests if request.status == 304)


def test_dates_are_much_older_than_a_minute(demo: Demo) -> None:
    demo.step = 300
    for path in ("/", World.at(300).live[-1].path, "/sitemap.xml"):
        seen = demo.get(path)
        sent_at = parsedate_to_datetime(seen.headers["Date"])
        assert sent_at - parsedate_to_datetime(seen.headers["Last-Modified"]) > timedelta(days=365)


@pytest.mark.parametrize("path", ["/", "/category/poetry", "/about", World.at(0).live[0].path])
def test_every_load_of_a_page_differs_although_its_tag_does_not(demo: Demo, path: str) -> None:
    loads = [demo.get(path) for _ in range(4)]
    assert len({load.body for load in loads}) == 4
    assert len({load.etag for load in loads}) == 1
    for noise in (r'nonce="(\w+)"', r'name="csrf" value="(\w+)"', r"generated in ([\d.]+)", r"\?_=(\w+)", r"\?v=(\w+)"):
        assert len({tuple(re.findall(noise, load.text)) for load in loads}) > 1, noise
    assert len({load.text.partition("Other readers opened")[2].partition("</ul>")[0] for load in loads}) == 4


def test_no_hole_is_left_unfilled(demo: Demo) -> None:
    for path in ("/", "/category/history", "/basket", "/nowhere", World.at(0).live[3].path):
        assert "\0" not in demo.get(path).text


@pytest.mark.parametrize("step", [1, 2, 57])
def test_a_step_changes_the_tags_and_dates_of_what_it_touched_and_of_nothing_else(demo: Demo, step: int) -> None:
    demo.step = step - 1
    paths = [*demo.listed(), *(f"/category/{name}" for name in ("fiction", "poetry", "history", "children"))]
    before = {path: demo.get(path) for path in paths}
    demo.step = step
    after = {path: demo.get(path, If_None_Match=before[path].etag) for path in paths}
    events = World.at(step).events
    touched = {event.old_path for event in events}
    relisted = {event.category for event in events if event.kind not in {EventKind.STOCK, EventKind.DESCRIPTION}}
    for path in paths:
        category = path.removeprefix("/category/").capitalize()
        assert (after[path].status == 304) is (path not in touched and category not in relisted), path
        if after[path].status == 200:
            assert after[path].headers["Last-Modified"] != before[path].headers["Last-Modified"]


def test_the_price_of_a_book_and_of_its_shelf_move_together(demo: Demo) -> None:
    event = only_first(World.at(1).events, EventKind.PRICE)
    shelf = f"/category/{event.category.lower()}"
    before = (price_of(demo, event.path), demo.get(shelf).text)
    demo.step = 1
    after = (price_of(demo, event.path), demo.get(shelf).text)
    assert before[0] != after[0]
    assert before[0] in before[1]
    assert after[0] in after[1]


def only_first(events: tuple[Event, ...], kind: EventKind) -> Event:
    """The first event of a kind."""
    return next(event for event in events if event.kind is kind)


def price_of(demo: Demo, path: str) -> str:
    """The price that the page of a book shows."""
    (price,) = re.findall(r'class="price"[^>]*>(£[\d.]+)<', demo.get(path).text)
    return str(price)


def test_a_book_vanishes_with_404_comes_back_and_the_sitemap_says_so(demo: Demo) -> None:
    path = only(1, EventKind.VANISHED).path
    there = demo.get(path)
    seen = []
    for demo.step in (0, 1, 2):
        seen.append((demo.get(path).status, path in demo.listed()))
    assert seen == [(200, True), (404, False), (200, True)]
    assert demo.get(path).headers["Last-Modified"] != there.headers["Last-Modified"]


def test_a_withdrawn_book_answers_410_for_ever(demo: Demo) -> None:
    path = only(1, EventKind.WITHDRAWN).path
    for demo.step in (1, 2, 40, 400):
        seen = demo.get(path, If_None_Match="*")
        assert (seen.status, path in demo.listed()) == (410, False)
        assert "ETag" not in seen.headers


def test_a_renamed_book_redirects_for_good_to_the_same_book(demo: Demo) -> None:
    event = only(1, EventKind.RENAMED)
    old = demo.get(event.old_path)
    demo.step = 1
    moved = demo.get(event.old_path)
    assert (moved.status, moved.headers["Location"]) == (301, demo.shop.base_url + event.path)
    new = demo.get(event.path)
    assert new.status == 200
    assert re.findall('class="sku">(.*?)<', new.text) == re.findall('class="sku">(.*?)<', old.text)
    assert event.old_path not in demo.listed()
    assert event.path in demo.listed()


def test_a_new_book_appears_in_sitemap_feed_shelf_and_front_page(demo: Demo) -> None:
    event = only(1, EventKind.ARRIVED)
    assert demo.get(event.path).status == 404
    demo.step = 1
    assert demo.get(event.path).status == 200
    assert event.path in demo.listed()
    for page in ("/feed.atom", f"/category/{event.category.lower()}", "/"):
        assert event.path in demo.get(page).text


def test_robots_leads_to_an_index_of_a_plain_and_a_gzipped_sitemap(demo: Demo) -> None:
    base = demo.shop.base_url
    assert f"Sitemap: {base}/sitemap.xml" in demo.get("/robots.txt").text
    index = ET.fromstring(demo.get("/sitemap.xml").text)
    assert [loc.text for loc in index.findall(".//{*}loc")] == [
        f"{base}/sitemap-pages.xml",
        f"{base}/sitemap-books.xml.gz",
    ]
    pages = ET.fromstring(demo.get("/sitemap-pages.xml").text)
    assert len(pages.findall(".//{*}loc")) == 1 + 10 + len(TEXT_PAGES)
    zipped = demo.get("/sitemap-books.xml.gz", Accept_Encoding="gzip")
    assert zipped.body[:2] == b"\x1f\x8b"
    assert "Content-Encoding" not in zipped.headers
    feed = ET.fromstring(demo.get("/feed.atom").text)
    assert len(feed.findall("{*}entry")) == 20


def test_covers_and_the_basket_are_there_for_people(demo: Demo) -> None:
    cover = demo.get("/covers/BK-10007.svg")
    assert (cover.status, cover.headers["Content-Type"]) == (200, "image/svg+xml")
    assert ET.fromstring(cover.text).tag.endswith("svg")
    assert demo.get("/covers/BK-99999.svg").status == 404
    assert demo.get("/basket").status == 200
    posted = demo.client.get("/basket", method="POST")
    assert (posted.status, posted.headers["Location"]) == (303, "/basket")
    assert demo.client.get("/", method="DELETE").status == 405


def test_head_has_the_headers_of_get_and_no_body(demo: Demo) -> None:
    path = World.at(0).live[5].path
    got, head = demo.get(path), demo.client.get(path, method="HEAD")
    assert (head.status, head.body, head.etag) == (200, b"", got.etag)


def test_the_shop_can_be_served_alone_at_its_own_step(tmp_path: Path) -> None:
    StepFile(tmp_path / "step").advance(3)
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, "-m", "incremental_crawl.origin.bookshop", "--port", "0", "--log", str(log)]
    with subprocess.Popen([*command, "--state", str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        base = re.findall(r"http://127\.0\.0\.1:\d+", line)[0]
        with urllib.request.urlopen(base + only(3, EventKind.ARRIVED).path, timeout=10) as response:
            assert response.status == 200
        process.terminate()
        assert process.wait(timeout=10) == 0
    assert "(step 3)" in line
    assert json.loads(log.read_text())["status"] == 200
