"""Canonical URLs against the URL standard's own test data, and what is meant to differ from it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.semantics.urls import InvalidUrl, canonical_url, host_of, origin_of

STANDARD = Path(__file__).parents[3] / "shared" / "data" / "wpt_urltestdata.json"

DEVIATIONS = {
    "no fragment": "a fragment is never sent: with and without it the page is the same",
    "escapes in upper case": "%c3 and %C3 are the same octet (RFC 3986 §6.2.2.1), two keys would be two pages",
    "other schemes refused": "only http and https can be crawled",
}

# In the form of the standard's data: `href` is what a browser makes of the input, `failure` that it is no URL.
ROWS: list[dict[str, Any]] = [
    {
        "input": "HTTPS://Shop.Example:443/a/./b/../c",
        "base": None,
        "href": "https://shop.example/a/c",
        "host": "shop.example",
    },
    {
        "input": "http://shop.example:8080",
        "base": None,
        "href": "http://shop.example:8080/",
        "host": "shop.example:8080",
    },
    {
        "input": "//cdn.example/x y",
        "base": "https://shop.example/",
        "href": "https://cdn.example/x%20y",
        "host": "cdn.example",
    },
    {
        "input": "b?q='1'#top",
        "base": "http://shop.example/a/",
        "href": "http://shop.example/a/b?q=%271%27#top",
        "host": "shop.example",
    },
    {"input": "\thttp:\\\\shop.example\\a\n", "base": None, "href": "http://shop.example/a", "host": "shop.example"},
    {
        "input": "/%c3%a9%2e%2E/é",
        "base": "http://shop.example",
        "href": "http://shop.example/%c3%a9%2e%2E/%C3%A9",
        "host": "shop.example",
    },
    {"input": "http://0x7F.1/", "base": None, "href": "http://127.0.0.1/", "host": "127.0.0.1"},
    {"input": "http://[2001:DB8:0::1]/", "base": None, "href": "http://[2001:db8::1]/", "host": "[2001:db8::1]"},
    {
        "input": "http://mañana.example/",
        "base": None,
        "href": "http://xn--maana-pta.example/",
        "host": "xn--maana-pta.example",
    },
    {"input": "http://u:p@shop.example/", "base": None, "href": "http://u:p@shop.example/", "host": "shop.example"},
    {"input": "mailto:a@shop.example", "base": "http://shop.example/", "href": "mailto:a@shop.example"},
    {"input": "data:text/plain,x", "base": None, "href": "data:text/plain,x"},
    {"input": "http://shop.example:99999/", "base": None, "failure": True},
    {"input": "http://exa mple/", "base": None, "failure": True},
    {"input": "http://[::1", "base": None, "failure": True},
    {"input": "https://%00/", "base": None, "failure": True},
    {"input": "relative", "base": "mailto:a@shop.example", "failure": True},
]


def deviation(row: dict[str, Any]) -> str | None:
    """In what the canonical URL of a row differs from the standard's; AssertionError where that is not meant."""
    try:
        canonical = canonical_url(row["input"], row["base"])
    except InvalidUrl:
        assert not row.get("href", "").startswith(("http://", "https://")), row
        return "other schemes refused" if "href" in row else None
    href: str = row["href"]
    assert (host_of(canonical), canonical_url(canonical)) == (row["host"], canonical)
    assert origin_of(canonical) == row.get("origin", origin_of(canonical))
    if canonical == href:
        return None
    kept = href.partition("#")[0]
    if canonical == kept:
        return "no fragment"
    assert canonical == re.sub("%[0-9A-Fa-f]{2}", lambda escape: escape[0].upper(), kept), row
    return "escapes in upper case"


def test_the_standard_is_followed_but_for_what_is_listed() -> None:
    assert {deviation(row) for row in ROWS} == {None, *DEVIATIONS}


def test_all_of_the_standards_own_cases() -> None:
    if not STANDARD.exists():
        pytest.skip("needs ../shared/data/wpt_urltestdata.json")
    rows = [row for row in json.loads(STANDARD.read_text(encoding="utf-8")) if isinstance(row, dict)]
    followed = [row for row in rows if row.get("href", "").startswith(("http://", "https://"))]
    assert len(rows) > 800
    assert len(followed) > 200
    assert {deviation(row) for row in rows} == {None, *DEVIATIONS}
