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
# What editors and scripts that join files leave between the letters.
_INVISIBLE = re.compile("[\0\ufeff]")
_AGENT_LINE = re.compile(r"(?im)^([^\S\n]*user[- ]?agent(?:[^\S\n]*:|[^\S\n])[^\S\n]*)\*?([a-z0-9_-]+)[^\n]*")
_PRODUCT = re.compile(r"[A-Za-z0-9_-]+(?=/[0-9])")
_COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z0-9_-]+)")
_WORD = re.compile(r"[A-Za-z0-9_-]+")


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
        text = _NOT_LINE_ENDS.sub(" ", _decoded(_whole_lines(body, complete))).replace("\r", "\n")
        rules = Protego.parse(_AGENT_LINE.sub(r"\1\2/", text))
        return cls(rules, truncated=not complete or len(body) > PARSED_BYTES)

    @classmethod
    def allow_all(cls) -> RobotsRules:
        """The rules of an origin that has none (RFC 9309 §2.3.1.3)."""
        return cls.parse(b"")

    def allowed(self, url: str, user_agent: str) -> bool:
        """Whether `user_agent` (a whole User-Agent field or its product token) may ask for the canonical URL."""
        return bool(self._rules.can_fetch(url, _group_name(user_agent)))

    def crawl_delay(self, user_agent: str) -> float | None:
        """Seconds between two requests that the file asks of `user_agent`, at most 60; None where it asks nothing.

        Not in RFC 9309 (§2.2.4 leaves other records open): values that are no number or negative are ignored.
        """
        delay = self._rules.crawl_delay(_group_name(user_agent))
        return None if delay is None else min(float(delay), LONGEST_CRAWL_DELAY_S)

    def not_heeded(self, user_agent: str) -> list[str]:
        """Sentences about what the file asks of `user_agent` and what is not kept to the letter."""
        told = []
        if self.truncated:
            told.append(f"longer than {PARSED_BYTES} bytes: the rules at its end do not count")
        delay = self._rules.crawl_delay(_group_name(user_agent))
        if delay is not None and delay > LONGEST_CRAWL_DELAY_S:
            told.append(f"asks for a Crawl-delay of {delay:g} s: {LONGEST_CRAWL_DELAY_S:g} s are kept")
        return told

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines, each once, in order, as written: possibly relative or no URL at all."""
        return tuple(dict.fromkeys(self._rules.sitemaps))


def product_token(user_agent: str) -> str:
    """The name by which robots.txt and X-Robots-Tag call a crawler (RFC 9309 §2.2.1), `ExampleBot` of `ExampleBot/1.0`.

    It is the first word; of one that calls itself Mozilla the word after `compatible;` or else the last product.
    """
    first = _WORD.search(user_agent)
    if first is None or first[0].lower() != "mozilla":
        return first[0] if first else ""
    compatible, products = _COMPATIBLE.search(user_agent), list(_PRODUCT.finditer(user_agent))
    if compatible is not None:
        return compatible[1]
    return products[-1][0] if products else first[0]


def _group_name(user_agent: str) -> str:
    """Names end with a slash here, as in the lines of the file: the parser would take `Example` for `ExampleBot`."""
    return f"{product_token(user_agent)}/"


def _decoded(body: bytes) -> str:
    """The text, in UTF-8 as it has to be (RFC 9309 §2.3) or, where a mark says so, in UTF-16."""
    marked = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return _INVISIBLE.sub("", body.decode("utf-16" if marked else "utf-8", errors="replace"))


def _whole_lines(body: bytes, complete: bool) -> bytes:
    if complete and len(body) <= PARSED_BYTES:
        return body
    # One byte more, so that a line which ends exactly at the limit is kept.
    window = body[: PARSED_BYTES + 1]
    return window[: max(window.rfind(b"\n"), window.rfind(b"\r")) + 1]
