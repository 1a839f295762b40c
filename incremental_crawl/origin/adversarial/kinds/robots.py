"""robots.txt: every shape of the file and every way in which it cannot be had (RFC 9309)."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from incremental_crawl.origin.adversarial.asked import Asked, End, Script, Step
from incremental_crawl.origin.adversarial.behaviour import Check, Declaring, Kind, Respond
from incremental_crawl.origin.adversarial.checks import earned, few_robots_requests, never, requested, spaced
from incremental_crawl.origin.adversarial.say import answer, head, honest, not_found, ok, redirect

behaviour = Declaring(Kind.ROBOTS)
_PAGE = {"/page": "v1 v1 v1 v2"}
_LATE = {"/page": "- v1 v1 v2"}
_HIDDEN = {"/page": "v1 v1 v1 v2", "/secret": "-"}
_TEXT = "Content-Type: text/plain"
_LATER = "retry_later new not_modified changed not_modified not_modified"


def _everything(asked: Asked) -> Script:
    """All pages as an honest server has them; what robots.txt hides would be the third version."""
    return ok(asked, version="v9") if "secret" in asked.path else honest(asked)


def _robots(
    name: str,
    robots: Respond,
    summary: str,
    right: str,
    authority: str,
    pages: dict[str, str],
    *checks: Check,
    **more: object,
) -> None:
    respond = more.pop("respond", _everything)
    assert callable(respond)
    behaviour.add(
        f"robots-{name}", respond, summary, right, authority, pages, *checks, robots=robots, own_host=True, **more
    )  # fmt: skip


def _file(text: str | bytes) -> Respond:
    return lambda asked: answer(asked, 200, text, _TEXT)


def _status(code: int, *lines: str) -> Respond:
    return lambda asked: answer(asked, code, "<h1>No</h1>", *lines)


for _code, _section in (
    (404, ""),
    (401, ", though the file wants a password"),
    (403, ", though the file is forbidden"),
):
    _robots(str(_code), _status(_code), f"Answers {_code} to robots.txt.", f"Everything may be asked{_section}.",
            "RFC 9309 §2.3.1.3", _PAGE, earned(1, 2))  # fmt: skip


def _fails_at_first(failing: Respond) -> Respond:
    return lambda asked: failing(asked) if asked.round == 0 else not_found(asked)


_UNREACHABLE: tuple[tuple[str, Respond, str], ...] = (
    ("500", _status(500), "Answers 500 to robots.txt"),
    ("503", _status(503), "Answers 503 to robots.txt"),
    ("429", _status(429), "Answers 429 to robots.txt"),
    ("silent", lambda _: (60.0,), "Stays silent when asked for robots.txt"),
    ("closing", lambda _: (End.CLOSE,), "Closes the connection when asked for robots.txt"),
)
for _name, _failing, _what in _UNREACHABLE:
    _robots(_name, _fails_at_first(_failing), f"{_what}, in the first round.",
            "Nothing is asked before the rules are known; the pages are put off.", "RFC 9309 §2.3.1.4",
            _LATE, never("/page", 0), outcomes=_LATER)  # fmt: skip

_robots("fails-later", lambda asked: answer(asked, 500, "") if asked.round in (1, 2) else _file("User-agent: *\nDisallow: /secret\n")(asked),
        "Answers 500 to robots.txt in two later rounds.", "A day after they were read the rules say nothing more: the pages are put off.",
        "RFC 9309 §2.3.1.4, §2.4", _HIDDEN, never("/secret"), never("/page", 1, 2),
        outcomes="new retry_later retry_later changed not_modified not_modified")  # fmt: skip

_DENIES = "The rule counts: the page is never asked."
_robots("bom", _file(b"\xef\xbb\xbfUser-agent: *\nDisallow: /secret\n"), "Begins its robots.txt with a byte order mark.",
        _DENIES, "RFC 9309 §2.2, §2.3", _HIDDEN, never("/secret"))  # fmt: skip
_robots("groups", _file("User-agent: *\nDisallow: /secret-a\n\nUser-agent: NoSuchBot\nDisallow: /page\n\nuser-AGENT: *\nDISALLOW: /secret-b\n"),
        "Has two groups for everybody, and one for somebody else.", "Groups for the same agent are one.",
        "RFC 9309 §2.2.1", {"/page": "v1 v1 v1 v2", "/secret-a": "-", "/secret-b": "-"},
        never("/secret-a"), never("/secret-b"))  # fmt: skip
_robots("odd-lines", _file("# a comment\rUser-agent: OtherBot\rUser-agent: *   # all\r\rCrawl-delay: soon\rSitemap: /none.xml\rDisallow: /secret # hidden\r"),
        "Ends its lines with CR, has comments, an empty line and other records within the group.",
        "None of these ends the group.", "RFC 9309 §2.2, §2.2.4", _HIDDEN, never("/secret"))  # fmt: skip
_robots("longest-match", _file("User-agent: *\nDisallow: /\nAllow: /page\nDisallow: /page\nAllow: /open/*.html$\nDisallow: /open/secret*.html\n"),
        "Mixes Allow, Disallow, `*` and `$`.", "The longest match decides; Allow at equal length.", "RFC 9309 §2.2.2, §2.2.3",
        {"/page": "v1 v1 v1 v2", "/open/a.html": "v1 v1 v1 v2", "/open/a.html?x": "-", "/open/secret.html": "-"},
        never("/open/secret.html"), never("/open/a.html?x"))  # fmt: skip
_robots("html", lambda asked: answer(asked, 200, "<!doctype html><title>Shop</title><p>User-agent: nobody<p>Disallow: what"),
        "Answers robots.txt with an HTML page.", "There are no rules in it: everything may be asked.", "RFC 9309 §2.2",
        _PAGE, earned(1, 2))  # fmt: skip
_robots("gzip", lambda asked: answer(asked, 200, gzip.compress(b"User-agent: *\nDisallow: /secret\n", mtime=0), _TEXT, "Content-Encoding: gzip"),
        "Sends robots.txt compressed.", _DENIES, "RFC 9309 §2.3; RFC 9110 §8.4", _HIDDEN, never("/secret"))  # fmt: skip

_LONG = b"User-agent: *\n" + b"".join(b"Disallow: /p%06d\n" % number for number in range(40_000))
# The byte 512,000 falls behind the slash: read as a rule, the cut line would forbid everything.
_CUT = _LONG[: 512_000 - len("Disallow: /")].rpartition(b"\n")[0]
_CUT += b"\n#" + b"." * (512_000 - len(_CUT) - len("\n#\nDisallow: /")) + b"\nDisallow: /secret-far\n"
_robots("600k", _file(_CUT + _LONG[512_000:]), "Has a robots.txt of 700 KB; its 512,000th byte is within a rule.",
        "At least 500 KiB count, and half a line is no rule.", "RFC 9309 §2.5",
        {"/page": "v1 v1 v1 v2", "/p000001": "-"}, never("/p000001"))  # fmt: skip


def _endless(asked: Asked) -> Iterator[Step]:
    yield head(asked, 200, _TEXT, "Transfer-Encoding: chunked")
    rules = b"User-agent: *\nDisallow: /secret\n\n"
    yield b"%x\r\n%b\r\n" % (len(rules), rules)
    line = b"# and so on, for ever and ever\n" * 400
    while asked.served():
        yield b"%x\r\n%b\r\n" % (len(line), line)


_robots("endless", _endless, "Has a robots.txt that never ends.", "Its beginning counts; the rest is left.",
        "RFC 9309 §2.5", _HIDDEN, never("/secret"))  # fmt: skip


def _hops(count: int) -> Respond:
    """robots.txt behind so many redirects; the last has the rules."""

    def robots(asked: Asked) -> Script:
        number = int(asked.path.removeprefix("/robots-") or 0) if asked.path.startswith("/robots-") else 0
        if number == count:
            return answer(asked, 200, "User-agent: *\nDisallow: /secret\n", _TEXT)
        return redirect(asked, 301, asked.path_of(f"/robots-{number + 1}"))

    return robots


def _behind(hops: Respond) -> Respond:
    return lambda asked: hops(asked) if asked.path.startswith("/robots-") else _everything(asked)


_robots("five-hops", _hops(5), "Has its robots.txt behind five redirects.", "Five are followed; the rules count.",
        "RFC 9309 §2.3.1.2", _HIDDEN, never("/secret"), respond=_behind(_hops(5)))  # fmt: skip
_robots("loop", lambda asked: redirect(asked, 302, "/robots-x" if asked.path == "/robots.txt" else "/robots.txt"),
        "Has a robots.txt that leads in a circle.", "As if there were none, after a few requests.", "RFC 9309 §2.3.1.2",
        _PAGE, few_robots_requests(), earned(1, 2),
        respond=lambda asked: redirect(asked, 302, "/robots.txt") if asked.path == "/robots-x" else _everything(asked))  # fmt: skip


@behaviour("The rules count for the first host; the other's own file for the other.", "RFC 9309 §2.3.1.2",
           {"/y": "v1 v1 v1 v2", "/x": "-", "other:/x": "v1 v1 v1 v2", "other:/y": "-"},
           never("/x"), never("other:/y"), starts=("/y", "/x", "other:/x", "other:/y"), two_hosts=True, own_host=True,
           robots=lambda asked: redirect(asked, 301, asked.url_of("other:/a/robots.txt")) if not asked.host else
           answer(asked, 200, "User-agent: *\nDisallow: /y\n", _TEXT))  # fmt: skip
def robots_on_another_host(asked: Asked) -> Script:
    """Redirects robots.txt to another host, which has other rules of its own at /robots.txt."""
    if asked.page == "other:/a/robots.txt":
        return answer(asked, 200, "User-agent: *\nDisallow: /x\n", _TEXT)
    return honest(asked)


@behaviour("Each hop asks its own host's rules: the target is never requested, the old page stands.", "RFC 9309 §2.2.2",
           {"/page": "v1 v1 v1 v2", "other:/start": "v1 v1 v1 v2"}, never("other:/y/secret"),
           starts=("/page", "other:/start"), two_hosts=True, own_host=True,
           robots=lambda asked: answer(asked, 200, "User-agent: *\nDisallow: /y\n", _TEXT) if asked.host else not_found(asked),
           outcomes="new refused not_modified changed not_modified not_modified")  # fmt: skip
def redirect_to_a_forbidden_page(asked: Asked) -> Script:
    """Redirects a page to one that the robots.txt of another host forbids."""
    if asked.page == "other:/y/secret":
        return ok(asked, version="v9")
    return (
        redirect(asked, 302, asked.url_of("other:/y/secret"))
        if asked.page == "/page" and asked.round == 1
        else honest(asked)
    )


@behaviour("Refused, never gone: the record stays and is asked again when it may be.", "RFC 9309 §2.2.2",
           {"/page": "v1 v1 v1 v2"}, never("/page", 1, 2), requested("/page", 3), own_host=True,
           robots=lambda asked: answer(asked, 200, "User-agent: *\nDisallow: /\n", _TEXT) if asked.round in (1, 2)
           else answer(asked, 200, "User-agent: *\nDisallow:\n", _TEXT),
           outcomes="new refused refused changed not_modified not_modified")  # fmt: skip
def robots_forbids_later(asked: Asked) -> Script:
    """Forbids the page from the second visit on, and allows it again."""
    return honest(asked)


_SLOW = [f"/page{number}" for number in range(1, 6)]


@behaviour("Kept, between the pages of one host.",
           "Crawl-delay: no RFC (RFC 9309 §2.2.4), widely used", dict.fromkeys(_SLOW, "v1 v1 v1 v2"),
           spaced(0.4, *_SLOW), own_host=True, robots=_file("User-agent: *\nCrawl-delay: 0.4\nDisallow:\n"))  # fmt: skip
def crawl_delay(asked: Asked) -> Script:
    """Asks for 0.4 seconds between requests."""
    return honest(asked)


@behaviour("Ignored: no number of seconds.",
           "Crawl-delay: no RFC (RFC 9309 §2.2.4), widely used", _HIDDEN, earned(1, 2), never("/secret"), own_host=True,
           robots=_file("User-agent: *\nCrawl-delay: -5\nCrawl-delay: soon\nCrawl-delay: nan\nDisallow: /secret\n"))  # fmt: skip
def crawl_delay_is_nonsense(asked: Asked) -> Script:
    """Asks for delays of `-5`, `soon` and `nan` seconds."""
    return _everything(asked)
