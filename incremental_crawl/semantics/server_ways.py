"""The known ways of servers and caches with conditional requests, and what is done about each, for a host's verdict.

Measured on the servers themselves; docs/servers.md has them by their names, which stand in brackets here.
"""

from __future__ import annotations

from incremental_crawl.semantics.server_software import (
    NAMED_BY_POWERED_BY,
    NAMED_BY_TAG,
    NGINX_FAMILY,
    Cache,
    HostSigns,
    Sign,
    Software,
)

_AND = "wants tag and date both to agree (AND), so both are sent, of one answer"
_EXACT = "takes no date but the very one it sent (EXACT), which is sent back"
_TWO_LINES = "refuses two lines of tags (2LINES), so one is sent"
_NO_LIST = "takes a list of tags for one tag (NOLIST), so one is sent, and a list only where that never matches"
_STRONGLY = "does not compare tags weakly (STRONG), so they go back byte for byte"
_ONE_TAG = "may give all codings one strong tag (ONE-TAG), so one coding is asked for and bodies are compared decoded"
_HEAD = "may answer HEAD with another length or coding than GET (HEAD), so neither is compared"
_SIBLING = "may send a file compressed beforehand with a tag of its own (SIBLING), which is the page that is seen"

_NGINX = (_AND, _EXACT, _TWO_LINES)

WAYS: dict[Software, tuple[str, ...]] = {
    **dict.fromkeys(NGINX_FAMILY, _NGINX),
    Software.APACHE: (
        _AND,
        "may add the coding to its tag and not match it then (SUFFIX), which its answers show",
        _ONE_TAG,
    ),
    Software.LIGHTTPD: (
        "finds its tag in a list by luck only (LIST), so one is sent",
        "may confirm an old file for a second or two after an edit (STAT), which the next visit finds",
        "gives HEAD another tag than GET (HEAD), so HEAD is used only where probes agree",
    ),
    Software.CADDY: (
        "answers HEAD with the length of nothing, compressed (HEAD), so lengths are not compared",
        _ONE_TAG,
        _SIBLING,
    ),
    Software.H2O: (_NO_LIST, _STRONGLY, _ONE_TAG, _HEAD),
    Software.SIMPLE_HTTP: (
        "sends no tag and confirms any newer date (NOTAG), so a file set back to an older date is left to the audit",
    ),
    Software.AIOHTTP: (
        "rounds dates up to the next second (ROUND), so they go back as they came, and one of the last minute is weak",
    ),
    Software.UVICORN: (_ONE_TAG, _HEAD),
    Software.WERKZEUG: ("answers 304 without a date (304), so the stored one stays",),
    Software.EXPRESS: (_HEAD,),
    Software.SERVE: (
        "sends no date and redirects .html to the bare name (SERVE), so the tag is sent and the redirect followed",
        _NO_LIST,
        _STRONGLY,
        _ONE_TAG,
        _HEAD,
    ),
    Software.SIRV: (
        "ignores dates (NODATE), so the tag decides",
        _NO_LIST,
        _STRONGLY,
        "answers 304 without a tag (304), so the stored one stays",
        _SIBLING,
    ),
    Software.HTTP_SERVER: (_AND, _NO_LIST, _SIBLING),
}
"""By server: short predicates, each a named way and what is done about it."""

_CACHED = "its 304s and bodies prove nothing about the server behind it (CACHE), so audits ask with no-cache"

CACHE_WAYS: dict[Cache, tuple[str, ...]] = {
    Cache.UNNAMED: (_CACHED,),
    Cache.VARNISH: (
        f"{_CACHED}, which it may ignore",
        "it spells a tag as whoever asked before had it (FLIP), so tags are compared weakly",
        f"it {_NO_LIST}",
    ),
    Cache.SQUID: (
        f"{_CACHED}: it answers by its own idea of freshness and hides a SUFFIX meanwhile",
        "its 304s may lack the tag (304), so the stored one stays",
    ),
}
"""By cache: sentences like those of `WAYS`."""

_MISSING = {Sign.NO_TAG_IN_304: "ETag", Sign.NO_DATE_IN_304: "Last-Modified"}


def told_of(signs: HostSigns) -> list[str]:
    """The sentences for a host's verdict: what its 304s lacked, one of its server, one of a cache before it."""
    told = []
    missing = " and ".join(name for sign, name in _MISSING.items() if sign in signs.seen)
    if missing:
        told.append(f"304s came without {missing} (304): what is stored stays")
    if Sign.SIBLING in signs.seen:
        told.append(
            "compressed pages came with a strong tag, as files compressed beforehand do (SIBLING): where such a file "
            "is older than its page, the old page is what can be seen"
        )
    if signs.server in WAYS:
        told.append(f"{_source(signs.server)}: {'; '.join(WAYS[signs.server])}")
    if signs.cache is not None:
        told.append(f"{_source_of_cache(signs.cache)}: {'; '.join(CACHE_WAYS[signs.cache])}")
    return told


def _source(server: Software) -> str:
    if server in NAMED_BY_TAG:
        return f"its tags have the form of those of {server}"
    if server in NAMED_BY_POWERED_BY:
        return f"its X-Powered-By header says {server}"
    if server is Software.UVICORN:
        return f"its Server header says {server}, where Starlette serves the files"
    return f"its Server header says {server}"


def _source_of_cache(cache: Cache) -> str:
    return "a cache answered for it (Age)" if cache is Cache.UNNAMED else f"its Via header says {cache}"
