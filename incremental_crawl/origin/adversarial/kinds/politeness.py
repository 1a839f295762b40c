"""Servers that are overloaded and say so (RFC 6585 §4, RFC 9110 §10.2.3, §15.6.4)."""

from __future__ import annotations

import time
from datetime import timedelta

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import at_most, earned
from incremental_crawl.origin.adversarial.say import answer, honest
from incremental_crawl.origin.representation import http_date

behaviour = Declaring(Kind.POLITENESS)
_LATER = "new retry_later not_modified changed not_modified not_modified"
_RIGHT = "Put off, the old page stands, and the host is left alone meanwhile."
_BUSY = "<h1>Busy</h1><p>Please come back later.</p>"


def _busy(name: str, status: int, value: str | None, summary: str, authority: str, most: int = 2) -> None:
    def respond(asked: Asked) -> Script:
        if asked.round != 1:
            return honest(asked)
        after = http_date(asked.now + timedelta(hours=2)) if value == "date" else value
        return answer(asked, status, _BUSY, *([] if after is None else [f"Retry-After: {after}"]))

    behaviour.add(
        name, respond, summary, _RIGHT, authority, None, earned(2), at_most(most, "/page", 1), outcomes=_LATER
    )  # fmt: skip


_busy("429-seconds", 429, "3600", "Answers 429 with a Retry-After of an hour.", "RFC 6585 §4; RFC 9110 §10.2.3")
_busy("429-date", 429, "date", "Answers 429 with a Retry-After as a date.", "RFC 9110 §10.2.3")
_busy("429-absurd", 429, "99999999999999999999", "Answers 429 with a Retry-After of billions of years.",
      "RFC 9110 §10.2.3; limit of the client: a day")  # fmt: skip
_busy("429-unreadable", 429, "soon", "Answers 429 with a Retry-After that is none.", "RFC 9110 §10.2.3", 4)
_busy("429-bare", 429, None, "Answers 429 without saying how long.", "RFC 6585 §4", 4)
_busy("503-seconds", 503, "120", "Answers 503 with a Retry-After of two minutes.", "RFC 9110 §15.6.4, §10.2.3")
_busy("503-bare", 503, None, "Answers 503 without saying how long.", "RFC 9110 §15.6.4", 4)
_busy("425-early", 425, None, "Answers 425 Too Early.", "RFC 8470 §5.2", 4)
_busy("408-timeout", 408, None, "Answers 408 Request Timeout.", "RFC 9110 §15.5.9", 4)


@behaviour("No failure is a change or an end: the old page stands.",
           "RFC 9110 §15.6", {f"/page{code}": "v1 v1 v1 v2" for code in (500, 502, 504)},
           outcomes="new retry_later retry_later changed not_modified not_modified")  # fmt: skip
def server_errors(asked: Asked) -> Script:
    """Answers 500, 502 and 504 in turn for two rounds."""
    if asked.round in (1, 2):
        return answer(asked, int(asked.path.removeprefix("/page")), "<h1>Server Error</h1>")
    return honest(asked)


_PAGES = {f"/page{number}": "v1|- v1|- v1 v2" for number in range(1, 9)}


@behaviour("The whole host is given a pause, not each page a few tries; nothing is lost or gone.",
           "RFC 6585 §4", _PAGES, at_most(40), outcomes="new|retry_later new|retry_later|not_modified "
           "new|not_modified changed not_modified not_modified")  # fmt: skip
def four_a_second(asked: Asked) -> Script:
    """Allows four requests a second; each further one is a 429 without Retry-After."""
    if asked.round > 1:
        return honest(asked)
    began, count = asked.memory.get("window", (0.0, 0))
    fresh = time.monotonic() - began > 1.0
    asked.memory["window"] = (time.monotonic(), 1) if fresh else (began, count + 1)
    return honest(asked) if fresh or count < 4 else answer(asked, 429, _BUSY)
