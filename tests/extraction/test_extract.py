"""A page becomes an extract: digests, metadata, links, and a sentence where there is nothing to extract."""

from __future__ import annotations

import json
import pickle

import pytest

from incremental_crawl.extraction.extract import LARGEST_BODY, Extract, Page, extract
from incremental_crawl.extraction.links import NO_LINKS
from incremental_crawl.extraction.rules import ExtractionRules
from incremental_crawl.semantics.digest import canonical_json, sha256_bytes, sha256_text

URL = "https://site.example/docs/page"
RULES = ExtractionRules()
HEAD = (
    "<title> The\n page </title><meta name=Description content='about it'><meta property=og:type content=article>"
    '<link rel="canonical" href="../docs/page?x#y">'
)


def extracted(html: str | bytes, content_type: str | None = "text/html; charset=utf-8", links: bool = False) -> Extract:
    body = html if isinstance(html, bytes) else html.encode()
    return extract(Page(URL, body, content_type), RULES, want_links=links)


def test_a_page_without_rules_is_its_lines() -> None:
    found = extracted('<h1>cafe\u0301 \u2028 "x"</h1><p>two</p>')
    assert found.record is not None
    assert json.loads(found.record) == list(found.lines) == ['café "x"', "two"]
    assert found.record == canonical_json(found.lines)
    assert found.content_sha256 == sha256_text(found.record)
    assert len(found.paths) == 2
    assert (found.page_type, found.extractor_version) == ("page", RULES.extractor_version("page"))
    assert pickle.loads(pickle.dumps(found)) == found


def test_three_digests_are_of_three_things() -> None:
    one, other = extracted(f"{HEAD}<p>x"), extracted(f"{HEAD}<p>x<!-- web 2 -->")
    assert one.body_sha256 == sha256_bytes(f"{HEAD}<p>x".encode()) != other.body_sha256
    assert (one.content_sha256, one.meta_sha256) == (other.content_sha256, other.meta_sha256)
    renamed = extracted(f"{HEAD}<p>x".replace("page", "side"))
    assert renamed.content_sha256 == one.content_sha256
    assert renamed.meta_sha256 != one.meta_sha256


def test_metadata_of_a_page() -> None:
    found = extracted(f"{HEAD}<p>x<svg><title>no</title></svg>")
    assert found.title == "The page"
    assert found.canonical_link == "https://site.example/docs/page?x"
    assert (found.charset, found.charset_source, found.noindex) == ("utf-8", "header", False)


def test_the_order_of_keys_in_json_ld_does_not_matter_and_its_values_do() -> None:
    def meta(text: str) -> str | None:
        return extracted(f'<script type="application/ld+json">{text}</script><p>x').meta_sha256

    assert meta('{"a": 1.50, "b": [1]}') == meta('{"b": [1], "a": 1.5}') != meta('{"b": [1], "a": 1.6}')
    assert meta('{"a": "\\ud83d"}') is not None
    assert meta("{broken") not in (None, meta("{broken too"))
    assert meta("[" * 100_000) is not None
    assert meta("1" * 5_000) is not None


def test_links_are_absolute_and_each_once_those_that_are_not_to_be_followed_apart() -> None:
    html = (
        '<base href="/b/"><a href="one#x">1</a><a href="/b/one">1</a><a rel="NoFollow noopener" href="two">2</a>'
        '<a href="mailto:x@y.example">m</a><a href="#top">t</a><area href="//Other.example/a"><a href="http://[">bad</a>'
        '<a rel=nofollow href="both">3</a><a href="both">3</a><a rel="UGC" href=" three ">4</a><a href="">5</a>'
    )
    found = extracted(html, links=True).links
    assert found.open == ("https://site.example/b/one", "https://other.example/a", "https://site.example/b/both")
    assert found.discouraged == ("https://site.example/b/two", "https://site.example/b/three")
    assert extracted(html).links == NO_LINKS


def test_frames_and_the_neighbours_of_a_series_are_links_and_parts_of_a_page_are_none() -> None:
    frames = extracted('<frameset><frame src="menu.html"><frame src="/body"></frameset>', links=True)
    assert frames.links.open == ("https://site.example/docs/menu.html", "https://site.example/body")
    series = extracted('<link rel="NEXT" href="?p=2"><link rel="stylesheet" href="a.css"><p>x', links=True)
    assert series.links.open == ("https://site.example/docs/page?p=2",)
    parts = extracted('<iframe src="/map"></iframe><form action="/find"></form><img src="/a.png"><p>x', links=True)
    assert parts.links == NO_LINKS


@pytest.mark.parametrize("base", ["javascript:x()", "http://[", "mailto:a@b.example", ""])
def test_a_base_that_is_no_address_counts_as_none(base: str) -> None:
    html = f'<base href="{base}"><a href="next">n</a>'
    assert extracted(html, links=True).links.open == ("https://site.example/docs/next",)


def test_canonical_links_that_differ_say_nothing() -> None:
    one, other = '<link rel="canonical" href="/v">', '<link rel="canonical" href="/w">'
    assert extracted(f"{one}{one}<p>x").canonical_link == "https://site.example/v"
    assert extracted(f"{one}{other}<p>x").canonical_link is None


def test_robots_directives_of_the_page_count() -> None:
    found = extracted('<meta name="ROBOTS" content="noindex, NoFollow"><a href="/x">x</a>', links=True)
    assert (found.noindex, found.nofollow) == (True, True)
    assert found.links.open == ("https://site.example/x",)
    assert extracted('<meta name="robots" content="none"><p>x').nofollow
    assert not extracted('<meta name="robots" content="index, follow"><p>x').nofollow


def test_main_text_is_for_readers_and_only_on_request() -> None:
    html = "<nav><a href=/>Home</a></nav><main><h1>Title</h1><p>" + "A sentence of the article. " * 20 + "</p></main>"
    page = Page(URL, html.encode(), "text/html")
    assert "A sentence of the article." in (extract(page, RULES).main_text or "")
    silent = extract(page, RULES, want_main_text=False)
    assert silent.main_text is None
    assert silent.content_sha256 == extract(page, RULES).content_sha256


@pytest.mark.parametrize("body", [b"", b" \n\t ", b"\0", b"<p></p>", b"<script>x</script>"])
def test_nothing_to_read_is_empty(body: bytes) -> None:
    found = extracted(body)
    assert (found.fault or "").startswith("empty: ")
    assert (found.record, found.content_sha256, found.lines) == (None, None, ())


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"%PDF-1.7", "application/pdf"), (b"\x89PNG\r\n\x1a\n\0\0", None), (b"<svg/>", "image/svg+xml; charset=utf-8")],
)
def test_what_is_no_text_is_said_so(body: bytes, content_type: str | None) -> None:
    assert (extracted(body, content_type).fault or "").startswith("not text: ")


def test_a_body_too_large_to_parse_is_a_fault() -> None:
    assert (extracted(b"<p>" + b"x" * LARGEST_BODY).fault or "").startswith("too large: 10000003 bytes")


def test_plain_text_is_not_parsed_as_html() -> None:
    found = extracted(b"a <b>c\n  d\n", "text/plain")
    assert found.lines == ("a <b>c", "  d")
    assert extracted(b'{"a": 1}', "application/problem+json").lines == ('{"a": 1}',)
    assert extracted(b"just words", None).lines == ("just words",)
    assert extracted(b"<!DOCTYPE html><p>x", None).lines == ("x",)


def test_odd_characters_reach_the_record_as_valid_text() -> None:
    found = extracted(b"<p>before</p><p>x \0 y</p><p>&#0; &#xD83D; \x0b \xef\xbf\xbe</p><p>after</p>")
    assert found.record is not None
    assert found.record.encode()
    assert found.lines[-1] == "after"
    later = extracted(b"<p>before</p><p>x \0 y</p><p>&#0; &#xD83D; \x0b \xef\xbf\xbe</p><p>later</p>")
    assert later.content_sha256 != found.content_sha256


def test_a_title_of_a_megabyte_is_read() -> None:
    assert len(extracted(f"<title>{'t' * 1_000_000}</title><p>x").title or "") == 1_000_000


def test_the_same_bytes_under_another_header_tell_their_conflict() -> None:
    body = "<meta charset=utf-8><p>café".encode()
    assert extract(Page(URL, body, "text/html; charset=iso-8859-1"), RULES).charset_conflict == "utf-8"
    assert extract(Page(URL, body, "text/html"), RULES).charset_conflict is None
