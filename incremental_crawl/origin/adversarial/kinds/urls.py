"""Addresses that are not to be touched: each page exists in one spelling only (RFC 3986 §6.2)."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import earned, never, requested
from incremental_crawl.origin.adversarial.say import honest, not_found

behaviour = Declaring(Kind.URLS)
_FIXED = "v1 v1 v1 v2"


def _exact(name: str, summary: str, right: str, authority: str, *pages: str, strange: str = "") -> None:
    def respond(asked: Asked) -> Script:
        return honest(asked) if asked.target in pages else not_found(asked)

    checks = [earned(1, 2, page=page) for page in pages[:1]] + [requested(page, 0, 3) for page in pages]
    behaviour.add(
        name, respond, summary, right, authority, dict.fromkeys(pages, _FIXED), *checks, *([never(strange)] if strange else [])
    )  # fmt: skip


_SPELT = "Asked as it is spelt."
_exact("tilde-escaped", "Has pages at `/%7Eann` and `/~ann` that differ.", _SPELT, "RFC 3986 §6.2.2.2; WHATWG URL",
       "/%7Eann", "/~ann")  # fmt: skip
_exact("brackets", "Has brackets in its query.", _SPELT, "WHATWG URL, query percent-encode set",
       "/list?x[]=1&y[0]=2", strange="/list?x%5B%5D=1&y%5B0%5D=2")  # fmt: skip
_exact("letter-case", "Has pages at `/Page` and `/page` that differ.", _SPELT, "RFC 3986 §6.2.2.1", "/Page", "/page")
_exact("trailing-slash", "Has pages at `/dir` and `/dir/` that differ.", _SPELT, "RFC 3986 §6.2.3", "/dir", "/dir/")
_exact("empty-query", "Has pages at `/q` and `/q?` that differ.", _SPELT, "RFC 3986 §6.2.3", "/q", "/q?")
_exact("query-order", "Has pages at `?b=2&a=1` and `?a=1&b=2` that differ, and keys that repeat.", _SPELT, "RFC 3986 §3.4",
       "/s?b=2&a=1", "/s?a=1&b=2", "/s?a=1&a=2&a=1")  # fmt: skip
_exact("plus-and-space", "Has pages at `?q=a+b` and `?q=a%20b` that differ.", _SPELT, "RFC 3986 §2.2",
       "/s?q=a+b", "/s?q=a%20b")  # fmt: skip
_exact("escaped-slash", "Has pages at `/a%2Fb` and `/a/b` that differ.", _SPELT, "RFC 3986 §2.2", "/a%2Fb", "/a/b")
_exact("double-slash", "Has a page at `//double//slash`.", _SPELT, "RFC 3986 §3.3", "//double//slash")
_exact("reserved-characters", "Has reserved characters in a path.", _SPELT, "RFC 3986 §2.2, §3.3",
       "/a:b@c,d;e=f$g!(h)*+'i'")  # fmt: skip
_exact("path-parameters", "Has path parameters.", _SPELT, "RFC 3986 §3.3", "/shop;lang=en/item;v=2")
_exact("non-ascii", "Has a path of Japanese letters.", "Percent-encoded as UTF-8.", "RFC 3987 §3.1; WHATWG URL",
       "/%E6%97%A5%E6%9C%AC")  # fmt: skip
_exact("escaped-nul", "Has a NUL and dot segments in escaped form.", "Asked as it is spelt; no path of a file is made of it.",
       "RFC 3986 §6.2.2", "/a%00b", "/..%2F..%2Ftmp%2Fz")  # fmt: skip
_exact("long-query", "Has a query of 2,000 characters.", "No limit below 8,000.", "RFC 9110 §4.1",
       "/s?q=" + "0123456789" * 200)  # fmt: skip
_exact("bare-percent", "Has a percent sign that escapes nothing.", "Left as it is.", "WHATWG URL, path state",
       "/100%/sure")  # fmt: skip
