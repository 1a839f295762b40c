"""Redirects that lead nowhere, or where no page of the site is (RFC 9110 §10.2.2, §15.4)."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import at_most, never, requested
from incremental_crawl.origin.adversarial.say import answer, honest, html, not_found, ok, redirect, tag_of

behaviour = Declaring(Kind.REDIRECTS)
_KEPT = "An outcome, no exception: the old page stands and is tried again."
_ONE = ("/page",)


def _outcomes(second: str) -> str:
    return f"new {second} not_modified changed not_modified not_modified"


@behaviour(_KEPT, "RFC 9110 §10.2.2", None, outcomes=_outcomes("error"))
def no_location(asked: Asked) -> Script:
    """Sends a 302 without a Location."""
    return redirect(asked, 302, None) if asked.round == 1 else honest(asked)


@behaviour(_KEPT, "RFC 9110 §10.2.2", None, at_most(4),
           outcomes=_outcomes("error"))  # fmt: skip
def empty_location(asked: Asked) -> Script:
    """Sends a 302 with an empty Location."""
    return redirect(asked, 302, "") if asked.round == 1 else honest(asked)


@behaviour("Only http and https are followed; the old page stands.",
           "RFC 9110 §4.2, §10.2.2", None, outcomes="new error error changed not_modified not_modified")  # fmt: skip
def foreign_scheme(asked: Asked) -> Script:
    """Redirects to `file:`, then to `javascript:`."""
    where = {1: "file:///etc/hostname", 2: "javascript:alert(1)"}.get(asked.round)
    return honest(asked) if where is None else redirect(asked, 302, where)


_LOCATIONS: dict[str, tuple[bytes, str]] = {
    "/deep/relative": (b"../up", "up"),
    "/fragment": (b"/t#part", "t"),
    "/latin-1": (b"/latin-caf\xe9", "latin"),
    "/space": (b"/with space", "space"),
    "/utf-8": (b"/utf8-caf\xc3\xa9", "utf8"),
    "/dots": (b"/x/../dotted/./here", "dotted"),
    "/host": (b"", "host"),
}
_SERVED = {
    "/up": "up", "/t": "t", "/latin-caf%C3%A9": "latin", "/latin-caf%E9": "latin", "/with%20space": "space",
    "/utf8-caf%C3%A9": "utf8", "/dotted/here": "dotted", "/with-host": "host",
}  # fmt: skip


@behaviour("Resolved against the page; bytes over 7F and spaces percent-encoded, the fragment left out.",
           "RFC 3986 §5.2; RFC 9110 §10.2.2; WHATWG URL",
           {page: " ".join(f"{name}.{one}" for one in ("v1", "v1", "v1", "v2")) for page, (_, name) in _LOCATIONS.items()},
           requested("/utf8-caf%C3%A9", 0), requested("/with%20space", 0),
           outcomes="new|modified same_hash|modified same_hash|modified changed|modified same_hash|modified same_hash|modified")  # fmt: skip
def odd_locations(asked: Asked) -> Script:
    """Sends Locations that are relative, have a fragment, spaces, dots, raw UTF-8, Latin-1, or begin with `//`."""
    name = _SERVED.get(asked.path)
    if name is not None:
        return answer(asked, 200, html(asked, page=f"/{name}"), f"ETag: {tag_of(asked)}")
    if asked.path == "/host":
        return redirect(asked, 302, asked.url_of("/with-host").removeprefix("http:"))
    location = _LOCATIONS.get(asked.path)
    if location is None:
        return not_found(asked)
    prefix = asked.path_of("/").encode()[:-1]
    return redirect(asked, 302, location[0] if location[0].startswith(b".") else prefix + location[0])


@behaviour(_KEPT, "RFC 9110 §15.4.1", None,
           outcomes=_outcomes("error"))  # fmt: skip
def multiple_choices(asked: Asked) -> Script:
    """Answers 300 with a list of choices and no Location."""
    return answer(asked, 300, "<ul><li>This one<li>That one</ul>") if asked.round == 1 else honest(asked)


@behaviour("The proxy is never asked; the old page stands.",
           "RFC 9110 §15.4.6", None, never("/proxy"), outcomes=_outcomes("error"), starts=_ONE)  # fmt: skip
def use_proxy(asked: Asked) -> Script:
    """Answers 305 Use Proxy with the address of a proxy."""
    if asked.path == "/proxy":
        return ok(asked, version="v9")
    return redirect(asked, 305, asked.path_of("/proxy")) if asked.round == 1 else honest(asked)


@behaviour("Never connected to; the old page stands.", "Scope of the crawl; OWASP SSRF", None, never("other:/admin"),
           two_hosts=True, own_host=True, outcomes=_outcomes("refused"))  # fmt: skip
def redirect_to_a_private_host(asked: Asked) -> Script:
    """Redirects to a service on another private address that is no part of the site."""
    if asked.host:
        return ok(asked, version="v9")
    return redirect(asked, 302, asked.url_of("other:/admin")) if asked.round == 1 else honest(asked)


@behaviour("Never connected to; the old page stands.",
           "RFC 3927; OWASP SSRF", None, outcomes=_outcomes("refused"))  # fmt: skip
def redirect_to_link_local(asked: Asked) -> Script:
    """Redirects to 169.254.169.254, where clouds keep their secrets."""
    return redirect(asked, 302, "http://169.254.169.254/latest/meta-data/") if asked.round == 1 else honest(asked)


@behaviour("Blocked, not changed: the old page stands.", "RFC 9110 §15.4.3",
           None, outcomes=_outcomes("blocked"), starts=_ONE)  # fmt: skip
def redirect_to_login(asked: Asked) -> Script:
    """Redirects to the log-in page for a round."""
    if asked.path == "/login":
        return answer(asked, 200, _LOGIN)
    return redirect(asked, 302, asked.path_of("/login?next=%2Fpage")) if asked.round == 1 else honest(asked)


_LOGIN = (
    "<!doctype html><title>Log in</title><main><h1>Log in</h1><form method=post action=/login>"
    "<label>Name <input name=user></label><label>Password <input type=password name=password></label>"
    "<button>Log in</button></form></main>"
)


@behaviour("That hides a missing page: blocked, the old page stands.",
           "Policy of the crawl: a home page is no article", None, outcomes=_outcomes("blocked"))  # fmt: skip
def redirect_to_home(asked: Asked) -> Script:
    """Redirects the page to the home page for a round."""
    if asked.path == "/":
        return answer(asked, 200, "<!doctype html><title>Home</title><h1>Welcome</h1><p>All of our pages.</p>")
    return redirect(asked, 302, asked.path_of("/")) if asked.round == 1 else honest(asked)


_MANY = {f"/page{number}": "v1 v1 v1 v2" for number in range(1, 13)}


@behaviour("Many to one is no move: blocked, the old pages stand.",
           "Policy of the crawl: a target shared by many sources", _MANY, outcomes=_outcomes("blocked"))  # fmt: skip
def many_to_one(asked: Asked) -> Script:
    """Redirects twelve pages to one for a round."""
    if asked.path == "/overview":
        return answer(asked, 200, "<!doctype html><title>Overview</title><h1>Overview</h1><p>Please choose.</p>")
    return redirect(asked, 302, asked.path_of("/overview")) if asked.round == 1 else honest(asked)
