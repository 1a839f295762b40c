"""Why a body could not be decoded."""

from __future__ import annotations

from typing import ClassVar

from incremental_crawl.semantics.answers import FailureKind


class CodingFault(Exception):
    """The body cannot be used; the message is a sentence for people."""

    kind: ClassVar[FailureKind]


class Truncated(CodingFault):
    """The coding's end mark never came: half a page."""

    kind = FailureKind.INCOMPLETE


class TooLarge(CodingFault):
    """Decoding would exceed the limit."""

    kind = FailureKind.TOO_LARGE


class Undecodable(CodingFault):
    """The bytes break the coding's rules."""

    kind = FailureKind.UNDECODABLE
