"""What is known of a host's validators, in sentences with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from incremental_crawl.semantics.server_software import NOTHING_SAID, HostSigns
from incremental_crawl.semantics.server_ways import told_of
from incremental_crawl.semantics.trust import ENOUGH_ANSWERS, Ledger, Signature, TrustMode

_CONFIDENCE = 3.0
"""No event in n trials bounds its rate below 3/n with 95 % confidence."""
_MOST_SENTENCES = 4
_SUMMED = frozenset(
    "conditional not_modified same_record recent_not_modified recent_same_record flips unasked bodies bare audits "
    "clean_audits false_304 distrusted head_agreed head_disagreed".split()
)


def host_mode(groups: Sequence[Ledger]) -> TrustMode:
    """The mode of most of the host's recent answers."""
    kinds = _kinds(groups)
    return kinds[0].mode if kinds else TrustMode.BOTH


def host_verdict(groups: Sequence[Ledger], signs: HostSigns = NOTHING_SAID) -> str:
    """The verdict on a host: a sentence for each kind of behaviour, with the path groups where they differ.

    Then what its answers say of the software behind them. Names in brackets are those of docs/servers.md.
    """
    return " · ".join([*_told_of_groups(_kinds(groups)), *told_of(signs)])


def _told_of_groups(kinds: Sequence[Ledger]) -> list[str]:
    if not kinds:
        return [verdict(Ledger("", "/"))]
    if len(kinds) == 1:
        return [verdict(kinds[0])]
    return [f"{kind.path_group}: {verdict(kind)}" for kind in kinds[:_MOST_SENTENCES]]


def verdict(ledger: Ledger) -> str:
    """What is known of one path group."""
    return "; ".join([_mode_sentence(ledger), *_remarks(ledger)])


def _mode_sentence(ledger: Ledger) -> str:
    share = (
        f"{ledger.not_modified} of {ledger.not_modified + ledger.same_record} answers about unchanged pages were 304"
    )
    match ledger.mode:
        case TrustMode.BOTH:
            return _sentence_of_both(ledger, share)
        case TrustMode.TAG_ONLY:
            return f"its Last-Modified moves with the same record; only the ETag is sent ({share})"
        case TrustMode.SUFFIX_LIST:
            return (
                'its ETag carries the suffix of a content coding (such as Apache\'s "-gzip") and never matches as it '
                f"came (SUFFIX); it is sent with and without the suffix ({share})"
            )
        case TrustMode.DATE_ONLY if ledger.cause is Signature.SUFFIX:
            return (
                "its ETag names the content coding and never matches (SUFFIX), nor does a list (NOLIST); only the date "
                f"is sent ({share})"
            )
        case TrustMode.DATE_ONLY:
            return f"its ETag rotates: another tag came with the same record; only the date is sent ({share})"
        case TrustMode.HASH_ONLY if ledger.cause is Signature.FALSE_304:
            until = "" if ledger.retry_at is None else f" until {ledger.retry_at:%Y-%m-%d}"
            return (
                f"false 304: {ledger.false_304} of {ledger.audits} audited pages had changed although they were "
                f"answered 304; its 304s count for nothing{until}, and pages are compared by hash"
            )
        case TrustMode.HASH_ONLY:
            return f"validators are not useful: {share}{_WHY_USELESS.get(ledger.cause, '')}; pages are compared by hash"


def _sentence_of_both(ledger: Ledger, share: str) -> str:
    answered = ledger.not_modified + ledger.same_record
    if not answered and ledger.bare and ledger.bare == ledger.bodies:
        return (
            "it sends neither ETag nor Last-Modified, as filters and scripts do (FILTERED): pages are compared by hash"
        )
    if not answered:
        return "no conditional request about an unchanged page has been answered yet"
    if 2 * ledger.not_modified > answered:
        return f"conditional requests are honoured: {share}"
    if ledger.judged < ENOUGH_ANSWERS:
        return f"{share}; too few of late to judge"
    return f"conditional requests are honoured in part: {share}"


_WHY_USELESS = {
    Signature.BOTH_MOVE: ", its validators change with every answer",
    Signature.TAG_ROTATES: ", its ETag changes with every answer",
    Signature.IGNORED: ", it sends the body again to the very validators that came with it",
    Signature.SUFFIX: ", it sends the body again to the very validators that came with it",
}


def _remarks(ledger: Ledger) -> list[str]:
    remarks = []
    if ledger.flips:
        remarks.append(f"{ledger.flips} tags differed between 200 and 304 only in W/, which is no change (FLIP)")
    if ledger.unasked:
        remarks.append(f"it answered 304 to {ledger.unasked} requests without a condition")
    if ledger.false_304 and ledger.cause is not Signature.FALSE_304:
        times = "one false 304" if ledger.false_304 == 1 else f"{ledger.false_304} false 304s"
        remarks.append(f"{times} in {ledger.audits} audits: ten times as many pages are audited")
    elif ledger.clean_audits and not ledger.false_304:
        remarks.append(clean_audits(ledger.clean_audits))
    if ledger.head_disagreed:
        remarks.append("HEAD and GET disagree (HEAD): HEAD is not used")
    elif ledger.head_trusted:
        remarks.append("HEAD agrees with GET")
    return remarks


def clean_audits(count: int) -> str:
    """The bound that audits without a false 304 give."""
    share = _CONFIDENCE / count
    if share >= 1:
        return f"no false 304 in {count} audits, too few for a bound"
    return f"no false 304 in {count} audits: below {100 * share:.2g} % with 95 % confidence"


def _kinds(groups: Sequence[Ledger]) -> list[Ledger]:
    """The ledgers of groups that behave alike added up, those with most answers first."""
    alike: dict[tuple[TrustMode, Signature, bool], list[Ledger]] = {}
    for group in groups:
        cause = Signature.NONE if group.mode is TrustMode.BOTH else group.cause
        alike.setdefault((group.mode, cause, _has_validators(group)), []).append(group)
    summed = [_summed(own) for own in alike.values()]
    return sorted(summed, key=lambda own: (-own.judged, -own.bodies, own.path_group))


def _has_validators(group: Ledger) -> bool:
    return group.conditional > 0 or group.bare < group.bodies


def _summed(groups: Sequence[Ledger]) -> Ledger:
    named = {
        own.name: sum(getattr(group, own.name) for group in groups) for own in fields(Ledger) if own.name in _SUMMED
    }
    paths = sorted(group.path_group for group in groups)
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    retries = [group.retry_at for group in groups if group.retry_at is not None]
    return replace(groups[0], path_group=shown, retry_at=max(retries, default=None), **named)
