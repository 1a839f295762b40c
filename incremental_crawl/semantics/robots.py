"""The rules of one robots.txt (RFC 9309), read tolerantly and within limits."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from protego import Protego

PARSED_BYTES = 500 * 1024
LONGEST_CRAWL_DELAY_S = 60.0

# str.splitlines ends lines at these, RFC 9309 §2.2 does not: a comment could smuggle in a rule.
_NOT_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one origin's robots.txt allows; `truncated` says that rules at its end were left out."""

    _rules: Protego
    truncated: bool = False

    @classmethod
    def parse(cls, body: bytes, complete: bool = True) -> RobotsRules:
        """The rules in `body`, decoded content of any size, of which the first 500 KiB count (RFC 9309 §2.5).

        `complete=False` says that the body was cut while it was received. A line that a cut went through is no rule.
        """
        whole = _whole_lines(body, complete)
        text = whole.removeprefix(codecs.BOM_UTF8).decode(errors="replace").lstrip("\ufeff")
        return cls(Protego.parse(_NOT_LINE_ENDS.sub(" ", text)), truncated=not complete or len(body) > PARSED_BYTES)

    @classmethod
    def allow_all(cls) -> RobotsRules:
        """The rules of an origin that has none (RFC 9309 §2.3.1.3)."""
        return cls.parse(b"")

    def allowed(self, url: str, user_agent: str) -> bool:
        """Whether `user_agent` (a whole User-Agent field or its product token) may ask for the canonical URL."""
        return bool(self._rules.can_fetch(url, user_agent))

    def crawl_delay(self, user_agent: str) -> float | None:
        """Seconds between two requests that the file asks of `user_agent`, at most 60; None where it asks nothing.

        Not in RFC 9309 (§2.2.4 leaves other records open): values that are no number or negative are ignored.
        """
        delay = self._rules.crawl_delay(user_agent)
        return None if delay is None else min(float(delay), LONGEST_CRAWL_DELAY_S)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines, each once, in order, as written: possibly relative or no URL at all."""
        return tuple(dict.fromkeys(self._rules.sitemaps))


def _whole_lines(body: bytes, complete: bool) -> bytes:
    if complete and len(body) <= PARSED_BYTES:
        return body
    # One byte more, so that a line which ends exactly at the limit is kept.
    window = body[: PARSED_BYTES + 1]
    return window[: max(window.rfind(b"\n"), window.rfind(b"\r")) + 1]
