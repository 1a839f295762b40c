"""The origin that serves an editing history, and the histories themselves."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.origins import document_html
from tests.origins.client import Client
from tests.origins.documents import BLOCK_PAGE, Behaviour, DocumentsOrigin, Validators, path_of
from tests.origins.histories import (
    Version,
    by_page,
    current,
    read_history,
    synthetic_history,
    truth_between,
    visit_moments,
)

PEP_HISTORY = Path(__file__).resolve().parents[3] / "shared" / "data" / "pep_history.parquet"
VERSIONS = synthetic_history()
VISITS = visit_moments(6)


@pytest.fixture
def origin() -> Iterator[DocumentsOrigin]:
    """The synthetic history at its first moment."""
    with DocumentsOrigin(VERSIONS) as origin:
        yield origin


@pytest.fixture
def client(origin: DocumentsOrigin) -> Iterator[Client]:
    """A connection to the origin."""
    with Client(origin.port) as client:
        yield client


def visible(version: Version) -> str:
    """The text that a reader sees in the article, white space made single."""
    tags_removed = re.sub(r"<[^>]+>", " ", document_html.article(version.page, version.text))
    return " ".join(html.unescape(tags_removed).split())


# Histories


@given(st.integers(min_value=0, max_value=10_000), st.integers(min_value=15, max_value=60))
@settings(max_examples=15, deadline=None)
def test_a_synthetic_history_has_edits_new_pages_and_disappearing_ones(seed: int, pages: int) -> None:
    versions = synthetic_history(pages, 6, seed)
    truths = [truth_between(versions, a, b) for a, b in pairwise(VISITS)]
    assert len(current(versions, VISITS[0])) == pages
    assert all(len(truth.changed) >= 1 for truth in truths)
    assert [len(truth.gone) for truth in truths] == [0, 1, 1, 1, 1]
    assert [len(truth.new) for truth in truths] == [1, 1, 1, 2, 2]


@given(st.integers(min_value=0, max_value=10_000))
@settings(max_examples=10, deadline=None)
def test_versions_of_a_page_never_overlap_and_differ_for_a_reader(seed: int) -> None:
    for versions in by_page(synthetic_history(20, 5, seed)).values():
        for earlier, later in pairwise(versions):
            assert earlier.valid_to is not None
            assert earlier.valid_from < earlier.valid_to <= later.valid_from
            assert visible(earlier) != visible(later)


def test_a_page_that_was_edited_and_edited_back_has_new_validators_but_no_change() -> None:
    old, new = current(VERSIONS, VISITS[0]), current(VERSIONS, VISITS[1])
    edited_back = [p for p in old.keys() & new.keys() if old[p].text == new[p].text and old[p] != new[p]]
    assert len(edited_back) == 1
    assert edited_back[0] not in truth_between(VERSIONS, VISITS[0], VISITS[1]).changed


def test_every_edit_of_the_real_history_is_visible_in_the_page() -> None:
    if not PEP_HISTORY.exists():
        pytest.skip("needs ../shared/data/pep_history.parquet")
    versions = read_history(PEP_HISTORY)
    assert len(versions) == 850
    for earlier, later in ((a, b) for rows in by_page(versions).values() for a, b in pairwise(rows)):
        assert visible(earlier) != visible(later)


# The origin


def test_the_pages_are_those_of_the_moment(origin: DocumentsOrigin, client: Client) -> None:
    for moment in VISITS:
        origin.moment = moment
        held = current(VERSIONS, moment)
        for page in {version.page for version in VERSIONS}:
            seen = client.get(path_of(page))
            assert seen.status == (200 if page in held else 404)
            if page in held:
                assert document_html.article(page, held[page].text) in seen.text


def test_loads_differ_but_for_the_article(origin: DocumentsOrigin, client: Client) -> None:
    loads = [client.get("/pages/page-0003").text for _ in range(4)]
    assert len(set(loads)) == 4
    assert len({load.partition("<article>")[2].partition("</article>")[0] for load in loads}) == 1
    origin.noise = False
    assert len({client.get("/pages/page-0003").text for _ in range(3)}) == 1


def test_an_unchanged_page_answers_304_and_a_changed_one_200(origin: DocumentsOrigin, client: Client) -> None:
    tags = {page: client.get(path_of(page), Accept_Encoding="gzip").etag for page in origin.pages}
    origin.log.clear()
    origin.moment = VISITS[1]
    before, after = current(VERSIONS, VISITS[0]), current(VERSIONS, VISITS[1])
    for page in before.keys() & after.keys():
        seen = client.get(path_of(page), Accept_Encoding="gzip", If_None_Match=tags[page])
        assert (seen.status == 304) is (before[page] == after[page])
    not_modified = [request for request in origin.log if request.status == 304]
    assert len(not_modified) > 30
    assert sum(request.body_bytes for request in not_modified) == 0


@pytest.mark.parametrize(
    ("validators", "offered"),
    [("both", {"ETag", "Last-Modified"}), ("etag", {"ETag"}), ("date", {"Last-Modified"}), ("none", set())],
)
def test_validators_are_offered_and_honoured_as_asked(
    origin: DocumentsOrigin, client: Client, validators: Validators, offered: set[str]
) -> None:
    origin.validators = validators
    seen = client.get("/pages/page-0001")
    assert {"ETag", "Last-Modified"} & set(seen.headers) == offered
    date = origin.last_modified(origin.pages["page-0001"]).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert client.get("/pages/page-0001", If_Modified_Since=date).status == (304 if "Last-Modified" in offered else 200)


def test_what_the_history_opens_with_is_older_than_a_minute(origin: DocumentsOrigin) -> None:
    ages = [origin.moment - origin.last_modified(version) for version in origin.pages.values()]
    assert min(ages) > timedelta(minutes=1)


def test_the_sitemap_lists_the_pages_of_the_moment(origin: DocumentsOrigin, client: Client) -> None:
    assert f"Sitemap: {origin.base_url}/sitemap.xml" in client.get("/robots.txt").text
    for moment in VISITS:
        origin.moment = moment
        locations = re.findall("<loc>(.*?)</loc>", client.get("/sitemap.xml").text)
        assert locations == [origin.url(page) for page in sorted(current(VERSIONS, moment))]
    assert "<lastmod>" in client.get("/sitemap.xml").text
    origin.lastmod = False
    assert "<lastmod>" not in client.get("/sitemap.xml").text


def test_the_contents_page_links_to_all_pages_only_when_asked(origin: DocumentsOrigin, client: Client) -> None:
    article = client.get("/").text.partition("<article>")[2].partition("</article>")[0]
    assert "href" not in article
    origin.index = "links"
    article = client.get("/").text.partition("<article>")[2].partition("</article>")[0]
    assert re.findall('href="(.*?)"', article) == [path_of(page) for page in sorted(origin.pages)]


def test_a_script_is_played_and_then_the_page_is_ordinary_again(origin: DocumentsOrigin, client: Client) -> None:
    path = "/pages/page-0002"
    origin.script(path, Behaviour(404, times=1), Behaviour(301, location="/pages/page-0001", times=2))
    seen = [client.get(path) for _ in range(4)]
    assert [one.status for one in seen] == [404, 301, 301, 200]
    assert seen[1].headers["Location"] == "/pages/page-0001"


def test_a_script_without_times_lasts_until_it_is_lifted(origin: DocumentsOrigin, client: Client) -> None:
    path = "/pages/page-0002"
    origin.script(path, Behaviour(503, headers=(("Retry-After", "120"),)))
    assert [client.get(path).headers["Retry-After"] for _ in range(3)] == ["120"] * 3
    origin.script(path)
    assert client.get(path).status == 200


def test_a_block_page_comes_with_status_200_and_without_validators(origin: DocumentsOrigin, client: Client) -> None:
    origin.script("/pages/page-0002", BLOCK_PAGE)
    seen = client.get("/pages/page-0002")
    assert (seen.status, "CAPTCHA" in seen.text, "ETag" in seen.headers) == (200, True, False)


def test_robots_and_the_sitemap_can_be_scripted_too(origin: DocumentsOrigin, client: Client) -> None:
    origin.script("/sitemap.xml", Behaviour(500))
    origin.script("/robots.txt", Behaviour(200, body=b"User-agent: *\nDisallow: /pages/\n"))
    assert client.get("/sitemap.xml").status == 500
    assert client.get("/robots.txt").text.endswith("Disallow: /pages/\n")


def test_a_delay_passes_before_the_ordinary_answer(origin: DocumentsOrigin, client: Client) -> None:
    origin.script("/pages/page-0002", Behaviour(delay_s=0.15, times=1))
    begun = time.perf_counter()
    assert client.get("/pages/page-0002").status == 200
    assert time.perf_counter() - begun >= 0.14


def test_gzip_is_used_when_accepted_and_counted_as_sent(origin: DocumentsOrigin, client: Client) -> None:
    plain, coded = client.get("/pages/page-0004"), client.get("/pages/page-0004", Accept_Encoding="gzip")
    assert (coded.headers["Content-Encoding"], "<article>" in coded.text) == ("gzip", True)
    assert [request.body_bytes for request in origin.log] == [len(plain.body), len(coded.body)]
    assert len(coded.body) < len(plain.body)
    assert origin.log.total_bytes > origin.log.body_bytes
