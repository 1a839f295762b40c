"""Traps are told by the address alone, and honest sites are let through."""

from __future__ import annotations

from datetime import date
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.traps import Combinations, Trap, sentence, stem_of, trap_of

TODAY = date(2026, 5, 1)
HOST = "shop.example"
SITE = f"https://{HOST}"


def trap(path: str, source: str = "/") -> Trap | None:
    return trap_of(SITE + path, SITE + source, TODAY)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b/a/b/a/b/", Trap.REPEATING_PATH),
        ("/x/a/b/a/b/a/b", Trap.REPEATING_PATH),
        ("/style/style/style", Trap.REPEATING_PATH),
        ("/en/about/x/about/y/about/z/about/", Trap.REPEATING_PATH),
        ("/" + "/".join(f"s{n}" for n in range(21)), Trap.REPEATING_PATH),
        ("/a/1/a/1/a/1/", Trap.REPEATING_PATH),
        ("/q?s=" + "x" * 2_048, Trap.LONG_URL),
        ("/list?a=1&a=1&a=1", Trap.REPEATED_PARAMETERS),
        ("/p;v=1;v=1;v=1", Trap.REPEATED_PARAMETERS),
        ("/calendar/2028/06", Trap.CALENDAR),
        ("/calendar/2031-05-12/", Trap.CALENDAR),
        ("/calendar/20310512", Trap.CALENDAR),
        ("/events?date=2030-01-01", Trap.CALENDAR),
        ("/list?tribe-bar-date=2030-01", Trap.CALENDAR),
        ("/?m=203001", Trap.CALENDAR),
        ("/plan?year=2031&month=5", Trap.CALENDAR),
        ("/plan?cal_month=5&cal_year=2031", Trap.CALENDAR),
        ("/agenda/1969/12", Trap.CALENDAR),
        ("/calendar?year=1890&month=1", Trap.CALENDAR),
    ],
)
def test_a_trap_shows_in_the_address(path: str, expected: Trap) -> None:
    assert trap(path) is expected


def test_a_calendar_without_a_name_is_known_by_the_page_that_links_to_the_next_month() -> None:
    assert trap("/rooms/2028/06", "/rooms/2028/05") is Trap.CALENDAR
    assert trap("/rooms/2028/05", "/rooms/2028/04") is None
    assert trap("/rooms/2028/06", "/rooms") is None


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/2026/05/01/an-article",
        "/2011/11/11/11",
        "/11/11/11",
        "/archive/1923/05/02/front-page",
        "/paper?date=1851-09-18",
        "/calendar/2028/05",
        "/events?date=2028-05-31",
        "/products/2050/12",
        "/item?id=203105",
        "/item?id=20310512&page=2",
        "/cars?year=1965&make=ford",
        "/cars?year=2031",
        "/film?y=2001&m=space",
        "/docs/v1/api/v1/users",
        "/news/news/2026",
        "/list?tag=a&tag=b&tag=c",
        "/page/1/page/2/page/3",
        "/a/b/a/b/",
    ],
)
def test_an_honest_address_is_no_trap(path: str) -> None:
    assert trap(path) is None


@given(st.integers(1851, 2028), st.integers(1, 12), st.integers(1, 28), st.sampled_from(["/", "/news/", "/archiv/"]))
def test_an_archive_by_year_month_and_day_is_no_trap(year: int, month: int, day: int, folder: str) -> None:
    source = f"{folder}{year}/{month:02}/{day:02}"
    for path in (f"{folder}{year}/{month}", source, f"{source}/title", f"{folder}?paged=2&date={year}-{month:02}"):
        if (year, month) <= (2028, 5):
            assert trap(path, source) is None


@given(st.integers(1, 900), st.sampled_from(["/list?page={}", "/list?cat=7&page={}", "/list/page/{}", "/p/{}/p"]))
def test_hundreds_of_pages_of_a_list_are_no_trap(number: int, form: str) -> None:
    assert trap(form.format(number + 1), form.format(number)) is None


def followed(urls: list[str], no_effect: frozenset[tuple[str, str]] = frozenset()) -> tuple[list[str], list[Trap]]:
    """What of `urls` is taken, in their order, and why the rest is not."""
    combinations, taken, traps = Combinations(no_effect), [], []
    for url in urls:
        combinations.load(HOST, stem_of(url), [])
        found = combinations.trap(HOST, url)
        if found is None:
            combinations.add(HOST, url)
            taken.append(url)
        else:
            traps.append(found)
    return taken, traps


def filters(count: int, values: int) -> list[str]:
    """Every choice of `values` (or none) in `count` filters."""
    choices = product(*([None, *range(values)] for _ in range(count)))
    queries = ("&".join(f"f{at}={value}" for at, value in enumerate(choice) if value is not None) for choice in choices)
    return [f"{SITE}/list?{query}" for query in queries if query]


def test_a_shop_with_three_filters_is_followed_whole() -> None:
    urls = filters(3, 10)
    assert followed(urls) == (urls, [])


def test_filters_without_end_are_stopped() -> None:
    urls = filters(6, 4)
    taken, traps = followed(urls)
    assert len(urls) > 15_000
    assert set(traps) == {Trap.COMBINATIONS}
    assert len(taken) < 2_500


def test_articles_behind_one_address_are_followed_however_many_they_are() -> None:
    urls = [f"{SITE}/index.php?option=com_content&view=article&id={number}&Itemid=7" for number in range(5_000)]
    assert followed(urls) == (urls, [])


def test_parameters_in_another_order_are_the_same_page() -> None:
    urls = [f"{SITE}/list?" + "&".join(order) for order in permutations(["a=1", "b=2", "c=3"])]
    assert followed(urls) == (urls[:1], [Trap.SAME_PARAMETERS] * 5)


def test_a_parameter_that_never_changed_a_page_makes_no_second_one() -> None:
    known = frozenset({(HOST, "token")})
    urls = [f"{SITE}/a?token={number}" for number in range(3)] + [f"{SITE}/a?token=9&page=2"]
    assert followed(urls, known) == ([urls[0], urls[3]], [Trap.NO_EFFECT] * 2)
    assert followed(urls) == (urls, [])


def test_only_addresses_that_can_be_combined_are_looked_up() -> None:
    combinations = Combinations(frozenset({(HOST, "token")}))
    assert [combinations.concerns(HOST, SITE + path) for path in ("/a", "/a?id=1", "/a?token=1", "/a?b=1&c=2")] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("kind", Trap)
def test_the_sentence_says_how_many_shows_one_and_says_what_to_do(kind: Trap) -> None:
    text = sentence(kind, 12, SITE + "/a/b/a/b/a/b")
    assert text.startswith("12 links were not followed because they ")
    assert SITE + "/a/b/a/b/a/b" in text
    assert "scope." in text
