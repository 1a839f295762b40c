"""What each outcome may do to a page's row, alone and in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from incremental_crawl.semantics.answers import Headers
from incremental_crawl.semantics.cadence import Cadence
from incremental_crawl.semantics.lifecycle import (
    Fetched,
    Moment,
    Version,
    failed,
    gone,
    moved,
    new_version,
    not_modified,
    rebaselined,
    same_record,
    suspect_gone,
    with_body,
)
from incremental_crawl.semantics.page import PageState
from incremental_crawl.semantics.validators import Validators
from tests.semantics.page_rows import (
    CADENCE,
    START,
    fetches,
    moments,
    pages,
    sent,
    validators,
    versions,
)

TARGET = "https://a.example/target"
COUNTERS = frozenset({"failures", "last_visit", "priority"})
OWN = frozenset({"etag", "last_modified"})
HOP = frozenset({"hop_etag", "hop_last_modified"})
CHECK = COUNTERS | {"last_checked", "next_due"}
ANSWERED = CHECK | {"unpaired_change", "checked_lastmod", "lastmod_moved"}
ABSENCE = frozenset({"gone_since", "gone_checks", "redirect_to"})
SAME = ANSWERED | ABSENCE | OWN | HOP | {"hop_url", "weak_date", "representation", "status"}
SAME |= {"body_sha256", "body_bytes", "compare_sha256", "meta_sha256", "charset", "mask"}
BODY = frozenset({"body_visit", "body_day"})
VERSION = frozenset({"held", "content_sha256", "page_type", "extractor_version", "stale", "version_lastmod"})

Step = Callable[[PageState, Moment, Fetched, Version, Headers], PageState]

STEPS: dict[str, tuple[Step, frozenset[str]]] = {
    "304": (lambda page, at, _f, _v, headers: not_modified(page, headers, False, at, CADENCE), ANSWERED | OWN),
    "304 of a hop": (lambda page, at, _f, _v, headers: not_modified(page, headers, True, at, CADENCE), ANSWERED | HOP),
    "failure": (lambda page, at, _f, _v, _h: failed(page, at, CADENCE), COUNTERS | {"next_due"}),
    "doubtful 404": (lambda page, at, _f, _v, _h: suspect_gone(page, at, CADENCE), COUNTERS | {"next_due"}),
    "gone": (lambda page, at, _f, _v, _h: gone(page, 404, at, CADENCE), CHECK | ABSENCE | {"status"}),
    "moved": (lambda page, at, _f, _v, _h: moved(page, TARGET, 301, at, CADENCE), CHECK | ABSENCE | {"status"}),
    "same record": (lambda page, at, f, v, _h: same_record(page, f, v, at, CADENCE), SAME),
    "new version": (
        lambda page, at, f, v, _h: new_version(page, f, v, at, CADENCE),
        SAME | BODY | VERSION | {"last_changed"},
    ),
    "new baseline": (
        lambda page, at, f, v, _h: rebaselined(page, f, v, at, CADENCE),
        SAME | BODY | VERSION | {"last_changed"},
    ),
    "kept body": (lambda page, at, _f, _v, _h: with_body(page, at), BODY),
}


def differing(one: PageState, other: PageState) -> set[str]:
    return {each.name for each in fields(PageState) if getattr(one, each.name) != getattr(other, each.name)}


@pytest.mark.parametrize("name", STEPS)
@settings(max_examples=50)
@given(data=st.data())
def test_an_outcome_moves_the_columns_that_are_its_own_and_no_others(name: str, data: st.DataObject) -> None:
    step, allowed = STEPS[name]
    page, moment, headers = data.draw(pages), data.draw(moments), data.draw(validators.map(sent))
    after = step(page, moment, data.draw(fetches), data.draw(versions), headers)
    assert differing(page, after) <= allowed


HELD = PageState(
    "https://a.example/page",
    "sitemap",
    held=True,
    first_seen=START,
    etag='"a"',
    last_modified="then",
    representation="r",
    content_sha256="c1",
    compare_sha256="m1",
    body_sha256="b1",
    page_type="page",
    extractor_version="e1",
    last_checked=START,
    last_changed=START,
    status=200,
    body_visit=1,
    body_day=START.date(),
    next_due=START,
    failures=3,
    lastmod="2026-11-02",
    version_lastmod="2026-11-01",
    priority=9,
    unpaired_change=True,
)
LATER = Moment(2, date(2026, 11, 4), START + timedelta(days=3))
FETCHED = Fetched(203, Validators('"b"', "now"), True, "r2", "b2", 12)
SECOND = Version("c2", "m2", "meta2", "shop", "e2", "utf-8", "mask2")
EVERY_RUN = Cadence(timedelta(days=1), timedelta(hours=1), timedelta(days=30), every_run=True)


def test_a_304_keeps_record_body_and_last_changed() -> None:
    page = not_modified(HELD, (("etag", 'W/"a"'),), False, LATER, CADENCE)
    assert page.validators == Validators('W/"a"', "then")
    assert (page.last_checked, page.next_due) == (LATER.at, LATER.at + CADENCE.default)
    assert (page.last_changed, page.content_sha256, page.body_day) == (START, "c1", START.date())
    assert (page.failures, page.last_visit, page.priority, page.unpaired_change) == (0, 2, 0, False)


def test_a_304_of_a_hop_touches_the_validators_of_the_hop_alone() -> None:
    page = not_modified(HELD, (("etag", '"h"'), ("last-modified", "d")), True, LATER, CADENCE)
    assert page.hop_validators == Validators('"h"', "d")
    assert page.validators == HELD.validators


@pytest.mark.parametrize("by_hop", [True, False])
@given(pages, validators.map(sent), moments)
def test_a_304_never_brings_a_gone_or_moved_page_back(
    by_hop: bool, page: PageState, headers: Headers, moment: Moment
) -> None:
    after = not_modified(page, headers, by_hop, moment, CADENCE)
    assert (after.gone_since, after.redirect_to) == (page.gone_since, page.redirect_to)


def test_a_failure_counts_and_says_when_to_try_again() -> None:
    page = failed(HELD, LATER, CADENCE)
    assert (page.failures, page.next_due) == (4, LATER.at + timedelta(hours=2))
    assert (page.last_checked, page.status, page.priority, page.last_visit) == (START, 200, 0, 2)
    assert failed(HELD, LATER, CADENCE, LATER.at + timedelta(days=2)).next_due == LATER.at + timedelta(days=2)
    assert suspect_gone(HELD, LATER, CADENCE) == page


def test_the_same_record_adopts_validators_and_keeps_its_version() -> None:
    page = same_record(HELD, FETCHED, SECOND, LATER, CADENCE)
    assert page.validators == FETCHED.validators
    assert (page.weak_date, page.representation, page.status) == (True, "r2", 203)
    assert (page.body_sha256, page.body_bytes, page.meta_sha256, page.charset) == ("b2", 12, "meta2", "utf-8")
    assert (page.compare_sha256, page.mask) == ("m2", "mask2")
    assert (page.content_sha256, page.last_changed, page.version_lastmod) == ("c1", START, "2026-11-01")
    assert (page.page_type, page.extractor_version, page.body_visit) == ("page", "e1", 1)
    assert (page.last_checked, page.next_due) == (LATER.at, LATER.at + CADENCE.default)


def test_a_new_version_takes_effect_with_everything_that_vouches_for_it() -> None:
    page = new_version(replace(HELD, stale=True), FETCHED, SECOND, LATER, CADENCE)
    assert page.validators == FETCHED.validators
    assert (page.held, page.stale, page.content_sha256, page.compare_sha256) == (True, False, "c2", "m2")
    assert (page.page_type, page.extractor_version, page.mask) == ("shop", "e2", "mask2")
    assert (page.last_changed, page.version_lastmod) == (LATER.at, "2026-11-02")
    assert (page.body_visit, page.body_day, page.body_sha256) == (2, LATER.day, "b2")


@given(pages, fetches, versions, moments)
def test_a_new_baseline_is_a_new_version_that_is_no_change(
    page: PageState, fetched: Fetched, version: Version, moment: Moment
) -> None:
    after = rebaselined(page, fetched, version, moment, CADENCE)
    assert differing(after, new_version(page, fetched, version, moment, CADENCE)) <= {"last_changed"}
    assert after.last_changed == (page.last_changed or moment.at)


@given(pages, st.sampled_from([same_record, new_version, rebaselined]), fetches, versions, moments)
def test_validators_come_from_one_response_and_belong_to_the_url_that_sent_them(
    page: PageState,
    step: Callable[[PageState, Fetched, Version, Moment, Cadence], PageState],
    fetched: Fetched,
    version: Version,
    moment: Moment,
) -> None:
    after = step(page, fetched, version, moment, CADENCE)
    assert after.hop_url == fetched.hop_url
    if fetched.hop_url:
        assert (after.validators, after.hop_validators) == (Validators(), fetched.validators)
    else:
        assert (after.validators, after.hop_validators) == (fetched.validators, Validators())
    assert after.representation == fetched.representation
    assert fetched.weak_date or not after.weak_date


def test_a_tombstone_is_set_once_and_probes_space_themselves_out() -> None:
    first = gone(HELD, 404, LATER, CADENCE)
    assert (first.gone_since, first.gone_checks, first.status) == (LATER.at, 1, 404)
    assert (first.next_due, first.failures, first.last_checked) == (LATER.at + timedelta(days=1), 0, LATER.at)
    again = Moment(3, LATER.day, LATER.at + timedelta(days=1))
    second = gone(first, 410, again, CADENCE)
    assert (second.gone_since, second.gone_checks, second.status) == (LATER.at, 2, 410)
    assert second.next_due == again.at + timedelta(days=2)
    assert second.content_sha256 == "c1"


def test_a_page_that_comes_back_leaves_nothing_of_its_tombstone() -> None:
    lost = gone(gone(HELD, 404, LATER, CADENCE), 404, LATER, CADENCE)
    for back in (
        same_record(lost, FETCHED, SECOND, LATER, CADENCE),
        new_version(lost, FETCHED, SECOND, LATER, CADENCE),
    ):
        assert (back.gone_since, back.gone_checks, back.redirect_to, back.held) == (None, 0, None, True)
    assert gone(back, 404, LATER, CADENCE).gone_checks == 1


def test_the_source_of_a_permanent_redirect_keeps_its_history() -> None:
    page = moved(HELD, TARGET, 308, LATER, CADENCE)
    assert (page.redirect_to, page.status, page.next_due) == (TARGET, 308, LATER.at + CADENCE.maximum)
    assert (page.held, page.content_sha256, page.last_changed, page.failures) == (True, "c1", START, 0)
    assert (page.last_checked, page.last_visit, page.priority) == (LATER.at, 2, 0)
    assert new_version(page, FETCHED, SECOND, LATER, CADENCE).redirect_to is None


def test_a_page_is_gone_or_moved_and_never_both() -> None:
    lost = gone(moved(HELD, TARGET, 301, LATER, CADENCE), 404, LATER, CADENCE)
    assert (lost.gone_since, lost.redirect_to) == (LATER.at, None)
    led = moved(lost, TARGET, 301, LATER, CADENCE)
    assert (led.gone_since, led.gone_checks, led.redirect_to) == (None, 0, TARGET)


def test_every_outcome_leaves_the_page_due_at_once_where_the_site_says_every_run() -> None:
    after = [
        not_modified(HELD, (), False, LATER, EVERY_RUN),
        failed(HELD, LATER, EVERY_RUN),
        gone(HELD, 404, LATER, EVERY_RUN),
        moved(HELD, TARGET, 301, LATER, EVERY_RUN),
        new_version(HELD, FETCHED, SECOND, LATER, EVERY_RUN),
    ]
    assert {page.next_due for page in after} == {LATER.at}


class AnyHistory(RuleBasedStateMachine):
    """Whatever happens to a page in whatever order, against a model of what should be left of it."""

    def __init__(self) -> None:
        super().__init__()
        self.page = PageState("https://a.example/page", "sitemap", first_seen=START, lastmod="hint")
        self.at = START
        self.visit = 0
        self.state = "unknown"
        self.record: tuple[str, datetime] | None = None
        self.validators = (Validators(), Validators())
        self.failures = 0

    def moment(self) -> Moment:
        self.visit += 1
        self.at += timedelta(hours=5)
        return Moment(self.visit, self.at.date(), self.at)

    @initialize(first_answers=st.booleans(), fetched=fetches, version=versions)
    def first_visit(self, first_answers: bool, fetched: Fetched, version: Version) -> None:
        if first_answers:
            self.changes(fetched, version)

    @rule(wait=st.none() | st.timedeltas(timedelta(0), timedelta(days=2)))
    def fails(self, wait: timedelta | None) -> None:
        moment = self.moment()
        not_before = None if wait is None else moment.at + wait
        self.page = failed(self.page, moment, CADENCE, not_before)
        self.failures += 1
        assert self.page.next_due is not None
        assert not_before is None or self.page.next_due >= not_before

    @rule()
    def is_doubtful(self) -> None:
        self.page = suspect_gone(self.page, self.moment(), CADENCE)
        self.failures += 1

    @precondition(lambda self: self.state == "live")
    @rule(headers=validators.map(sent))
    def is_not_modified(self, headers: Headers) -> None:
        own, hop = self.validators
        by_hop = self.page.hop_url is not None
        self.page = not_modified(self.page, headers, by_hop, self.moment(), CADENCE)
        named = dict(headers)
        kept = hop if by_hop else own
        merged = Validators(named.get("etag", kept.etag), named.get("last-modified", kept.last_modified))
        self.validators = (own, merged) if by_hop else (merged, hop)
        self.failures = 0

    @rule(fetched=fetches, version=versions)
    def changes(self, fetched: Fetched, version: Version) -> None:
        self.page = new_version(self.page, fetched, version, self.moment(), CADENCE)
        self.record = (version.content_sha256, self.at)
        self.answered(fetched)

    @precondition(lambda self: self.record is not None)
    @rule(fetched=fetches, version=versions)
    def is_the_same(self, fetched: Fetched, version: Version) -> None:
        self.page = same_record(self.page, fetched, version, self.moment(), CADENCE)
        self.answered(fetched)

    @precondition(lambda self: self.record is not None)
    @rule(fetched=fetches, version=versions)
    def is_read_by_other_rules(self, fetched: Fetched, version: Version) -> None:
        assert self.record is not None
        self.page = rebaselined(self.page, fetched, version, self.moment(), CADENCE)
        self.record = (version.content_sha256, self.record[1])
        self.answered(fetched)

    @precondition(lambda self: self.record is not None)
    @rule(status=st.sampled_from([404, 410]))
    def is_gone(self, status: int) -> None:
        since = self.page.gone_since
        self.page = gone(self.page, status, self.moment(), CADENCE)
        assert self.page.gone_since == (since or self.at)
        self.state, self.failures = "gone", 0

    @precondition(lambda self: self.record is not None)
    @rule()
    def is_moved(self) -> None:
        self.page = moved(self.page, TARGET, 301, self.moment(), CADENCE)
        self.state, self.failures = "moved", 0

    def answered(self, fetched: Fetched) -> None:
        hop = bool(fetched.hop_url)
        self.validators = (Validators(), fetched.validators) if hop else (fetched.validators, Validators())
        self.state, self.failures = "live", 0

    @invariant()
    def a_record_is_never_lost(self) -> None:
        assert self.page.held is (self.record is not None)
        assert (self.page.content_sha256, self.page.last_changed) == (self.record or (None, None))
        assert (self.page.body_sha256 is not None) is self.page.held
        assert (self.page.compare_sha256 is not None) is self.page.held

    @invariant()
    def only_a_confirmed_disappearance_makes_a_page_gone(self) -> None:
        assert (self.page.gone_since is not None) is (self.state == "gone")
        assert (self.page.gone_checks > 0) is (self.state == "gone")
        assert (self.page.redirect_to is not None) is (self.state == "moved")

    @invariant()
    def validators_vouch_for_the_record_that_is_held(self) -> None:
        assert (self.page.validators, self.page.hop_validators) == self.validators

    @invariant()
    def the_next_check_is_ahead_and_failures_are_counted(self) -> None:
        assert self.page.failures == self.failures
        assert self.page.last_visit == self.visit
        assert self.visit == 0 or (self.page.next_due is not None and self.page.next_due > self.at)

    @invariant()
    def what_was_known_of_the_url_stays(self) -> None:
        page = self.page
        assert (page.url, page.source, page.first_seen, page.lastmod) == (HELD.url, "sitemap", START, "hint")


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)


@given(pages, st.lists(st.tuples(st.sampled_from(["failure", "doubtful 404", "304"]), moments), max_size=30))
def test_no_sequence_of_failures_takes_a_record_away_or_buries_a_page(
    page: PageState, checks: list[tuple[str, Moment]]
) -> None:
    after = page
    for name, moment in checks:
        match name:
            case "failure":
                after = failed(after, moment, CADENCE)
            case "doubtful 404":
                after = suspect_gone(after, moment, CADENCE)
            case _:
                after = not_modified(after, (), False, moment, CADENCE)
    kept = BODY | VERSION | {"held", "gone_since", "redirect_to", "etag", "last_modified", "status", "content_sha256"}
    assert not differing(page, after) & kept


def test_a_tag_that_came_back_with_the_same_record_outweighs_a_weak_date() -> None:
    held = PageState("https://shop.example/", "start", held=True, etag='"v1"', last_modified="then", weak_date=True)
    version = Version("c" * 64, "c" * 64, None, "page", "rules", "utf-8", None)
    moment = Moment(2, date(2026, 5, 2), datetime(2026, 5, 2, tzinfo=UTC))
    cadence = Cadence(timedelta(days=1), timedelta(hours=1), timedelta(days=30))

    def answered(etag: str | None) -> Fetched:
        return Fetched(200, Validators(etag, "now"), True, "r", "b" * 64, 10)

    assert not same_record(held, answered('W/"v1"'), version, moment, cadence).weak_date
    assert same_record(held, answered('"v2"'), version, moment, cadence).weak_date
    assert same_record(held, answered(None), version, moment, cadence).weak_date
    assert new_version(held, answered('"v1"'), version, moment, cadence).weak_date
    still = replace(held, last_modified="now")
    assert same_record(still, answered('"v1"'), version, moment, cadence).weak_date, (
        "a tag made of the date proves nothing"
    )


@pytest.mark.parametrize(
    ("lastmod", "checked", "moved"),
    [("b", "a", True), ("a", "a", False), ("a", None, False), (None, "a", False)],
)
def test_a_check_notes_whether_the_listed_date_had_moved_and_a_second_one_of_the_visit_does_not_forget_it(
    lastmod: str | None, checked: str | None, moved: bool
) -> None:
    page = replace(HELD, lastmod=lastmod, checked_lastmod=checked)
    first = not_modified(page, (), False, LATER, CADENCE)
    assert (first.checked_lastmod, first.lastmod_moved) == (lastmod, moved)
    audited = same_record(first, FETCHED, SECOND, LATER, CADENCE)
    assert audited.lastmod_moved == moved
    later = not_modified(audited, (), False, replace(LATER, visit=3), CADENCE)
    assert not later.lastmod_moved
