"""Header lines of the user's own go to the origins they are meant for, and to nobody else."""

from __future__ import annotations

import pytest

from incremental_crawl.semantics.request_headers import RequestHeaders, refusal

HEADERS = RequestHeaders(
    {"User-Agent": "x/1", "Accept": "text/html"},
    {"accept": "application/json", "Authorization": "Bearer hush"},
    frozenset({"https://shop.example", "http://shop.example:8080"}),
)


def test_own_headers_replace_common_ones_of_the_same_name() -> None:
    assert HEADERS.to("https://shop.example") == {
        "User-Agent": "x/1",
        "accept": "application/json",
        "Authorization": "Bearer hush",
    }


@pytest.mark.parametrize(
    "origin",
    ["http://shop.example", "https://shop.example:8080", "https://www.shop.example", "https://other.example", ""],
)
def test_other_origins_get_the_common_ones(origin: str) -> None:
    assert HEADERS.to(origin) == {"User-Agent": "x/1", "Accept": "text/html"}


def test_values_are_not_shown() -> None:
    assert "hush" not in repr(HEADERS)


@pytest.mark.parametrize("name", ["Accept", "Accept-Language", "Authorization", "Cookie", "X-Api-Key", "Referer"])
def test_what_may_be_set(name: str) -> None:
    assert refusal(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "CONNECTION", "content-length", "Transfer-Encoding", "If-Match", "if-range", "Range", "TE"),
        *("Accept-Encoding", "Cache-Control", "Proxy-Authorization", "User-Agent", "", "a:b", "a b", "naïve", "a\n"),
    ],
)
def test_what_may_not_be_set(name: str) -> None:
    assert refusal(name)
