"""What a host's answers say about the software behind them: names that are known, and signs that cost no request.

Header values are claims and bytes of strangers: only names of the enums here ever come out of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from incremental_crawl.semantics.answers import Answer, Ask, Headers, NotModified, Response, first


class Software(StrEnum):
    """Servers whose ways with conditional requests are known; OTHER is one that names itself and is not among them."""

    OTHER = "other"
    NGINX = "nginx"
    OPENRESTY = "OpenResty"
    TENGINE = "Tengine"
    ANGIE = "Angie"
    FREENGINX = "freenginx"
    APACHE = "Apache"
    LIGHTTPD = "lighttpd"
    CADDY = "Caddy"
    H2O = "h2o"
    SIMPLE_HTTP = "SimpleHTTP"
    AIOHTTP = "aiohttp"
    UVICORN = "uvicorn"
    WERKZEUG = "Werkzeug"
    EXPRESS = "Express"
    SERVE = "serve"
    SIRV = "sirv"
    HTTP_SERVER = "http-server"


class Cache(StrEnum):
    """A cache between the server and the crawler; UNNAMED is one that only an Age shows."""

    UNNAMED = "a cache"
    VARNISH = "Varnish"
    SQUID = "Squid"


class Sign(StrEnum):
    """What ordinary answers show and no ledger counts."""

    NO_TAG_IN_304 = "no_tag_in_304"
    NO_DATE_IN_304 = "no_date_in_304"
    SIBLING = "sibling"


NGINX_FAMILY = frozenset(
    {Software.NGINX, Software.OPENRESTY, Software.TENGINE, Software.ANGIE, Software.FREENGINX},
)
NAMED_BY_TAG = frozenset({Software.SERVE, Software.SIRV, Software.HTTP_SERVER})
"""Servers that say no name; the form of their tags does."""
NAMED_BY_POWERED_BY = frozenset({Software.EXPRESS})

_NOT_BY_SERVER = NAMED_BY_TAG | NAMED_BY_POWERED_BY | {Software.OTHER}
_BY_PRODUCT = {own.lower(): own for own in Software if own not in _NOT_BY_SERVER}
_COMMENT = re.compile(r"\([^()]*\)?")
_WORD = re.compile(r"[a-z0-9_.-]+")
_TAG_OF_SIRV = re.compile(r'W/"\d{1,15}-\d{13}"')
_TAG_OF_HTTP_SERVER = re.compile(r'(?:W/)?"\d{1,20}-\d{1,15}-"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"{1,2}')
_TAG_OF_SERVE = re.compile(r'"[0-9a-f]{40}"')


@dataclass(frozen=True, slots=True)
class HostSigns:
    """What a host's answers said so far: the server that most of the newest name, a cache before it, and signs."""

    server: Software | None = None
    cache: Cache | None = None
    seen: frozenset[Sign] = frozenset()

    def after(self, newer: HostSigns) -> HostSigns:
        """What is known after newer answers; what these do not tell stays."""
        cache = newer.cache if newer.cache not in (None, Cache.UNNAMED) else self.cache or newer.cache
        return HostSigns(newer.server or self.server, cache, self.seen | newer.seen)


NOTHING_SAID = HostSigns()


def signs(ask: Ask, answer: Answer) -> HostSigns | None:
    """What one answer says; None where it is neither a 200 nor a 304: errors are often somebody else's."""
    headers = answer.headers
    if isinstance(answer, NotModified):
        tag = first(headers, "etag") or (ask.etag if ask.etag is None or '", ' not in ask.etag else None)
        server = server_of(headers, tag)
        return HostSigns(server, cache_of(headers), _missing_in_304(ask, headers))
    if isinstance(answer, Response) and answer.status == 200:
        server = server_of(headers, first(headers, "etag"))
        sibling = server in NGINX_FAMILY and _is_coded_with_strong_tag(headers)
        return HostSigns(server, cache_of(headers), frozenset({Sign.SIBLING} if sibling else ()))
    return None


def server_of(headers: Headers, tag: str | None) -> Software | None:
    """The server that made an answer with this entity tag; None where nothing is said.

    The form of a tag and X-Powered-By tell of whoever made the page, Server often of a proxy before it.
    """
    by_tag = _by_tag(headers, tag)
    if by_tag is not None:
        return by_tag
    if (first(headers, "x-powered-by") or "").strip().lower() == "express":
        return Software.EXPRESS
    named = first(headers, "server")
    return _by_server(named) if named else None


def cache_of(headers: Headers) -> Cache | None:
    """The cache that an answer came through (RFC 9110 §7.6.3), or out of (RFC 9111 §5.1); None where none shows."""
    via = " ".join(value for name, value in headers if name == "via")
    named = _by_via(via) if via else None
    if named is not None:
        return named
    age = (first(headers, "age") or "").strip()
    return Cache.UNNAMED if age.isascii() and age.isdigit() and age.strip("0") else None


@lru_cache(256)
def _by_server(value: str) -> Software:
    """The first known product of a Server field (RFC 9110 §10.2.4), comments left out."""
    products = (product.partition("/")[0].lower() for product in _COMMENT.sub(" ", value).split())
    return next((_BY_PRODUCT[product] for product in products if product in _BY_PRODUCT), Software.OTHER)


@lru_cache(256)
def _by_via(value: str) -> Cache | None:
    words = set(_WORD.findall(value.lower()))
    return next((own for own in (Cache.VARNISH, Cache.SQUID) if own.lower() in words), None)


def _by_tag(headers: Headers, tag: str | None) -> Software | None:
    if not tag:
        return None
    if _TAG_OF_SIRV.fullmatch(tag):
        return Software.SIRV
    if _TAG_OF_HTTP_SERVER.fullmatch(tag):
        return Software.HTTP_SERVER
    inline = (first(headers, "content-disposition") or "").startswith("inline; filename=")
    if inline and first(headers, "last-modified") is None and _TAG_OF_SERVE.fullmatch(tag):
        return Software.SERVE
    return None


def _missing_in_304(ask: Ask, headers: Headers) -> frozenset[Sign]:
    """The validators that were sent and that a 304 leaves out; RFC 9110 §15.4.5 wants the tag in it."""
    missing = set()
    if ask.etag is not None and not first(headers, "etag"):
        missing.add(Sign.NO_TAG_IN_304)
    if ask.last_modified is not None and not first(headers, "last-modified"):
        missing.add(Sign.NO_DATE_IN_304)
    return frozenset(missing)


def _is_coded_with_strong_tag(headers: Headers) -> bool:
    """Whether a coded answer has a strong tag: what compresses on the fly in nginx makes it weak."""
    coding, tag = (first(headers, "content-encoding") or "").strip().lower(), first(headers, "etag") or ""
    return coding in {"gzip", "x-gzip", "br"} and tag.startswith('"')
