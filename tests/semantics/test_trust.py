"""The trust ledger: what a host's answers teach, how fast, and how it forgets."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.head_requests import HEAD_PROBES, head_confirms, head_disagreement
from incremental_crawl.semantics.trust import (
    ENOUGH_ANSWERS,
    FIRST_DISTRUST,
    Evidence,
    Ledger,
    Signature,
    TrustMode,
    audit_share,
    conditions,
    distrusts,
    learn,
)
from incremental_crawl.semantics.trust_verdict import clean_audits, host_mode, host_verdict, verdict
from incremental_crawl.semantics.validators import Validators

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RATIO = 0.05
BLANK = Ledger("shop.example", "/")

HONOURED = Evidence(conditional=10, not_modified=10)
ROTATING = Evidence(conditional=10, same_record=10, tag_rotated=10)
MOVING = Evidence(conditional=10, same_record=10, date_moved=10)
SUFFIXED = Evidence(conditional=10, same_record=10, suffixed=10)
IGNORED = Evidence(conditional=15, same_record=15, ignored=15)
BOTH_MOVE = Evidence(conditional=15, same_record=15, both_moved=15)


def taught(*visits: Evidence, start: Ledger = BLANK) -> Ledger:
    """The ledger after visits a day apart."""
    own = start
    for day, seen in enumerate(visits):
        own = learn(own, seen, NOW + timedelta(days=day), RATIO)
    return own


@pytest.mark.parametrize(
    ("seen", "mode"),
    [
        (ROTATING, TrustMode.DATE_ONLY),
        (MOVING, TrustMode.TAG_ONLY),
        (SUFFIXED, TrustMode.SUFFIX_LIST),
        (IGNORED, TrustMode.HASH_ONLY),
        (BOTH_MOVE, TrustMode.HASH_ONLY),
    ],
)
def test_a_defect_is_learnt_from_two_visits_that_agree(seen: Evidence, mode: TrustMode) -> None:
    assert taught(seen).mode is TrustMode.BOTH
    assert taught(seen, seen).mode is mode
    assert taught(seen, HONOURED, seen).mode is TrustMode.BOTH


def test_one_page_is_enough_to_learn_a_defect_in_two_visits() -> None:
    once = Evidence(conditional=1, same_record=1, tag_rotated=1)
    assert taught(once, once).mode is TrustMode.DATE_ONLY


def test_a_visit_without_answers_changes_nothing() -> None:
    own = taught(ROTATING)
    assert taught(Evidence(), start=own) == own


def test_a_server_that_does_not_understand_lists_is_asked_by_date() -> None:
    own = taught(SUFFIXED, SUFFIXED, SUFFIXED, SUFFIXED)
    assert (own.mode, own.cause) == (TrustMode.DATE_ONLY, Signature.SUFFIX)
    assert "list" in verdict(own)


def test_few_answers_condemn_no_host() -> None:
    few = Evidence(conditional=4, same_record=4, both_moved=4)
    assert taught(*[few] * 20).mode is TrustMode.BOTH, "halved counts never reach twenty"
    assert taught(replace(BOTH_MOVE, same_record=ENOUGH_ANSWERS, both_moved=ENOUGH_ANSWERS)).mode is TrustMode.HASH_ONLY


def test_one_deployment_that_touches_every_page_condemns_no_honest_host() -> None:
    quiet = Evidence(conditional=100, not_modified=100)
    deployed = Evidence(conditional=100, same_record=100, both_moved=100)
    assert taught(quiet, deployed, quiet).mode is TrustMode.BOTH


@pytest.mark.parametrize("seen", [ROTATING, MOVING, SUFFIXED])
def test_a_host_that_mends_its_ways_is_believed_again(seen: Evidence) -> None:
    mended = Evidence(conditional=10, not_modified=10, tried=1, tried_not_modified=1)
    own = taught(seen, seen)
    assert taught(mended, start=own).mode is own.mode or taught(mended, start=own).mode is TrustMode.BOTH
    assert taught(mended, mended, start=own).mode is TrustMode.BOTH


def test_answers_to_what_is_still_sent_do_not_bring_back_what_is_distrusted() -> None:
    own = taught(ROTATING, ROTATING)
    assert taught(*[HONOURED] * 10, start=own).mode is TrustMode.DATE_ONLY


def test_a_useless_host_comes_back_by_its_tries() -> None:
    useless = taught(replace(BOTH_MOVE, same_record=30, both_moved=30))
    tried = Evidence(conditional=1, not_modified=1, tried=1, tried_not_modified=1)
    assert taught(tried, tried, start=useless).mode is TrustMode.BOTH


def test_two_false_304s_or_one_on_declared_fields_distrust_a_group() -> None:
    once = Evidence(conditional=10, not_modified=10, audits=1, false_304=1)
    assert not distrusts(BLANK, once)
    assert taught(once).mode is TrustMode.BOTH
    assert taught(once, once).cause is Signature.FALSE_304
    assert taught(replace(once, false_on_fields=1)).mode is TrustMode.HASH_ONLY
    assert taught(replace(once, false_304=2)).mode is TrustMode.HASH_ONLY


def test_a_false_304_is_forgiven_for_a_time_that_doubles() -> None:
    false = Evidence(conditional=10, not_modified=10, audits=2, false_304=2)
    own = learn(BLANK, false, NOW, RATIO)
    assert own.retry_at == NOW + FIRST_DISTRUST
    assert learn(own, HONOURED, NOW + timedelta(days=1), RATIO).mode is TrustMode.HASH_ONLY
    again = learn(own, HONOURED, NOW + FIRST_DISTRUST, RATIO)
    assert (again.mode, again.retry_at) == (TrustMode.BOTH, None)
    relapse = learn(again, replace(false, audits=1, false_304=1), NOW + FIRST_DISTRUST, RATIO)
    assert relapse.mode is TrustMode.HASH_ONLY
    assert relapse.retry_at == NOW + 3 * FIRST_DISTRUST


def test_one_false_304_raises_the_audit_share_until_many_audits_are_clean() -> None:
    own = taught(Evidence(conditional=10, not_modified=10, audits=1, false_304=1))
    assert audit_share(0.02, own) == pytest.approx(0.2)
    assert audit_share(0.0, own) == 0
    assert audit_share(0.02, taught(replace(HONOURED, audits=200), start=own)) == 0.02


@given(st.sampled_from(TrustMode), st.text(min_size=1), st.text(min_size=1))
def test_conditions_send_nothing_that_was_not_stored(mode: TrustMode, etag: str, date: str) -> None:
    sent = conditions(Validators(etag, date), mode)
    assert sent.last_modified in (None, date)
    assert sent.etag is None or sent.etag == etag or sent.etag.startswith(f"{etag}, ")


def test_the_suffix_list_holds_the_tag_with_and_without_its_coding() -> None:
    assert conditions(Validators('"x-gzip"', "d"), TrustMode.SUFFIX_LIST) == Validators('"x-gzip", "x"', "d")
    assert conditions(Validators('"x"', None), TrustMode.SUFFIX_LIST) == Validators('"x"', None)


def test_head_confirms_by_the_tag_and_by_the_date_only_without_one() -> None:
    assert head_confirms(Validators('"1"', "d"), 200, (("etag", 'W/"1"'),))
    assert head_confirms(Validators(None, "d"), 200, (("last-modified", "d"),))
    assert not head_confirms(Validators('"1"', "d"), 200, (("last-modified", "d"),))
    assert not head_confirms(Validators('"1"', "d"), 200, (("etag", '"2"'), ("last-modified", "d")))
    assert not head_confirms(Validators('"1"', None), 404, (("etag", '"1"'),))
    assert not head_confirms(Validators(), 200, ())


def test_head_and_get_agree_in_status_validators_and_type() -> None:
    get = (200, (("etag", '"1"'), ("content-type", "text/html")))
    assert head_disagreement(get, get) is None
    assert "405" in (head_disagreement(get, (405, ())) or "")
    assert "etag" in (head_disagreement(get, (200, (("etag", '"2"'), ("content-type", "text/html")))) or "")


def test_head_is_trusted_after_enough_probes_and_never_after_one_that_disagreed() -> None:
    agreed = taught(Evidence(head_agreed=HEAD_PROBES))
    assert agreed.head_trusted
    assert not taught(Evidence(head_agreed=HEAD_PROBES - 1)).head_trusted
    assert not taught(Evidence(head_disagreed=1), start=agreed).head_trusted


def test_verdicts_are_sentences_with_their_numbers() -> None:
    assert verdict(BLANK) == "no conditional request about an unchanged page has been answered yet"
    assert "10 of 10 answers" in verdict(taught(HONOURED))
    assert "neither ETag nor Last-Modified" in verdict(taught(Evidence(bodies=5, bare=5)))
    assert "ETag rotates" in verdict(taught(ROTATING, ROTATING))
    assert "-gzip" in verdict(taught(SUFFIXED, SUFFIXED))
    assert "false 304: 2 of 7" in verdict(taught(Evidence(not_modified=9, audits=7, false_304=2)))
    assert "only in W/" in verdict(taught(replace(HONOURED, flips=3)))
    assert "without a condition" in verdict(taught(replace(HONOURED, unasked=1)))


def test_the_bound_of_clean_audits() -> None:
    assert clean_audits(120) == "no false 304 in 120 audits: below 2.5 % with 95 % confidence"
    assert "too few" in clean_audits(2)


def test_a_host_is_rolled_up_from_its_groups() -> None:
    static = replace(taught(HONOURED), path_group="/static/")
    shop = replace(taught(ROTATING, ROTATING), path_group="/shop/", recent_same_record=90.0)
    assert host_mode([static, shop]) is TrustMode.DATE_ONLY
    told = host_verdict([static, shop])
    assert told.startswith("/shop/: its ETag rotates")
    assert "/static/: conditional requests are honoured" in told


COUNTS = st.integers(0, 40)


@given(st.lists(st.builds(Evidence, **dict.fromkeys(Evidence.__dataclass_fields__, COUNTS)), max_size=12))
def test_whatever_is_seen_the_ledger_stays_sound(visits: list[Evidence]) -> None:
    own = taught(*visits)
    assert own.mode in TrustMode
    assert own.clean_audits <= own.audits
    assert own.recent_not_modified <= own.not_modified
    assert (own.retry_at is not None) <= (own.mode is TrustMode.HASH_ONLY)
    assert verdict(own)
