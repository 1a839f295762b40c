"""Canonical URLs by the WHATWG URL standard, URL patterns, and the scope of a site.

A canonical URL is the key of a page and goes on the wire unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote, unquote_plus

import ada_url

from incremental_crawl.semantics.digest import well_formed

_SCHEMES = ("http://", "https://")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_SHOWN_CHARACTERS = 200


class InvalidUrl(ValueError):
    """The text is not an http or https URL."""


def canonical_url(url: str, base: str | None = None, strip_params: Sequence[str] = ()) -> str:
    """The one form of `url` that identifies a page, resolved against `base` where that is given.

    WHATWG parsing (dot segments, default port, host in lower case and Punycode), without the fragment, percent-encoding
    in upper case (RFC 3986 §6.2.2.1); query order and a trailing slash stay. `strip_params` are parameter names, `*`
    for any characters, case-sensitive: they are removed from the query and from path parameters (`;jsessionid=1`).
    Applying it twice changes nothing. Raises InvalidUrl.
    """
    canonical = _parsed(url, base)
    if not strip_params:
        return canonical
    stripped = _without_params(canonical, _any_of_names(tuple(strip_params)))
    return canonical if stripped == canonical else _parsed(stripped)


def location_url(location: str, base: str, strip_params: Sequence[str] = ()) -> str:
    """The canonical URL that a Location field leads to from `base` (RFC 9110 §10.2.2).

    `location` is the wire bytes decoded as latin-1. Bytes beyond ASCII, which do not belong there, are percent-encoded
    as they came, whatever their charset may be. Raises InvalidUrl.
    """
    ascii_only = "".join(letter if letter < "\x80" else f"%{ord(letter):02X}" for letter in location)
    return canonical_url(ascii_only, base, strip_params)


def origin_of(url: str) -> str:
    """Scheme, host and port of an http or https URL, `https://shop.example:8443`; a default port is left out."""
    return f"{_scheme(url)}//{host_of(url)}"


def host_of(url: str) -> str:
    """Host and port of an http or https URL, `shop.example:8443`; a default port is left out. Raises InvalidUrl."""
    canonical = _parsed(url)
    authority = canonical[canonical.index("://") + 3 : _path_start(canonical)]
    return authority.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which URLs a rule is about, as written in a site file: a glob on path and query, or `re:` and a regex.

    In a glob `*` stands for any characters but `/`, `**` for any characters, `/**/` also for a single `/`; everything
    else, `?` included, stands for itself. The whole of path and query has to match. A regex is searched for anywhere
    in the canonical URL.
    """

    text: str
    _regex: re.Pattern[str] = field(compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """The pattern that `text` describes. Raises ValueError with a sentence that says what is allowed."""
        if text.startswith("re:"):
            return cls(text, _regex_of(text))
        return cls(text, re.compile(_glob_regex(_canonical_glob(text)), re.DOTALL))

    def matches(self, url: str) -> bool:
        """Whether the canonical URL `url` is one that the pattern describes."""
        if self.text.startswith("re:"):
            return self._regex.search(url) is not None
        return self._regex.fullmatch(url, _path_start(url)) is not None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which URLs belong to a site: its hosts (`host:port` without a default port), narrowed by patterns."""

    hosts: frozenset[str]
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()

    def contains(self, url: str) -> bool:
        """Whether the canonical URL is on one of the hosts, included (no `include` is all) and not excluded."""
        try:
            return host_of(url) in self.hosts and self.admits(url)
        except InvalidUrl:
            return False

    def admits(self, url: str) -> bool:
        """Whether the patterns include and do not exclude the canonical URL, which is on one of the hosts."""
        included = not self.include or any(pattern.matches(url) for pattern in self.include)
        return included and not any(pattern.matches(url) for pattern in self.exclude)


def _parsed(url: str, base: str | None = None) -> str:
    try:
        href = _href(well_formed(url), base)
    except ValueError:
        raise InvalidUrl(f"{_shown(url, base)} is not a URL; write it as https://host/path") from None
    if not href.startswith(_SCHEMES):
        raise InvalidUrl(f"{_shown(url, base)} is not an http or https URL; only these two can be crawled")
    return _ESCAPE.sub(lambda escape: escape[0].upper(), href.partition("#")[0])


def _href(url: str, base: str | None) -> str:
    return ada_url.normalize_url(url) if base is None else ada_url.join_url(well_formed(base), url)


def _shown(url: str, base: str | None) -> str:
    shown = repr(url if len(url) <= _SHOWN_CHARACTERS else f"{url[:_SHOWN_CHARACTERS]}…")
    return shown if base is None else f"{shown} (found at {base[:_SHOWN_CHARACTERS]!r})"


def _scheme(url: str) -> str:
    canonical = _parsed(url)
    return canonical[: canonical.index("//")]


def _path_start(canonical: str) -> int:
    return canonical.index("/", canonical.index("://") + 3)


@lru_cache(maxsize=256)
def _any_of_names(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(glob).replace(r"\*", ".*") for glob in globs), re.DOTALL)


def _without_params(canonical: str, names: re.Pattern[str]) -> str:
    head, mark, query = canonical.partition("?")
    path = _path_start(head)
    return head[:path] + _stripped_path(head[path:], names) + _stripped_query(mark + query, names)


def _stripped_path(path: str, names: re.Pattern[str]) -> str:
    if ";" not in path:
        return path
    return "/".join(_stripped_segment(segment, names) for segment in path.split("/"))


def _stripped_segment(segment: str, names: re.Pattern[str]) -> str:
    name, *parameters = segment.split(";")
    kept = (each for each in parameters if not names.fullmatch(unquote(each.partition("=")[0])))
    return ";".join((name, *kept))


def _stripped_query(search: str, names: re.Pattern[str]) -> str:
    parameters = search[1:].split("&")
    kept = [each for each in parameters if not names.fullmatch(unquote_plus(each.partition("=")[0]))]
    if len(kept) == len(parameters):
        return search
    return f"?{'&'.join(kept)}" if any(kept) else ""


def _regex_of(text: str) -> re.Pattern[str]:
    expression = text.removeprefix("re:")
    if not expression:
        raise ValueError("'re:' needs a regular expression after it, for example re:/item-[0-9]+$")
    try:
        return re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r} is not a regular expression that Python understands: {error}") from None


def _canonical_glob(text: str) -> str:
    """The glob in the spelling that canonical URLs have (non-ASCII letters and spaces percent-encoded)."""
    if "://" in text.partition("?")[0]:
        raise ValueError(
            f"{text!r} holds a scheme; a pattern begins at the path (/product/*), or write re: and a regex"
        )
    if "#" in text:
        raise ValueError(f"{text!r} holds a fragment (#…), which URLs lose before they are matched; leave it out")
    if not text.startswith(("/", "**")):
        raise ValueError(f"{text!r} can never match; a pattern starts with / or ** (/product/*, **.pdf) or with re:")
    if text.startswith("/"):
        return canonical_url("http://x" + text).removeprefix("http://x")
    return canonical_url("http://x/" + text).removeprefix("http://x/")


def _glob_regex(glob: str) -> str:
    pieces = re.split(r"(/\*\*/|\*\*+|\*)", glob)
    return "".join(_WILDCARDS.get(piece) or (".*" if piece.startswith("**") else re.escape(piece)) for piece in pieces)


_WILDCARDS = {"*": "[^/]*", "/**/": "/(?:.*/)?"}
