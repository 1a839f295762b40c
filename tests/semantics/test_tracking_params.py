"""Session ids and tracking parameters: what is removed from an address, and what looks alike and stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.tracking_params import NAMES, without_tracking
from incremental_crawl.semantics.urls import canonical_url

HEX = "0123456789abcdef0123456789ABCDEF"


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("http://site.example/p;jsessionid=E460A9.node_2?x=1", "http://site.example/p?x=1"),
        ("http://site.example/p;jsessionid=E460A9.node_2", "http://site.example/p"),
        ("http://site.example/p;JSESSIONID=E4!-12!99/q;v=2?x=1", "http://site.example/p/q;v=2?x=1"),
        ("http://site.example/p;jsessionid", "http://site.example/p"),
        ("http://site.example/.;jsessionid=1", "http://site.example/"),
        ("https://site.example/?PHPSESSID=abc123", "https://site.example/"),
        ("https://site.example/a?phpsessid=abc&page=2", "https://site.example/a?page=2"),
        ("https://site.example/a?page=2&utm_source=mail&utm_medium=x&sort=up", "https://site.example/a?page=2&sort=up"),
        ("https://site.example/a?UTM_Source=mail", "https://site.example/a"),
        ("https://site.example/a?utm%5Fsource=mail", "https://site.example/a"),
        ("https://site.example/a?&gclid=1&", "https://site.example/a"),
        ("https://site.example/a?q=1&fbclid=x#top", "https://site.example/a?q=1"),
        (f"https://site.example/forum?sid={HEX}&f=2", "https://site.example/forum?f=2"),
        (f"https://site.example/forum?f=2&s={HEX}", "https://site.example/forum?f=2"),
        ("https://site.example/(S(lit3py55t21z5v55vlm25s55))/orders", "https://site.example/orders"),
        ("https://site.example/(S(lit3py55t21z5v55vlm25s55))", "https://site.example/"),
        ("http://site.example/p;jsessionid=1?utm_source=a&utm_medium=b", "http://site.example/p"),
        ("http://site.example?PHPSESSID=1&PHPSESSID=2", "http://site.example/"),
        ("https://site.example/a?_ga=2.1-2.3&ASPSESSIONIDQQ=K", "https://site.example/a"),
    ],
)
def test_session_ids_and_tracking_parameters_are_removed(url: str, page: str) -> None:
    assert without_tracking(canonical_url(url)) == page


@pytest.mark.parametrize(
    "url",
    [
        "https://site.example/a?sid=12",
        "https://site.example/a?s=summer",
        "https://site.example/a?session=opening-keynote",
        "https://site.example/a?ref=home&source=list&id=7",
        "https://site.example/a?utm=32N&x=utm_source",
        "https://site.example/a?notgclid=1",
        "https://site.example/a?",
        "https://site.example/a;v=1;w=2",
        "https://site.example/p;jsession=1",
        "https://site.example/wiki/Moss_(S(x))",
        "https://site.example/rock_(S(lit3py55t21z5v55vlm25s55))",
        "https://utm_source.example/gclid",
        "https://site.example/p%3Bjsessionid=1",
        "https://site.example/a?to=%3Futm_source=x",
        "https://site.example/a?x=1;jsessionid=2",
    ],
)
def test_what_only_looks_like_one_stays(url: str) -> None:
    assert without_tracking(canonical_url(url)) == canonical_url(url)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_list_is_removed_beside_others(name: str) -> None:
    own = name.replace("*", "x")
    assert without_tracking(f"https://site.example/a?b=1&{own}=2&c=3") == "https://site.example/a?b=1&c=3"


PARTS = st.sampled_from(
    ["a", "..", ".", ";jsessionid=1", "p;jsessionid=2;v=3", "(S(lit3py55t21z5v55vlm25s55))", "%2e", "", "x=1", ";"]
)
PARAMETERS = st.sampled_from(["utm_source=1", "gclid", "a=1", "", "sid=" + HEX, "%75tm_x=1", "&", "PHPSESSID=a;b"])


@given(st.lists(PARTS, max_size=6), st.lists(PARAMETERS, max_size=5), st.booleans())
def test_removing_twice_changes_nothing_and_the_result_is_canonical(
    path: list[str], query: list[str], slash: bool
) -> None:
    url = canonical_url("http://site.example/" + "/".join(path) + "/" * slash + ("?" + "&".join(query)) * bool(query))
    once = without_tracking(url)
    assert without_tracking(once) == once
    assert canonical_url(once) == once
