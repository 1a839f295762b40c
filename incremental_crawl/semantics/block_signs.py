"""Signs that an answer is not the page: a bot challenge, a consent or login wall, maintenance, a soft 404.

A false sign hides a real page, so signs have two strengths. A **strong** one is something that only such an answer
has: a header or a script of a known wall, or a status. It counts always. A **weak** one is a matter of words: it counts
only on a short page that has lost most of the text that is held of it, and that did not say the same before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from incremental_crawl.semantics.answers import Headers, first
from incremental_crawl.semantics.block_words import IN_A_TITLE, NOT_FOUND, SAID, TITLE_PARTS

SHORT = 1_500
"""At most so many characters of visible text have a page whose title or heading is taken for a sign."""
VERY_SHORT = 500
"""Likewise, where the words are anywhere in the text."""
LOST = 0.5
"""A page has lost most of its text where no more than this share of its length is left."""


class BlockKind(StrEnum):
    """What stands in the page's place."""

    CHALLENGE = "challenge"
    CONSENT = "consent"
    LOGIN = "login"
    MAINTENANCE = "maintenance"
    RATE_LIMITED = "rate_limited"
    SOFT_404 = "soft_404"
    SHARED_BODY = "shared_body"
    SHARED_REDIRECT = "shared_redirect"
    REFUSED = "refused"

    @property
    def is_the_hosts(self) -> bool:
        """Whether the host does not let anybody through, rather than that one page is missing."""
        return self is not BlockKind.SOFT_404


@dataclass(frozen=True, slots=True)
class BlockSign:
    """Why an answer is not the page: a kind, and a sentence for people."""

    kind: BlockKind
    sentence: str
    strong: bool = True


@dataclass(frozen=True, slots=True)
class Glance:
    """What a page looks like, without being parsed.

    `text` is the beginning of the visible text, `length` its length in characters, `refresh` where a `meta` element
    sends browsers (empty: to the page itself). `whole` is false where only the beginning of the body was looked at.
    """

    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    length: int = 0
    password: bool = False
    refresh: str | None = None
    links: int = 0
    media: int = 0
    scripts: int = 0
    whole: bool = True

    @property
    def is_blank(self) -> bool:
        """Whether a reader without scripts sees nothing at all."""
        return self.whole and not (self.length or self.links or self.media)


# Header, pattern of its value, whose wall. Each is sent only with answers that stand in the page's place.
_HEADERS: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE), whose)
    for name, pattern, whose in (
        ("cf-mitigated", "challenge", "Cloudflare"),
        ("x-amzn-waf-action", "challenge|captcha", "AWS WAF"),
        ("x-vercel-mitigated", "challenge|deny", "Vercel"),
        ("sg-captcha", "challenge", "SiteGround"),
        ("x-sucuri-block", ".", "Sucuri"),
    )
)

# Scripts and elements of challenge pages, as markup: an article that quotes them escapes the angle brackets.
_SCRIPT = r"<script[^<>]{0,300}>[^<]{0,3000}"
_MARKUP: tuple[tuple[re.Pattern[str], int, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), most_text, whose)
    for pattern, most_text, whose in (
        (_SCRIPT + r"\bwindow\._cf_chl_opt\b", SHORT, "Cloudflare"),
        (r"<form[^<>]{0,200}id=[\"']?challenge-form\b", SHORT, "Cloudflare"),
        (r"<[a-z]+[^<>]{0,200}\bcf-browser-verification\b", SHORT, "Cloudflare"),
        (r"<(?:script|iframe)[^<>]{0,300}//(?:geo|ct|c)\.captcha-delivery\.com/", VERY_SHORT, "DataDome"),
        (r"<div[^<>]{0,200}id=[\"']?px-captcha\b", SHORT, "HUMAN (PerimeterX)"),
        (r"<(?:script|iframe)[^<>]{0,200}/_Incapsula_Resource\?", VERY_SHORT, "Imperva"),
        (_SCRIPT + r"\bwindow\.(?:gokuProps|awsWafCookieDomainList)\s*=", VERY_SHORT, "AWS WAF"),
        (r"<[a-z]+[^<>]{0,300}(?:/_sec/cp_challenge/|id=[\"']?sec-if-cpt-container)", VERY_SHORT, "Akamai"),
        (r"<script[^<>]{0,200}id=[\"']?anubis_(?:challenge|version)", SHORT, "Anubis"),
        (_SCRIPT + r"\bsucuri_cloudproxy_js\s*=", VERY_SHORT, "Sucuri"),
        (r"<script[^<>]{0,200}/\.well-known/ddos-guard/js-challenge", VERY_SHORT, "DDoS-Guard"),
    )
)
_HINTS = (
    b"_cf_chl_opt",
    b"challenge-form",
    b"cf-browser-verification",
    b".captcha-delivery.com/",
    b"px-captcha",
    b"/_incapsula_resource?",
    b"gokuprops",
    b"awswafcookiedomainlist",
    b"/_sec/cp_challenge/",
    b"sec-if-cpt-container",
    b"anubis_",
    b"sucuri_cloudproxy_js",
    b"/ddos-guard/js-challenge",
)
_STATUS = {
    401: "asks for a login",
    402: "asks for payment",
    403: "refuses the request",
    407: "asks for a login at a proxy",
    451: "is unavailable for legal reasons",
}
_LOGIN_SEGMENTS = frozenset(
    "login log-in log_in logon signin sign-in sign_in sso saml saml2 oauth oauth2 wp-login".split()
)
_LOGIN_BEGINNINGS = frozenset({"auth", "authorize", "authenticate"})
_LOGIN_HOSTS = frozenset("login auth sso signin accounts idp".split())
_CONSENT = frozenset({"consent", "cookie-consent", "cookieconsent"})


def header_sign(headers: Headers) -> BlockSign | None:
    """A wall that names itself in a header of the answer, whatever its status."""
    for name, pattern, whose in _HEADERS:
        value = first(headers, name)
        if value is not None and pattern.search(value):
            return BlockSign(BlockKind.CHALLENGE, f"a challenge of {whose} (header {name}: {value.strip()[:40]})")
    return None


def status_sign(status: int) -> BlockSign:
    """A status by which the server refuses the page (RFC 9110 §15.5)."""
    return BlockSign(BlockKind.REFUSED, f"status {status}: the server {_STATUS.get(status, 'refuses the request')}")


def hints_at_markup(body: bytes) -> bool:
    """Whether `markup_sign` may find something in the beginning of a body; cheap, and leaves out most pages."""
    lower = body.lower()
    return any(hint in lower for hint in _HINTS)


def markup_sign(markup: str, glance: Glance) -> BlockSign | None:
    """A challenge page of a known wall, by its scripts and elements, where there is little else on the page."""
    for pattern, most_text, whose in _MARKUP:
        if glance.length <= most_text and pattern.search(markup):
            return BlockSign(BlockKind.CHALLENGE, f"a challenge page of {whose}{_titled(glance)}")
    return None


def text_sign(glance: Glance, held: str) -> BlockSign | None:
    """A weak sign: words of such pages on a short page, unless the held text said the same.

    Whether the page has lost most of its text (`has_lost_most`) is for the caller to say.
    """
    if not glance.whole or glance.length > SHORT:
        return None
    before = held.casefold()
    for said in (glance.title, *glance.headings):
        if _says_not_found(said) and said.casefold() not in before:
            return BlockSign(BlockKind.SOFT_404, f"a page that says it was not found: {_quoted(said)}", strong=False)
    places = [(text, pattern) for text in (glance.title, *glance.headings) for pattern in IN_A_TITLE.items()]
    if glance.length <= VERY_SHORT:
        places += [(glance.text, pattern) for pattern in SAID.items()]
    for text, (kind, pattern) in places:
        found = pattern.search(text.casefold())
        if found is not None and found[0] not in before:
            sentence = f"a short page that says {_quoted(found[0])}"
            return BlockSign(BlockKind(kind), sentence, strong=False)
    return _form_or_refresh(glance)


def has_lost_most(length: int, held_length: int) -> bool:
    """Whether most of a page's text is lost, in characters of visible text now and before."""
    return length <= LOST * held_length


def address_sign(url: str) -> BlockSign | None:
    """An address that asks to log in or to consent; where pages are led there, they are behind a wall."""
    parts = urlsplit(url)
    segments = [segment.rpartition(".")[0] or segment for segment in parts.path.casefold().strip("/").split("/")]
    label = (parts.hostname or "").partition(".")[0]
    if label in _CONSENT or not _CONSENT.isdisjoint(segments):
        return BlockSign(BlockKind.CONSENT, f"redirect to a consent page: {url}")
    if label in _LOGIN_HOSTS or not _LOGIN_SEGMENTS.isdisjoint(segments) or segments[0] in _LOGIN_BEGINNINGS:
        return BlockSign(BlockKind.LOGIN, f"redirect to a login page: {url}")
    return None


def shared_sign(pages: int) -> BlockSign:
    """Pages that were different from one another and suddenly are one."""
    sentence = f"{pages} pages of the host that were different share one body now"
    return BlockSign(BlockKind.SHARED_BODY, sentence, strong=False)


def shared_redirect_sign(sources: int, target: str) -> BlockSign:
    """Pages that are suddenly all redirected to one address."""
    return BlockSign(BlockKind.SHARED_REDIRECT, f"{sources} pages redirect to one address now: {target}")


def _form_or_refresh(glance: Glance) -> BlockSign | None:
    if glance.password:
        return BlockSign(BlockKind.LOGIN, f"a short page with a password form{_titled(glance)}", strong=False)
    if glance.refresh is not None and glance.length <= VERY_SHORT:
        sign = address_sign(glance.refresh) if glance.refresh else None
        if sign is not None:
            return BlockSign(sign.kind, f"a short page that sends browsers to {glance.refresh}", strong=False)
        if not glance.refresh:
            return BlockSign(BlockKind.CHALLENGE, "a short page that makes browsers load it again", strong=False)
    return None


def _says_not_found(said: str) -> bool:
    return any(NOT_FOUND.fullmatch(part.strip()) for part in TITLE_PARTS.split(said.casefold()))


def _titled(glance: Glance) -> str:
    return f" titled {_quoted(glance.title)}" if glance.title else ""


def _quoted(text: str) -> str:
    return f'"{text[:77]}…"' if len(text) > 78 else f'"{text}"'
