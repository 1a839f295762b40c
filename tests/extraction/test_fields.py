"""Declared fields become typed values; a page that lacks what it must have is a fault."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from incremental_crawl.config.site import SiteConfig
from incremental_crawl.extraction.extract import Extract, Page, extract
from incremental_crawl.extraction.field_values import Surroundings, typed
from incremental_crawl.extraction.rules import HASH_SPEC, ExtractionRules

URL = "https://shop.example/product/7"
BOOK = b"""<html><head><base href="/product/"></head><body>
<h1> A  Light<br>in the Attic </h1>
<p class="price">\xc2\xa351.77</p><p class="availability instock">In stock (22 available)</p>
<img class="cover" src="../media/x.jpg?v=1#f"><ul><li class="tag">poetry</li><li class="tag">fiction</li></ul>
<time class="updated" datetime="2026-01-05T11:00:00+01:00">5 January</time>
<div class="ad">ad <b class="tag">bought</b></div>
<a class="more" href="8?utm_x=1">next</a></body></html>"""


def rules(fields: dict[str, Any], **more: Any) -> ExtractionRules:
    page_type = {"name": "product", "match": "/product/*", "fields": fields, **more}
    site = SiteConfig.model_validate(
        {"name": "shop", "start_urls": ["https://shop.example/"], "timezone": "Europe/Berlin", "extract": [page_type],
         "scope": {"strip_params": ["utm_*"]}}
    )  # fmt: skip
    return ExtractionRules.compile(site)


def extracted(fields: dict[str, Any], body: bytes = BOOK, **more: Any) -> Extract:
    return extract(Page(URL, body, "text/html; charset=utf-8"), rules(fields, **more))


def record(fields: dict[str, Any], body: bytes = BOOK, **more: Any) -> Any:
    found = extracted(fields, body, **more)
    assert found.record is not None, found.fault
    return json.loads(found.record)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("h1", "A Light in the Attic"),
        ({"css": ".price", "type": "price"}, {"amount": "51.77", "currency": "GBP"}),
        ({"css": ".price", "type": "number"}, 51.77),
        ({"css": ".availability", "type": "integer", "match": r"(\d+) available"}, 22),
        ({"css": ".availability", "match": r"\d+"}, "22"),
        ({"css": ".availability", "has_class": "instock", "type": "bool"}, True),
        ({"css": ".availability", "has_class": "sold", "type": "bool"}, False),
        ({"css": ".cover", "type": "bool"}, True),
        ({"css": ".cover", "type": "url"}, "https://shop.example/media/x.jpg?v=1"),
        ({"css": ".cover", "attr": "class"}, "cover"),
        ({"css": ".more", "type": "url"}, "https://shop.example/product/8"),
        ({"css": ".tag", "list": True}, ["poetry", "fiction", "bought"]),
        ({"css": ".tag", "list": True, "sort": True}, ["bought", "fiction", "poetry"]),
        ({"css": ".updated", "attr": "datetime", "type": "date"}, "2026-01-05T10:00:00Z"),
    ],
)
def test_fields_of_a_book(field: Any, value: Any) -> None:
    assert record({"field": field})["field"] == value


def test_a_field_that_is_not_there_is_null_a_list_empty_a_mark_false() -> None:
    fields = {"title": "h1", "none": ".x", "many": {"css": ".x", "list": True}, "mark": {"css": ".x", "type": "bool"}}
    assert record(fields) == {"title": "A Light in the Attic", "none": None, "many": [], "mark": False}


def test_ignored_elements_are_left_out_of_fields_and_lines() -> None:
    assert record({"tags": {"css": ".tag", "list": True}}, ignore=[".ad", ".ad b"])["tags"] == ["poetry", "fiction"]
    found = extracted({}, ignore=[".ad", "body .ad b"])
    assert "ad" not in found.lines
    assert "poetry" in found.lines


@pytest.mark.parametrize(
    ("field", "part"),
    [
        ({"css": ".isbn", "required": True}, "required field field: nothing matches (selector '.isbn')"),
        ({"css": "h1", "type": "price", "required": True}, "1 elements match, but none holds a price"),
        ({"css": ".x", "list": True, "required": True}, "nothing matches"),
    ],
)
def test_a_required_field_without_a_value_is_a_fault(field: Any, part: str) -> None:
    found = extracted({"title": "h1", "field": field})
    assert found.fault is not None
    assert part in found.fault
    assert found.record is None
    assert found.content_sha256 is None


def test_a_page_without_any_field_is_empty() -> None:
    assert (extracted({"a": ".x", "b": {"css": ".y", "type": "bool"}}).fault or "").startswith(
        "empty: none of the fields"
    )


def test_only_tracked_fields_are_in_the_digest() -> None:
    fields = {"title": "h1", "seen": {"css": ".updated", "track": False}}
    later = BOOK.replace(b"5 January", b"6 January")
    assert extracted(fields).content_sha256 == extracted(fields, later).content_sha256
    assert extracted(fields).record != extracted(fields, later).record
    assert extracted({"title": "h1", "seen": ".updated"}, later).content_sha256 != extracted(fields).content_sha256


def test_the_version_follows_what_decides_a_record_and_nothing_else() -> None:
    first = rules({"title": "h1"})
    version = first.extractor_version("product")
    assert rules({"title": "h1"}, match="/other/*").extractor_version("product") == version
    assert rules({"title": "h2"}).extractor_version("product") != version
    assert rules({"title": "h1"}, ignore=[".ad"]).extractor_version("product") != version
    assert first.extractor_version("page") != version
    assert "lines-1" in HASH_SPEC


def test_rules_travel_to_workers_and_choose_by_url() -> None:
    found = pickle.loads(pickle.dumps(rules({"title": "h1"})))
    assert found.page_type_for(URL) == "product"
    assert found.page_type_for("https://shop.example/") == "page"
    assert found.problems == ()


def test_selectors_that_do_not_parse_are_named() -> None:
    found = rules({"title": "div["}, ignore=["p:foo"])
    assert len(found.problems) == 2
    assert "extract.product.ignore[0]: 'p:foo'" in found.problems[0]
    assert "extract.product.fields.title.css: 'div['" in found.problems[1]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("price", "1.234,5 €", {"amount": "1234.50", "currency": "EUR"}),
        ("price", "$ 12", {"amount": "12.00", "currency": "$"}),
        ("price", "12.999 USD", {"amount": "12999.00", "currency": "USD"}),
        ("price", "on request", None),
        ("integer", "1,234", "1234"),
        ("integer", "1.5", None),
        ("integer", "1e4000", None),
        ("number", "0.00", "0.00"),
        ("number", "-3.50", "-3.50"),
        ("number", "NaN", None),
        ("number", "none", None),
        ("date", "5 January 2026", "2026-01-04T23:00:00Z"),
        ("date", "Jan 2026", "2025-12-31T23:00:00Z"),
        ("date", "Mon, 5 Jan 2026 10:00:00 GMT", "2026-01-05T10:00:00Z"),
        ("date", "Monday", None),
        ("date", "14:30", None),
        ("date", "5 January", None),
        ("date", "0001-01-01", None),
        ("url", "javascript:alert(1)", None),
        ("url", " b?x=1#y ", "https://x.example/a/b?x=1"),
        ("text", " \n ", None),
        ("bool", "no", "False"),
        ("bool", "Yes", "True"),
    ],
)
def test_texts_as_values(kind: str, text: str, value: object) -> None:
    found = typed(text, kind, Surroundings("https://x.example/a/", (), "Europe/Berlin"))
    assert (found if isinstance(found, dict) or found is None else str(found)) == value
