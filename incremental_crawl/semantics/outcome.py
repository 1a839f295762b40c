"""Response classification: one table of (answer, what was sent, what is held) → what it means.

Statuses are read by RFC 9110 §15. Nothing but a 404 or 410 ever points to "gone", nothing but a 200 ever carries a
record, and a 304 confirms a record only where this request carried a condition and the record is still held.
"""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from incremental_crawl.semantics.answers import (
    Answer,
    Ask,
    Failure,
    FailureKind,
    NotModified,
    Redirected,
    Response,
)


class Outcome(StrEnum):
    """What a check said about a page; the `outcome` column of the observations dataset."""

    NEW = "new"
    MODIFIED = "modified"
    CHANGED = "changed"
    NOT_MODIFIED = "not_modified"
    SAME_HASH = "same_hash"
    REBASELINED = "rebaselined"
    GONE = "gone"
    SUSPECT_GONE = "suspect_gone"
    RESTORED = "restored"
    MOVED = "moved"
    INCOMPLETE = "incomplete"
    EMPTY = "empty"
    BLOCKED = "blocked"
    REFUSED = "refused"
    RETRY_LATER = "retry_later"
    ERROR = "error"


FAILED = frozenset(
    {Outcome.INCOMPLETE, Outcome.EMPTY, Outcome.BLOCKED, Outcome.REFUSED, Outcome.RETRY_LATER, Outcome.ERROR}
)
"""Outcomes that say nothing about the page: neither record nor validators move (RFC 9110 §15.6)."""


class Step(StrEnum):
    """What has to happen next where an answer alone does not settle it."""

    FOLLOW = "follow"
    ASK_UNCONDITIONALLY = "ask_unconditionally"


_STATUS: dict[int, Outcome] = {
    200: Outcome.MODIFIED,  # RFC 9110 §15.3.1; whether the record changed is for the digest to say
    203: Outcome.MODIFIED,  # §15.3.4
    204: Outcome.EMPTY,  # §15.3.5
    205: Outcome.EMPTY,  # §15.3.6
    206: Outcome.INCOMPLETE,  # §15.3.7: no range was asked for
    401: Outcome.BLOCKED,  # §15.5.2
    402: Outcome.BLOCKED,  # §15.5.3
    403: Outcome.BLOCKED,  # §15.5.4
    404: Outcome.SUSPECT_GONE,  # §15.5.5 does not say whether it is permanent
    407: Outcome.BLOCKED,  # §15.5.8
    408: Outcome.RETRY_LATER,  # §15.5.9
    410: Outcome.GONE,  # §15.5.11
    425: Outcome.RETRY_LATER,  # RFC 8470 §5.2
    429: Outcome.RETRY_LATER,  # RFC 6585 §4
    451: Outcome.BLOCKED,  # RFC 7725 §3
}

_FAILURE: dict[FailureKind, Outcome] = {
    FailureKind.DNS: Outcome.RETRY_LATER,
    FailureKind.CONNECT: Outcome.RETRY_LATER,
    FailureKind.TLS: Outcome.ERROR,
    FailureKind.TIMEOUT: Outcome.RETRY_LATER,
    FailureKind.DISCONNECTED: Outcome.RETRY_LATER,
    FailureKind.PROTOCOL: Outcome.ERROR,
    FailureKind.INCOMPLETE: Outcome.INCOMPLETE,
    FailureKind.TOO_LARGE: Outcome.ERROR,
    FailureKind.UNDECODABLE: Outcome.ERROR,
    FailureKind.FORBIDDEN_ADDRESS: Outcome.REFUSED,
    FailureKind.ROBOTS: Outcome.REFUSED,
    FailureKind.ROBOTS_UNAVAILABLE: Outcome.RETRY_LATER,
}


# Some servers choke on the condition, not on the request: 412 for a 304 (RFC 9110 §15.5.13 is not for GET's
# If-None-Match, §13.1.2), 431 for a long tag coming back (RFC 6585 §5), 400 for a tag they cannot parse.
_CONDITION_REFUSED = frozenset({400, 412, 431})


def status_outcome(status: int) -> Outcome:
    """What a final status that is neither a redirect nor a 304 means."""
    known = _STATUS.get(status)
    if known is not None:
        return known
    return Outcome.RETRY_LATER if status >= 500 else Outcome.ERROR


def classify(ask: Ask, answer: Answer, held: bool) -> Outcome | Step:
    """Classify `answer` to `ask`.

    `held` says whether the record that a 304 would confirm is held under this very URL. A 304 that confirms nothing
    (RFC 9110 §15.4.5 allows it only as the answer to a condition) asks for one request without a condition; if that
    one is answered 304 again, it is a protocol error.

    | answer            | sent               | held | meaning                        |
    | ----------------- | ------------------ | ---- | ------------------------------ |
    | 304               | condition          | yes  | not_modified                   |
    | 304               | condition          | no   | ask once more, unconditionally |
    | 304               | none               | any  | ask once more, unconditionally |
    | 304               | none, no-cache     | any  | error                          |
    | 301 302 303 307 8 | any                | any  | follow by hand                 |
    | 400 412 431       | condition          | any  | ask once more, unconditionally |
    | any other status  | any                | any  | `_STATUS`; 5xx retry_later     |
    | failure           | any                | any  | `_FAILURE`                     |
    """
    match answer:
        case NotModified():
            if ask.conditional:
                return Outcome.NOT_MODIFIED if held else Step.ASK_UNCONDITIONALLY
            return Outcome.ERROR if ask.no_cache else Step.ASK_UNCONDITIONALLY
        case Redirected():
            return Step.FOLLOW
        case Response(status=status) if ask.conditional and status in _CONDITION_REFUSED:
            return Step.ASK_UNCONDITIONALLY
        case Response(status=status):
            return status_outcome(status)
        case Failure(kind=kind):
            return _FAILURE[kind]
        case _:
            assert_never(answer)
