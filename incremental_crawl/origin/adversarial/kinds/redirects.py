"""Redirects hop by hop: where they lead, and whose validators are sent there (RFC 9110 §15.4, §10.2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from incremental_crawl.origin.adversarial.asked import Asked, Script, Step
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import (
    at_most,
    bounded,
    earned,
    earned_once,
    no_cookie_at_first,
    unconditional,
    verbatim,
)
from incremental_crawl.origin.adversarial.say import (
    HTML,
    answer,
    head,
    holds,
    honest,
    html,
    not_modified,
    ok,
    redirect,
    revalidated,
    tag_of,
)

behaviour = Declaring(Kind.REDIRECTS)
_KEPT = "An outcome, no exception: the old page stands and is tried again."
_ONE = ("/page",)
# The row of a hop says how it ended; that of the page asked says that a body came.
_BY_HOP = "new|modified not_modified not_modified changed|modified not_modified not_modified"


def _outcomes(second: str) -> str:
    return f"new {second} not_modified changed not_modified not_modified"


@behaviour("The source has moved; the target is asked with its own validators or none, and is no second novelty.",
           "RFC 9110 §15.4.2", {"/page": "v1 moved", "/new": "- page.v1? page.v1 page.v2"}, unconditional("/new", 1), verbatim("/new"),
           starts=_ONE)  # fmt: skip
def moved_for_good(asked: Asked) -> Script:
    """Moves the page for good (301) after its first visit."""
    if asked.path == "/page" and asked.round > 0:
        return redirect(asked, 301, asked.path_of("/new"))
    return _as_before(asked, f'"same-{asked.version}"')


def _as_before(asked: Asked, tag: str, version: str | None = None) -> Script:
    """The text that `/page` had, under whatever address it is now."""
    if holds(asked, tag, None):
        return not_modified(asked, f"ETag: {tag}")
    return answer(asked, 200, html(asked, version, page="/page"), f"ETag: {tag}")


@behaviour("As within one host; the target's own robots.txt is asked.", "RFC 9110 §15.4.9",
           {"/page": "v1 moved", "other:/new": "- page.v1? page.v1 page.v2", "other:/start": "v1 v1 v1 v2"},
           unconditional("other:/new", 1), starts=("/page", "other:/start"), two_hosts=True)  # fmt: skip
def moved_to_another_host(asked: Asked) -> Script:
    """Moves the page for good (308) to another host of the same site."""
    if asked.page == "/page" and asked.round > 0:
        return redirect(asked, 308, asked.url_of("other:/new"))
    return honest(asked) if asked.path == "/start" else _as_before(asked, tag_of(asked))


@behaviour("The source has moved to the end of the chain.",
           "RFC 9110 §15.4.2, §15.4.9", {"/page": "v1 moved", "/third": "- page.v1? page.v1 page.v2"},
           unconditional("/second"), verbatim("/third"), starts=_ONE)  # fmt: skip
def moved_by_a_chain(asked: Asked) -> Script:
    """Moves the page by a chain of 308 and 301."""
    if asked.path == "/page" and asked.round > 0:
        return redirect(asked, 308, asked.path_of("/second"))
    if asked.path == "/second":
        return redirect(asked, 301, asked.path_of("/third"), 'ETag: "hop"')
    return _as_before(asked, tag_of(asked))


@behaviour("`moved`, then `restored`.",
           "RFC 9110 §15.4.2", {"/page": "v1 moved v2", "/new": "- page.v1?"}, edit_at=2, starts=_ONE,
           outcomes="new moved restored not_modified not_modified not_modified")  # fmt: skip
def moved_and_back(asked: Asked) -> Script:
    """Moves the page for good and takes it back a round later, edited."""
    if asked.path == "/new":
        return _as_before(asked, '"new"', "v1")
    return redirect(asked, 301, asked.path_of("/new")) if asked.round == 1 else honest(asked)


@behaviour("The record stays under the address asked; no hop gets another's validators.",
           "RFC 9110 §15.4.3, §13.1; RFC 9111 §4.3.4", {"/page": "a.v1 a.v1 b.v1 b.v2"},
           earned(1, page="/a"), unconditional("/b", 2),
           outcomes="new|modified not_modified changed|modified changed|modified not_modified not_modified")  # fmt: skip
def temporary_target_moves(asked: Asked) -> Script:
    """Redirects for now (302) to one page, later to another; both have the same tag."""
    if asked.path == "/page":
        return redirect(asked, 302, asked.path_of("/a" if asked.round < 2 else "/b"), f'ETag: "t-{asked.version}"')
    return revalidated(asked, f'"t-{asked.version}"')


@behaviour("The record stays under the address asked; the hop's own validators earn the 304.",
           "RFC 9110 §15.4.4, §15.4.8",
           {"/other": "b.v1 b.v1 b.v1 b.v2", "/see": "a.v1 a.v1 a.v1 a.v2"},
           earned(1, 2, page="/a"), earned(1, 2, page="/b"),
           outcomes=_BY_HOP)  # fmt: skip
def temporary_303_and_307(asked: Asked) -> Script:
    """Redirects for now by 303 to one page and by 307 to another."""
    match asked.path:
        case "/see":
            return redirect(asked, 303, asked.path_of("/a"))
        case "/other":
            return redirect(asked, 307, asked.path_of("/b"))
    return honest(asked)


@behaviour(_KEPT, "RFC 9110 §15.4", None, at_most(4),
           outcomes="new error error changed not_modified not_modified")  # fmt: skip
def redirect_to_itself(asked: Asked) -> Script:
    """Redirects the page to itself for two rounds."""
    return redirect(asked, 302, asked.path_of("/page")) if asked.round in (1, 2) else honest(asked)


@behaviour(_KEPT, "RFC 9110 §15.4",
           {"/page": "v1 v1 v1 v2", "/back": "v1 v1 v1 v2"}, at_most(12),
           outcomes="new error error changed not_modified not_modified")  # fmt: skip
def redirect_in_a_circle(asked: Asked) -> Script:
    """Sends two pages to each other after a good round."""
    if asked.round not in (1, 2):
        return honest(asked)
    return redirect(asked, 302, asked.path_of("/back" if asked.path == "/page" else "/page"))


@behaviour(_KEPT, "RFC 9110 §15.4", None, at_most(25), starts=_ONE,
           outcomes="new error error changed not_modified not_modified")  # fmt: skip
def redirect_without_end(asked: Asked) -> Script:
    """Redirects from page to page without end."""
    if asked.path == "/page" and asked.round not in (1, 2):
        return honest(asked)
    number = int(asked.path.removeprefix("/hop") or 0) if asked.path.startswith("/hop") else 0
    return redirect(asked, 302, asked.path_of(f"/hop{number + 1}"))


@behaviour("The cookie lives for this one fetch: sent on the second hop, to no other page and not kept.",
           "RFC 6265 §5.3; RFC 9110 §15.4.3", {"/page": "v1 v1 v1 v2", "/plain": "v1 v1 v1 v2"},
           no_cookie_at_first("/page"), outcomes="new same_hash|not_modified same_hash|not_modified changed "
           "same_hash|not_modified same_hash|not_modified")  # fmt: skip
def cookie_gate(asked: Asked) -> Script:
    """Redirects to the same address until its cookie comes back."""
    if asked.path == "/plain" or "seen=1" in (asked.value("cookie") or ""):
        return honest(asked)
    return redirect(asked, 302, asked.path_of("/page"), "Set-Cookie: seen=1; Path=/")


@behaviour("The source is gone; it comes back when it is served again.",
           "RFC 9110 §15.4.2, §15.5.11", {"/page": "v1 gone gone v2"}, starts=_ONE,
           outcomes="new gone|moved gone|moved restored not_modified not_modified")  # fmt: skip
def moved_to_a_gone_page(asked: Asked) -> Script:
    """Moves the page for good to one that is gone."""
    if asked.path == "/gone":
        return answer(asked, 410, "<h1>Gone</h1>")
    return redirect(asked, 301, asked.path_of("/gone")) if asked.round in (1, 2) else honest(asked)


@behaviour("The redirect is followed, its body left.",
           "RFC 9110 §15.4.3", {"/page": "target.v1 target.v1 target.v1 target.v2"}, bounded(0, 1),
           earned_once(1, 2, page="/target"), starts=_ONE, outcomes=_BY_HOP)  # fmt: skip
def redirect_with_endless_body(asked: Asked) -> Script:
    """Redirects for now, with a body that never ends."""
    return honest(asked) if asked.path == "/target" else _endless(asked)


def _endless(asked: Asked) -> Iterator[Step]:
    yield head(asked, 302, HTML, f"Location: {asked.path_of('/target')}", "Transfer-Encoding: chunked")
    while asked.served():
        yield b"3e8\r\n" + b"m" * 1_000 + b"\r\n"
        yield 0.01


@behaviour("A condition stays with its own address: what another one confirms is not this page.",
           "RFC 9110 §13.1, §15.4.3", {"/page": "v1 v1|any.v1 v1|any.v1 v2|any.v1 v2|any.v1"}, unconditional("/any", 1),
           starts=_ONE, outcomes="new retry_later|modified same_hash|changed changed same_hash|not_modified same_hash|not_modified")  # fmt: skip
def condition_is_redirected(asked: Asked) -> Script:
    """Redirects only requests that carry a condition, to a page that answers any condition with 304."""
    if asked.path == "/any":
        return not_modified(asked, 'ETag: "any"') if asked.conditional else ok(asked, 'ETag: "any"', version="v1")
    return redirect(asked, 302, asked.path_of("/any")) if asked.conditional and asked.round == 1 else ok(
        asked, f"ETag: {tag_of(asked)}"
    )  # fmt: skip
