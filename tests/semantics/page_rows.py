"""Arbitrary rows of known URLs and arbitrary answers to them, as hypothesis strategies."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st

from incremental_crawl.semantics.answers import Headers
from incremental_crawl.semantics.cadence import Cadence
from incremental_crawl.semantics.lifecycle import Fetched, Moment, Version
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.validators import Validators

START = datetime(2026, 11, 1, tzinfo=UTC)
CADENCE = Cadence(timedelta(days=1), timedelta(hours=1), timedelta(days=30))
HOP_URL = "https://a.example/hop"

texts = st.sampled_from(["a", "b", "c"])
maybe_text = st.none() | texts
validators = st.builds(Validators, maybe_text, maybe_text)
moments = st.integers(0, 999).map(lambda hours: Moment(hours, START.date(), START + timedelta(hours=hours)))
fetches = st.builds(
    Fetched,
    status=st.sampled_from([200, 203]),
    validators=validators,
    weak_date=st.booleans(),
    representation=texts,
    body_sha256=texts,
    body_bytes=st.integers(0, 99),
    hop_url=st.none() | st.just(HOP_URL),
)
versions = st.builds(Version, texts, texts, maybe_text, texts, texts, maybe_text, maybe_text)


def sent(found: Validators) -> Headers:
    """The header fields that carry these validators."""
    named = (("etag", found.etag), ("last-modified", found.last_modified))
    return tuple((name, value) for name, value in named if value is not None)


def row(seed: int) -> PageState:
    """A row with something or nothing in every column, whether or not the columns agree with each other."""
    draw = random.Random(seed)

    def text() -> str | None:
        return draw.choice([None, "a", "b", "c"])

    def moment() -> datetime | None:
        return draw.choice([None, START - timedelta(hours=draw.randrange(1, 9000))])

    def flag() -> bool:
        return draw.random() < 0.5

    def number() -> int:
        return draw.randrange(10)

    return PageState(
        url="https://a.example/page",
        source="sitemap",
        depth=number(),
        held=flag(),
        listed=flag(),
        lastmod=text(),
        version_lastmod=text(),
        checked_lastmod=text(),
        lastmod_moved=flag(),
        first_seen=moment(),
        etag=text(),
        last_modified=text(),
        representation=text(),
        weak_date=flag(),
        content_sha256=text(),
        compare_sha256=text(),
        body_sha256=text(),
        meta_sha256=text(),
        charset=text(),
        mask=text(),
        page_type=text(),
        extractor_version=text(),
        stale=flag(),
        last_checked=moment(),
        last_changed=moment(),
        status=draw.choice([None, 200, 301, 404]),
        body_visit=number(),
        body_day=draw.choice([None, date(2026, 10, 1)]),
        body_bytes=number(),
        next_due=moment(),
        redirect_to=text(),
        hop_url=text(),
        hop_etag=text(),
        hop_last_modified=text(),
        gone_since=moment(),
        gone_checks=number(),
        failures=number(),
        last_visit=number(),
        last_audit=number(),
        priority=number(),
        unpaired_change=flag(),
    )


pages = st.integers(0, 2**32).map(row)
