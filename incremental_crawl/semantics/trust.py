"""Which of a server's validators can be believed: learnt per host and path group from what it answers.

Everything here is about pages whose record did not change: a server that answers them 304 is believed, one that sends
the body again has a defect whose signature tells which condition is worth sending.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from incremental_crawl.semantics.head_requests import HEAD_PROBES
from incremental_crawl.semantics.validators import Validators, without_coding

ENOUGH_ANSWERS = 20
"""So many answers about unchanged pages make a 304 ratio."""
AGREEING_VISITS = 2
"""A mode that drops one validator is adopted when so many visits in a row speak for it."""
FALSE_304_LIMIT = 2
"""So many false 304s make a group distrusted; one is enough on a page with declared fields."""
FIRST_DISTRUST = timedelta(days=30)
LONGEST_DISTRUST = timedelta(days=360)
"""How long a group that answered false 304s is asked without conditions: doubled at each relapse."""
UNPROVEN_AUDITS = 50
"""While fewer audits than this came out clean, twice the share is drawn."""
RAISED_AUDITS = 150
"""After a false 304 ten times the share is drawn until so many audits came out clean."""


class TrustMode(StrEnum):
    """What is sent with a conditional request; the `mode` column of `hosts`."""

    BOTH = "both"
    TAG_ONLY = "tag_only"
    DATE_ONLY = "date_only"
    SUFFIX_LIST = "suffix_list"
    HASH_ONLY = "hash_only"


class Signature(StrEnum):
    """How a server answered conditional requests about unchanged pages."""

    NONE = "none"
    HONOURED = "honoured"
    TAG_ROTATES = "tag_rotates"
    DATE_MOVES = "date_moves"
    BOTH_MOVE = "both_move"
    SUFFIX = "suffix"
    IGNORED = "ignored"
    FALSE_304 = "false_304"


_MODE_OF = {
    Signature.TAG_ROTATES: TrustMode.DATE_ONLY,
    Signature.DATE_MOVES: TrustMode.TAG_ONLY,
    Signature.SUFFIX: TrustMode.SUFFIX_LIST,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One visit's answers of one path group, counted. `same_record` answers were a 200 with the record that is held.

    Of these, `tag_rotated` came with another entity tag and the same date, `date_moved` with another date and the same
    tag, `both_moved` with nothing that was sent, `suffixed` with both as sent, the tag naming a content coding, and
    `ignored` with both as sent. `tried` and `tried_not_modified` are of requests that sent more than the mode says.
    `flips` are 304s whose tag differs from the sent one only in W/, `unasked` 304s to a request without a condition,
    `bodies` all 200s and `bare` those of them without a validator.
    """

    conditional: int = 0
    not_modified: int = 0
    same_record: int = 0
    tag_rotated: int = 0
    date_moved: int = 0
    both_moved: int = 0
    suffixed: int = 0
    ignored: int = 0
    tried: int = 0
    tried_not_modified: int = 0
    flips: int = 0
    unasked: int = 0
    bodies: int = 0
    bare: int = 0
    audits: int = 0
    false_304: int = 0
    false_on_fields: int = 0
    head_agreed: int = 0
    head_disagreed: int = 0

    @property
    def accuses(self) -> bool:
        """Whether a 304 or a HEAD of the group proved to be false."""
        return self.false_304 > 0 or self.head_disagreed > 0


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is known of one path group of a host (`host:port`); a row of the state's `ledger`.

    `suspected` is what the newest visits speak for, `suspected_visits` how many in a row. The `recent_*` counts are
    halved at every visit that adds to them. `clean_audits` counts since the last false 304; `retry_at` is when a group
    that answered a false 304 is asked conditionally again.
    """

    host: str
    path_group: str
    mode: TrustMode = TrustMode.BOTH
    cause: Signature = Signature.NONE
    suspected: Signature = Signature.NONE
    suspected_visits: int = 0
    conditional: int = 0
    not_modified: int = 0
    same_record: int = 0
    recent_not_modified: float = 0.0
    recent_same_record: float = 0.0
    flips: int = 0
    unasked: int = 0
    bodies: int = 0
    bare: int = 0
    audits: int = 0
    clean_audits: int = 0
    false_304: int = 0
    distrusted: int = 0
    retry_at: datetime | None = None
    head_agreed: int = 0
    head_disagreed: int = 0

    @property
    def head_trusted(self) -> bool:
        """Whether HEAD may stand for GET: it agreed often enough and never disagreed."""
        return self.head_agreed >= HEAD_PROBES and not self.head_disagreed

    @property
    def judged(self) -> float:
        """Recent answers about unchanged pages."""
        return self.recent_not_modified + self.recent_same_record


def conditions(stored: Validators, mode: TrustMode) -> Validators:
    """What of the stored validators is sent under `mode`; nothing where the mode distrusts all that is stored.

    A suffix list holds the tag as it came and without its content coding's suffix: a server that adds the suffix to
    what it sends compares with the one without (RFC 9110 §8.8.3.3).
    """
    match mode:
        case TrustMode.BOTH:
            return stored
        case TrustMode.TAG_ONLY:
            return Validators(stored.etag, None)
        case TrustMode.DATE_ONLY:
            return Validators(None, stored.last_modified)
        case TrustMode.SUFFIX_LIST:
            return Validators(_with_bare_tag(stored.etag), stored.last_modified)
        case TrustMode.HASH_ONLY:
            return Validators()


def learn(ledger: Ledger, evidence: Evidence, now: datetime, min_304_ratio: float) -> Ledger:
    """The ledger after one more visit."""
    counted = _counted(ledger, evidence)
    if distrusts(ledger, evidence):
        wait = min(FIRST_DISTRUST * 2**ledger.distrusted, LONGEST_DISTRUST)
        return replace(
            counted,
            mode=TrustMode.HASH_ONLY,
            cause=Signature.FALSE_304,
            suspected=Signature.NONE,
            suspected_visits=0,
            distrusted=ledger.distrusted + 1,
            retry_at=now + wait,
        )
    if ledger.cause is Signature.FALSE_304:
        if ledger.retry_at is None or now < ledger.retry_at or not evidence.conditional:
            return counted
        # On probation: one more false 304 is enough.
        return replace(counted, mode=TrustMode.BOTH, cause=Signature.NONE, false_304=1, clean_audits=0, retry_at=None)
    return _suspecting(counted, signature(ledger.mode, evidence), min_304_ratio)


def distrusts(ledger: Ledger, evidence: Evidence) -> bool:
    """Whether a visit's false 304s mean that the group's 304s count for nothing any more."""
    if not evidence.false_304:
        return False
    return ledger.false_304 + evidence.false_304 >= FALSE_304_LIMIT or evidence.false_on_fields > 0


def signature(mode: TrustMode, evidence: Evidence) -> Signature:
    """What a visit's answers speak for; NONE where they say nothing.

    Under a mode that sends less than everything, requests that tried everything say whether the defect is over.
    """
    if mode is not TrustMode.BOTH and 2 * evidence.tried_not_modified > evidence.tried:
        return Signature.HONOURED
    answered = evidence.not_modified + evidence.same_record
    if not answered:
        return Signature.NONE
    if mode is TrustMode.BOTH and 2 * evidence.not_modified > answered:
        return Signature.HONOURED
    counts = {
        Signature.TAG_ROTATES: evidence.tag_rotated,
        Signature.DATE_MOVES: evidence.date_moved,
        Signature.SUFFIX: evidence.suffixed,
        Signature.IGNORED: evidence.ignored,
        Signature.BOTH_MOVE: evidence.both_moved,
    }
    common = max(counts, key=lambda own: counts[own])
    return common if 2 * counts[common] > evidence.same_record else Signature.NONE


def audit_share(base: float, ledger: Ledger) -> float:
    """The share of a group's 304s that is audited, of which `base` is the least; 0 where the site wants none."""
    if ledger.false_304 and ledger.clean_audits < RAISED_AUDITS:
        return min(1.0, 10 * base)
    return base


def _counted(ledger: Ledger, evidence: Evidence) -> Ledger:
    added = evidence.not_modified + evidence.same_record > 0
    kept = 0.5 if added else 1.0
    return replace(
        ledger,
        conditional=ledger.conditional + evidence.conditional,
        not_modified=ledger.not_modified + evidence.not_modified,
        same_record=ledger.same_record + evidence.same_record,
        recent_not_modified=ledger.recent_not_modified * kept + evidence.not_modified,
        recent_same_record=ledger.recent_same_record * kept + evidence.same_record,
        flips=ledger.flips + evidence.flips,
        unasked=ledger.unasked + evidence.unasked,
        bodies=ledger.bodies + evidence.bodies,
        bare=ledger.bare + evidence.bare,
        audits=ledger.audits + evidence.audits,
        clean_audits=0 if evidence.false_304 else ledger.clean_audits + evidence.audits,
        false_304=ledger.false_304 + evidence.false_304,
        head_agreed=ledger.head_agreed + evidence.head_agreed,
        head_disagreed=ledger.head_disagreed + evidence.head_disagreed,
    )


def _suspecting(ledger: Ledger, seen: Signature, min_304_ratio: float) -> Ledger:
    if seen is Signature.NONE:
        return _if_useless(ledger, min_304_ratio)
    visits = ledger.suspected_visits + 1 if seen is ledger.suspected else 1
    suspecting = replace(ledger, suspected=seen, suspected_visits=visits)
    if seen is Signature.HONOURED:
        if ledger.mode is TrustMode.BOTH:
            return replace(suspecting, cause=seen)
        return _adopted(suspecting, TrustMode.BOTH, seen) if _over(suspecting, min_304_ratio) else suspecting
    mode = _better_mode(ledger.mode, seen)
    if mode is not None:
        return _adopted(suspecting, mode, seen) if visits >= AGREEING_VISITS else suspecting
    return _if_useless(suspecting, min_304_ratio)


def _better_mode(mode: TrustMode, seen: Signature) -> TrustMode | None:
    if mode is TrustMode.BOTH:
        return _MODE_OF.get(seen)
    if mode is TrustMode.SUFFIX_LIST and seen is Signature.SUFFIX:
        return TrustMode.DATE_ONLY  # the server does not understand a list of tags
    return None


def _over(ledger: Ledger, min_304_ratio: float) -> bool:
    """Whether a defect is over: several visits say so, or enough answers do."""
    ratio = ledger.recent_not_modified / ledger.judged if ledger.judged else 0.0
    return ledger.suspected_visits >= AGREEING_VISITS or ratio >= max(min_304_ratio, 0.5)


def _if_useless(ledger: Ledger, min_304_ratio: float) -> Ledger:
    if ledger.judged < ENOUGH_ANSWERS or ledger.recent_not_modified >= min_304_ratio * ledger.judged:
        return ledger
    cause = ledger.suspected if ledger.suspected is not Signature.NONE else ledger.cause
    return replace(ledger, mode=TrustMode.HASH_ONLY, cause=cause)


def _adopted(ledger: Ledger, mode: TrustMode, cause: Signature) -> Ledger:
    fresh = replace(ledger, suspected=Signature.NONE, suspected_visits=0)
    return replace(fresh, mode=mode, cause=cause, recent_not_modified=0.0, recent_same_record=0.0)


def _with_bare_tag(etag: str | None) -> str | None:
    if etag is None or without_coding(etag) == etag:
        return etag
    return f"{etag}, {without_coding(etag)}"
