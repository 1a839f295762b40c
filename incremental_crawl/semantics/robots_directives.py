"""What a page's X-Robots-Tag lines ask of crawlers; `noindex` and `nofollow` are all that counts here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from incremental_crawl.semantics.robots import product_token

_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_NAMED = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*:(.*)", re.DOTALL)
_FOR_ALL = frozenset({"robots", "*"})


def header_directives(lines: Iterable[str], user_agent: str) -> frozenset[str]:
    """The directives of X-Robots-Tag lines that are meant for everybody, or for the product of `user_agent`.

    `googlebot: noindex, nofollow` is for another crawler, up to the next name or the end of the line. `none` is both
    noindex and nofollow.
    """
    product = product_token(user_agent).lower()
    found: set[str] = set()
    for line in lines:
        addressed = True
        for part in line.split(","):
            named = _NAMED.fullmatch(part)
            directive = part
            if named is not None and named[1].lower() not in _WITH_VALUE:
                addressed = named[1].lower() in _FOR_ALL | {product}
                directive = named[2]
            if addressed:
                found.add(directive.strip().lower())
    return frozenset(found | {"noindex", "nofollow"} if "none" in found else found)
