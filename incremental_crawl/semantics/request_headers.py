"""Which header lines go with a request, by the origin it is sent to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)  # RFC 9110 §5.6.2

# What frames a request, makes it conditional or partial, or is said request by request.
_OURS = frozenset(
    {
        "accept-encoding",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "pragma",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """The header fields of a site's requests.

    `common` go to every origin. `own` (which may hold secrets) go only to `origins` (`https://shop.example`) and
    replace common ones of the same name there.
    """

    common: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: frozenset[str] = frozenset()

    def to(self, origin: str) -> Mapping[str, str]:
        """The fields of a request to `origin`, as `semantics.urls.origin_of` writes it."""
        if origin not in self.origins or not self.own:
            return self.common
        replaced = {name.lower() for name in self.own}
        return {name: value for name, value in self.common.items() if name.lower() not in replaced} | dict(self.own)


def refusal(name: str) -> str | None:
    """Why a header of this name may not be set in a site file, as a part of a sentence; None where it may be."""
    if not _TOKEN.fullmatch(name):
        return "it is not the name of a header"
    folded = name.lower()
    if folded == "user-agent":
        return "the user agent is set by politeness.user_agent"
    if folded in _OURS or folded.startswith(("if-", "proxy-", "sec-websocket-")):
        return "the crawler sets it itself"
    return None
