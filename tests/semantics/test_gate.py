"""When a visit's numbers stop it, and what it then says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.semantics.gate import Churn, GateDecision, GateLimits, judge

LIMITS = GateLimits(changed=0.8, gone=0.2, failed=0.5, min_pages=20)
QUIET = Churn(checked=100, gone=0, failed=0, compared=100, changed=0)

shares = st.integers(0, 100).map(lambda percent: percent / 100)


@st.composite
def churns(draw: st.DrawFn) -> Churn:
    checked, compared = draw(st.integers(0, 300)), draw(st.integers(0, 300))
    gone, failed = draw(st.integers(0, checked)), draw(st.integers(0, checked))
    return Churn(checked, gone, failed, compared, draw(st.integers(0, compared)))


limits = st.builds(GateLimits, shares, shares, shares, st.integers(1, 50))


@pytest.mark.parametrize(
    ("churn", "decision"),
    [
        (
            replace(QUIET, failed=51),
            GateDecision(True, "51 of 100 checks failed (51%), above gate.failed = 50%", incomplete=True),
        ),
        (replace(QUIET, gone=21), GateDecision(True, "21 of 100 pages disappeared (21%), above gate.gone = 20%")),
        (
            Churn(checked=100, gone=0, failed=0, compared=1000, changed=801),
            GateDecision(True, "801 of 1000 pages changed (80.1%), above gate.changed = 80%"),
        ),
        (replace(QUIET, changed=5), GateDecision(False, "5 of 100 compared pages changed (5%)")),
        (Churn(0, 0, 0, 0, 0), GateDecision(False, "0 of 0 compared pages changed (0%)")),
    ],
)
def test_the_gate_says_what_it_counted(churn: Churn, decision: GateDecision) -> None:
    assert judge(churn, LIMITS) == decision


def test_failures_are_judged_first_then_disappearance_then_change() -> None:
    all_bad = Churn(checked=100, gone=100, failed=100, compared=100, changed=100)
    assert "failed" in judge(all_bad, LIMITS).reason
    assert judge(all_bad, LIMITS).incomplete
    assert "disappeared" in judge(replace(all_bad, failed=0), LIMITS).reason
    assert "pages changed" in judge(replace(all_bad, failed=0, gone=0), LIMITS).reason
    assert not judge(replace(all_bad, failed=0), LIMITS).incomplete


@pytest.mark.parametrize(
    ("at", "above"),
    [
        (replace(QUIET, failed=50), replace(QUIET, failed=51)),
        (replace(QUIET, gone=20), replace(QUIET, gone=21)),
        (replace(QUIET, changed=80), replace(QUIET, changed=81)),
    ],
)
def test_a_share_equal_to_the_limit_is_not_above_it(at: Churn, above: Churn) -> None:
    assert not judge(at, LIMITS).closed
    assert judge(above, LIMITS).closed


@given(st.integers(0, 100), st.integers(1, 20))
def test_no_limit_is_missed_or_met_by_rounding(percent: int, times: int) -> None:
    exact = GateLimits(changed=percent / 100, gone=1.0, failed=1.0, min_pages=1)
    total = 100 * times
    at = Churn(total, 0, 0, total, percent * times)
    assert not judge(at, exact).closed
    assert judge(replace(at, changed=at.changed + 1), exact).closed or percent == 100


@pytest.mark.parametrize(
    ("few", "enough"),
    [
        (Churn(19, 0, 19, 0, 0), Churn(20, 0, 20, 0, 0)),
        (Churn(19, 19, 0, 0, 0), Churn(20, 20, 0, 0, 0)),
        (Churn(100, 0, 0, 19, 19), Churn(100, 0, 0, 20, 20)),
    ],
)
def test_nothing_is_judged_below_the_smallest_number_of_pages(few: Churn, enough: Churn) -> None:
    assert not judge(few, LIMITS).closed
    assert judge(enough, LIMITS).closed


def test_changes_are_a_share_of_the_pages_that_could_be_compared() -> None:
    assert judge(Churn(checked=1000, gone=0, failed=0, compared=20, changed=17), LIMITS).closed
    assert not judge(Churn(checked=20, gone=0, failed=0, compared=1000, changed=17), LIMITS).closed


def test_a_limit_of_one_never_closes_and_a_limit_of_zero_closes_at_the_first_page() -> None:
    assert not judge(Churn(100, 100, 100, 100, 100), GateLimits(1.0, 1.0, 1.0, 1)).closed
    assert judge(replace(QUIET, changed=1), GateLimits(0.0, 0.0, 0.0, 1)).closed
    assert not judge(QUIET, GateLimits(0.0, 0.0, 0.0, 0)).closed


def test_a_visit_without_pages_passes() -> None:
    assert not judge(Churn(0, 0, 0, 0, 0), GateLimits(0.0, 0.0, 0.0, 0)).closed


@given(churns(), limits)
def test_the_gate_closes_exactly_where_one_share_is_above_its_limit(churn: Churn, limit: GateLimits) -> None:
    def above(count: int, total: int, share: float) -> bool:
        percent = round(share * 100)
        return total >= limit.min_pages and total > 0 and Fraction(count, total) > Fraction(percent, 100)

    failed = above(churn.failed, churn.checked, limit.failed)
    gone = above(churn.gone, churn.checked, limit.gone)
    changed = above(churn.changed, churn.compared, limit.changed)
    decision = judge(churn, limit)
    assert decision.closed is (failed or gone or changed)
    assert decision.incomplete is failed
