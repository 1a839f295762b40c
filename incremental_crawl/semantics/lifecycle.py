"""What each outcome does to a page's row. Every function returns the row's successor and touches nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from incremental_crawl.semantics.answers import Headers
from incremental_crawl.semantics.cadence import Cadence
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.validators import Validators, merge_not_modified, weakly_equal


@dataclass(frozen=True, slots=True)
class Moment:
    """The visit that a check belongs to, and when the check was made (UTC)."""

    visit: int
    day: date
    at: datetime


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a 200 brought besides its body: proposals that count only once the record does."""

    status: int
    validators: Validators
    weak_date: bool
    representation: str
    body_sha256: str
    body_bytes: int
    hop_url: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """The digests of a record and of the rules that made it."""

    content_sha256: str
    compare_sha256: str
    meta_sha256: str | None
    page_type: str
    extractor_version: str
    charset: str | None
    mask: str | None
    charset_source: str | None = None


def not_modified(page: PageState, headers: Headers, by_hop: bool, moment: Moment, cadence: Cadence) -> PageState:
    """A 304 that counts: the record stands, `last_changed` and the body stay, absent validators are kept.

    It never brings a gone or moved page back: these are asked without a condition, and only a 200 restores them.
    """
    checked = _checked(page, moment, cadence)
    if by_hop:
        merged = merge_not_modified(page.hop_validators, headers)
        return replace(checked, hop_etag=merged.etag, hop_last_modified=merged.last_modified)
    merged = merge_not_modified(page.validators, headers)
    return replace(checked, etag=merged.etag, last_modified=merged.last_modified)


def failed(page: PageState, moment: Moment, cadence: Cadence, not_before: datetime | None = None) -> PageState:
    """A check that says nothing: only the failure count and the due time move."""
    failures = page.failures + 1
    due = cadence.after_failure(moment.at, failures, not_before)
    return replace(page, failures=failures, next_due=due, last_visit=moment.visit, priority=0)


def refused(page: PageState, moment: Moment, cadence: Cadence) -> PageState:
    """A page that answers and wants no record: all stays, and it is looked at again at its ordinary interval."""
    return replace(page, failures=0, next_due=cadence.after_check(moment.at), last_visit=moment.visit, priority=0)


def same_record(page: PageState, fetched: Fetched, version: Version, moment: Moment, cadence: Cadence) -> PageState:
    """A 200 with the record that is held: its validators are adopted, the version stays what it was.

    A weak date counts for nothing beside an entity tag that came back with the same record while the date moved on:
    such a tag is not made of the date.
    """
    adopted = _with_validators(_checked(page, moment, cadence), fetched)
    return replace(
        adopted,
        gone_since=None,
        gone_checks=0,
        redirect_to=None,
        weak_date=fetched.weak_date and not _tag_confirmed(page, fetched),
        status=fetched.status,
        body_sha256=fetched.body_sha256,
        body_bytes=fetched.body_bytes,
        compare_sha256=version.compare_sha256,
        meta_sha256=version.meta_sha256,
        charset=version.charset,
        charset_source=version.charset_source,
        mask=version.mask,
    )


def with_body(page: PageState, moment: Moment) -> PageState:
    """The page's current body is now the one that this visit keeps."""
    return replace(page, body_visit=moment.visit, body_day=moment.day)


def new_version(page: PageState, fetched: Fetched, version: Version, moment: Moment, cadence: Cadence) -> PageState:
    """A 200 with another record (or the first one): everything that vouches for it takes effect together."""
    current = with_body(same_record(page, fetched, version, moment, cadence), moment)
    return replace(
        current,
        held=True,
        weak_date=fetched.weak_date,
        content_sha256=version.content_sha256,
        page_type=version.page_type,
        extractor_version=version.extractor_version,
        stale=False,
        last_changed=moment.at,
        version_lastmod=page.lastmod,
    )


def rebaselined(page: PageState, fetched: Fetched, version: Version, moment: Moment, cadence: Cadence) -> PageState:
    """A record under other rules or another representation: a new baseline that is no change."""
    current = new_version(page, fetched, version, moment, cadence)
    return replace(current, last_changed=page.last_changed or moment.at)


def gone(page: PageState, status: int, moment: Moment, cadence: Cadence) -> PageState:
    """A confirmed 404 or a 410: the tombstone is set once, later probes only space themselves out.

    A page is gone or moved, never both, so that each turn from one to the other makes its event.
    """
    checks = page.gone_checks + 1
    return replace(
        page,
        status=status,
        redirect_to=None,
        gone_since=page.gone_since or moment.at,
        gone_checks=checks,
        failures=0,
        last_checked=moment.at,
        last_visit=moment.visit,
        next_due=cadence.after_gone(moment.at, checks),
        priority=0,
    )


def suspect_gone(page: PageState, moment: Moment, cadence: Cadence) -> PageState:
    """A 404 that a second request did not repeat: the page stays as it was and is asked again soon."""
    return failed(page, moment, cadence)


def moved(page: PageState, target: str, status: int, moment: Moment, cadence: Cadence) -> PageState:
    """A permanent redirect: the source keeps its history and is looked at again at the longest interval."""
    return replace(
        page,
        status=status,
        redirect_to=target,
        gone_since=None,
        gone_checks=0,
        failures=0,
        last_checked=moment.at,
        last_visit=moment.visit,
        next_due=cadence.after_moved(moment.at),
        priority=0,
    )


def _checked(page: PageState, moment: Moment, cadence: Cadence) -> PageState:
    return replace(
        page,
        failures=0,
        last_checked=moment.at,
        last_visit=moment.visit,
        next_due=cadence.after_check(moment.at),
        priority=0,
        unpaired_change=False,
        checked_lastmod=page.lastmod,
        lastmod_moved=_lastmod_moved(page, moment),
    )


def _lastmod_moved(page: PageState, moment: Moment) -> bool:
    """Whether the listing's date had moved; a second check of one visit (an audit) does not forget it."""
    moved = None not in (page.lastmod, page.checked_lastmod) and page.lastmod != page.checked_lastmod
    return moved or (page.lastmod_moved and page.last_visit == moment.visit)


def _tag_confirmed(page: PageState, fetched: Fetched) -> bool:
    stored = page.hop_etag if fetched.hop_url else page.etag
    sent = fetched.validators.etag
    date = page.hop_last_modified if fetched.hop_url else page.last_modified
    same = stored is not None and sent is not None and weakly_equal(stored, sent)
    return same and date != fetched.validators.last_modified


def _with_validators(page: PageState, fetched: Fetched) -> PageState:
    """Both validators from the same response, under the URL that was requested (RFC 9110 §8.8.3)."""
    own, hop = (Validators(), fetched.validators) if fetched.hop_url else (fetched.validators, Validators())
    return replace(
        page,
        etag=own.etag,
        last_modified=own.last_modified,
        hop_url=fetched.hop_url,
        hop_etag=hop.etag,
        hop_last_modified=hop.last_modified,
        weak_date=fetched.weak_date,
        representation=fetched.representation,
    )
