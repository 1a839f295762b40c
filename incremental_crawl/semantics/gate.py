"""The gate: when a visit's numbers say that the site broke rather than that its pages changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Shares between 0 and 1 above which a person decides; below `min_pages` checked pages nothing is judged."""

    changed: float
    gone: float
    failed: float
    min_pages: int


@dataclass(frozen=True, slots=True)
class Churn:
    """The counts that the gate judges. `compared` pages had a held record that could be compared with the answer."""

    checked: int
    gone: int
    failed: int
    compared: int
    changed: int


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether the visit may go on; `reason` is a sentence; `incomplete` says that the sweep itself failed."""

    closed: bool
    reason: str
    incomplete: bool = False


def judge(churn: Churn, limits: GateLimits) -> GateDecision:
    """Judge a visit: failures first (the numbers below would mean nothing), then disappearance, then change."""
    if _above(churn.failed, churn.checked, limits.failed, limits.min_pages):
        return GateDecision(
            True, _sentence(churn.failed, churn.checked, "checks failed", limits.failed, "failed"), True
        )
    if _above(churn.gone, churn.checked, limits.gone, limits.min_pages):
        return GateDecision(True, _sentence(churn.gone, churn.checked, "pages disappeared", limits.gone, "gone"))
    if _above(churn.changed, churn.compared, limits.changed, limits.min_pages):
        return GateDecision(True, _sentence(churn.changed, churn.compared, "pages changed", limits.changed, "changed"))
    share = churn.changed / churn.compared if churn.compared else 0.0
    return GateDecision(False, f"{churn.changed} of {churn.compared} compared pages changed ({_percent(share)})")


def _above(count: int, total: int, limit: float, min_pages: int) -> bool:
    return total >= min_pages and total > 0 and count / total > limit


def _sentence(count: int, total: int, what: str, limit: float, key: str) -> str:
    return f"{count} of {total} {what} ({_percent(count / total)}), above gate.{key} = {_percent(limit)}"


def _percent(share: float) -> str:
    """Per cent with a decimal where it tells: a share just above its limit must not look like the limit."""
    return f"{share * 100:.1f}".removesuffix(".0") + "%"
