"""X-Robots-Tag: which directives are meant for this crawler."""

from __future__ import annotations

import pytest

from incremental_crawl.semantics.robots_directives import header_directives

AGENT = "incremental-crawl/0.1"


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (["noindex"], {"noindex"}),
        ([" NoIndex , NOFOLLOW "], {"noindex", "nofollow"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["none"], {"noindex", "nofollow"}),
        (["googlebot: noindex"], set()),
        (["googlebot: noindex, nofollow"], set()),
        (["Incremental-Crawl: noindex, nofollow"], {"noindex", "nofollow"}),
        (["googlebot: noindex, incremental-crawl: nofollow"], {"nofollow"}),
        (["googlebot: noindex", "nofollow"], {"nofollow"}),
        (["robots: noindex"], {"noindex"}),
        (["unavailable_after: 25 Jun 2026 15:00:00 PST, noindex"], {"noindex"}),
        (["googlebot: unavailable_after: 25 Jun 2026 15:00:00 PST, noindex"], set()),
        (["max-snippet: 50, nofollow"], {"nofollow"}),
        (["all"], set()),
        ([""], set()),
        ([":::"], set()),
        ([], set()),
    ],
)
def test_what_is_asked_of_everybody_or_of_this_crawler_counts(lines: list[str], meant: set[str]) -> None:
    assert header_directives(lines, AGENT) & {"noindex", "nofollow"} == meant


def test_a_crawler_that_calls_itself_mozilla_is_named_by_its_product() -> None:
    agent = "Mozilla/5.0 (compatible; ExampleBot/1.0)"
    assert header_directives(["mozilla: nofollow, examplebot: noindex"], agent) == {"noindex"}
