"""The lines that stand for links and images, without the parts of an address that name a session or a load."""

from __future__ import annotations

import re
from functools import lru_cache

_PASSING = re.compile(
    r"_|utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|yclid|cb|cachebust\w*|cache_?buster|nocache|nonce|csrf\w*|_?token"
    r"|xsrf\w*|authenticity_token|ts|timestamp|rand(?:om)?|rnd|(?:php|asp)?_?sess(?:ion)?_?id|jsessionid|sid",
    re.IGNORECASE,
)
_PATH_SESSION = re.compile(r";jsessionid=[^/?#]*", re.IGNORECASE)
_NO_PAGE = ("javascript:", "data:", "blob:", "about:")


@lru_cache(maxsize=32_768)
def link_line(href: str) -> str | None:
    """The line of a link, `a </path?query>`; None for links that lead nowhere else."""
    address = _cleaned(href)
    return f"a <{address}>" if address else None


@lru_cache(maxsize=8_192)
def image_line(src: str) -> str | None:
    """The line of an image, its query left out; None for images without an address."""
    address = _cleaned(src).partition("?")[0]
    return f"img <{address}>" if address else None


def _cleaned(address: str) -> str:
    address = "".join(address.partition("#")[0].split())
    if address[:11].lower().startswith(_NO_PAGE):
        return ""
    if ";" in address:
        address = _PATH_SESSION.sub("", address)
    path, mark, query = address.partition("?")
    return path + _lasting(query) if mark else address


def _lasting(query: str) -> str:
    kept = [part for part in query.split("&") if not _PASSING.fullmatch(part.partition("=")[0])]
    return "?" + "&".join(kept) if any(kept) else ""
