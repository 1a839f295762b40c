"""The state of one known URL: an immutable row that the rules turn into its successor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from incremental_crawl.semantics.validators import Validators


@dataclass(frozen=True, slots=True)
class PageState:
    """One row of the state table `known_urls`; the field names are its columns. Instants are UTC and aware.

    `held` tells pages (a record was made from the URL) from the frontier. `hop_*` are the validators of the last hop
    of a temporary redirect, which belong to that hop and to no other URL. `compare_sha256` is the digest under the
    page's noise mask (see `semantics.decision`), by which a new body is judged; `content_sha256` is that of the
    record as it was published.
    `checked_lastmod` is the listing's date at the last check that said something, `lastmod_moved` whether it was
    another one before (see `semantics.hints`). `unpaired_change` says that the last check found a change without a
    second fetch.
    """

    url: str
    source: str
    depth: int = 0
    held: bool = False
    listed: bool = False
    lastmod: str | None = None
    version_lastmod: str | None = None
    checked_lastmod: str | None = None
    lastmod_moved: bool = False
    changefreq: str | None = None
    sitemap_priority: float | None = None
    first_seen: datetime | None = None
    etag: str | None = None
    last_modified: str | None = None
    representation: str | None = None
    weak_date: bool = False
    content_sha256: str | None = None
    compare_sha256: str | None = None
    body_sha256: str | None = None
    meta_sha256: str | None = None
    charset: str | None = None
    charset_source: str | None = None
    mask: str | None = None
    page_type: str | None = None
    extractor_version: str | None = None
    stale: bool = False
    last_checked: datetime | None = None
    last_changed: datetime | None = None
    status: int | None = None
    body_visit: int | None = None
    body_day: date | None = None
    body_bytes: int = 0
    next_due: datetime | None = None
    redirect_to: str | None = None
    hop_url: str | None = None
    hop_etag: str | None = None
    hop_last_modified: str | None = None
    gone_since: datetime | None = None
    gone_checks: int = 0
    failures: int = 0
    last_visit: int = 0
    last_audit: int = 0
    priority: int = 0
    unpaired_change: bool = False

    @property
    def validators(self) -> Validators:
        """What was last stored for this very URL."""
        return Validators(self.etag, self.last_modified)

    @property
    def hop_validators(self) -> Validators:
        """What was last stored for the hop that this URL's temporary redirect led to."""
        return Validators(self.hop_etag, self.hop_last_modified)
