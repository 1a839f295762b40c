"""Answers that are not the page, whatever their status says: blocked is not changed (RFC 9110 §15)."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Check, Declaring, Kind
from incremental_crawl.origin.adversarial.checks import earned
from incremental_crawl.origin.adversarial.say import answer, head, honest, html, now

behaviour = Declaring(Kind.BLOCKED)
_STANDS = "A failed look: the old page stands, nothing is reported; the edit once."


def _instead(
    name: str, outcome: str, summary: str, authority: str, status: int, body: str, *lines: str,
    pages: dict[str, str] | None = None, checks: tuple[Check, ...] = (earned(2),),
) -> None:  # fmt: skip
    def respond(asked: Asked) -> Script:
        return answer(asked, status, body, *lines) if asked.round == 1 else honest(asked)

    behaviour.add(
        name, respond, summary, _STANDS, authority, pages, *checks,
        outcomes=f"new {outcome} not_modified changed not_modified not_modified",
    )  # fmt: skip


_SHELL = '<!doctype html><html><head><title>App</title><script src="/app.js" defer></script></head><body><div id="root"></div></body></html>'
_instead("empty-body", "empty", "Answers 200 with `Content-Length: 0`.", "RFC 9110 §8.6, §15.3.1", 200, "")
_instead("white-space", "empty", "Answers 200 with white space.", "RFC 9110 §15.3.1", 200, " \n\t\r\n ")
_instead("single-nul", "empty", "Answers 200 with one NUL byte.", "RFC 9110 §15.3.1", 200, "\0")
_instead("script-shell", "empty", "Answers 200 with a shell that a script would fill.", "RFC 9110 §15.3.1", 200, _SHELL)
_instead("partial-content", "incomplete", "Answers 206 to a request without a range, with half a page.", "RFC 9110 §15.3.7",
         206, "<p>The middle of the page.</p>", "Content-Range: bytes 100-129/900")  # fmt: skip
_instead(
    "unauthorized",
    "blocked",
    "Answers 401.",
    "RFC 9110 §15.5.2",
    401,
    "<h1>Log in</h1>",
    'WWW-Authenticate: Basic realm="x"',
)
_instead("payment-required", "blocked", "Answers 402.", "RFC 9110 §15.5.3", 402, "<h1>Subscribe</h1>")
_instead("forbidden", "blocked", "Answers 403.", "RFC 9110 §15.5.4", 403, "<h1>Forbidden</h1>")
_instead("legal-reasons", "blocked", "Answers 451.", "RFC 7725 §3", 451, "<h1>Unavailable</h1>")
_instead("teapot", "error", "Answers 418.", "RFC 9110 §15.5.19", 418, "<h1>I am a teapot</h1>")
_instead("status-599", "retry_later", "Answers 599.", "RFC 9110 §15 (as 500)", 599, "<h1>Odd</h1>")
_instead(
    "status-999",
    "retry_later|blocked",
    "Answers 999, as some do to robots.",
    "RFC 9110 §15 (as 5xx)",
    999,
    "<h1>Denied</h1>",
)

_CHALLENGE = (
    '<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta name="robots" content="noindex,nofollow">'
    '</head><body><div class="main-wrapper"><h1>Checking your browser before you continue</h1>'
    '<p>Verify you are human by completing the action below.</p><noscript>Enable JavaScript and cookies to continue</noscript>'
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1"></script></div></body></html>'
)  # fmt: skip
for _status in (200, 403, 503):
    _lines = ("Server: cloudflare", "CF-Ray: 8a1", *(["cf-mitigated: challenge"] if _status != 200 else []))
    _instead(f"challenge-{_status}", "blocked" if _status != 503 else "blocked|retry_later",
             f"Answers {_status} with a challenge for robots.", "RFC 9110 §15.5.4; policy of the crawl",
             _status, _CHALLENGE, *_lines)  # fmt: skip
_instead("captcha", "blocked", "Answers 200 with a captcha.", "RFC 9110 §15.5.4; policy of the crawl", 200,
         "<!doctype html><title>Are you a robot?</title><main><h1>Please verify you are a human</h1>"
         '<form><div class="g-recaptcha" data-sitekey="x"></div></form>'
         '<script src="https://www.google.com/recaptcha/api.js"></script></main>')  # fmt: skip
_instead("consent-page", "blocked", "Answers 200 with a consent page instead of the article.",
         "RFC 9110 §15.3.1; policy of the crawl", 200,
         "<!doctype html><title>Before you continue</title><main><h1>Before you continue</h1>"
         "<p>We and our partners use cookies. Accept all cookies to read on, or manage your privacy settings.</p>"
         '<form action="/consent" method=post><button name=accept>Accept all</button><button name=reject>Reject all</button>'
         "</form></main>")  # fmt: skip
_instead("login-page", "blocked", "Answers 200 with a log-in form instead of the article.", "RFC 9110 §15.5.2; policy of the crawl",
         200, "<!doctype html><title>Log in</title><main><h1>Log in to continue</h1><form method=post action=/login>"
         "<input name=user autocomplete=username><input type=password name=password><button>Log in</button></form></main>")  # fmt: skip

_ALL = {f"/page{number}": "v1 v1 v1 v2" for number in range(1, 13)}
_BACK_SOON = (
    "<!doctype html><title>Back soon</title><main><h1>We will be back soon</h1>"
    "<p>The site is down for scheduled maintenance. Please try again later.</p></main>"
)


@behaviour("Many pages that suddenly share one body are no change: all of the old pages stand.",
           "RFC 9110 §15.6.4 (it should have been 503)", _ALL,
           outcomes="new blocked not_modified changed not_modified not_modified")  # fmt: skip
def maintenance_page(asked: Asked) -> Script:
    """Answers 200 with the same maintenance page for all of its twelve pages, its Last-Modified now."""
    if asked.round != 1:
        return honest(asked)
    return answer(asked, 200, _BACK_SOON, f"Last-Modified: {now(asked)}", "Cache-Control: no-store")


@behaviour("Many pages that suddenly share one body are no change: all of the old pages stand.",
           "Policy of the crawl: one body under many addresses", _ALL,
           outcomes="new blocked not_modified changed not_modified not_modified")  # fmt: skip
def one_body_for_all(asked: Asked) -> Script:
    """Answers 200 with one and the same friendly page for all of its twelve pages; no word gives it away."""
    if asked.round != 1:
        return honest(asked)
    text = "The garden is open every day from nine to five, and the harbour from six. " * 12
    return answer(asked, 200, f"<!doctype html><title>Garden</title><main><h1>The garden</h1><p>{text}</p></main>")


@behaviour("No content is no page: the old one stands.", "RFC 9110 §15.3.5, §15.3.6", None,
           outcomes="new empty empty changed not_modified not_modified")  # fmt: skip
def no_content(asked: Asked) -> Script:
    """Answers 204, then 205."""
    if asked.round in (1, 2):
        return head(asked, 203 + asked.round, *(["Content-Length: 0"] if asked.round == 2 else []))
    return honest(asked)


@behaviour("The page, as a proxy passed it on.", "RFC 9110 §15.3.4", None,
           outcomes="new same_hash not_modified changed not_modified not_modified")  # fmt: skip
def by_a_proxy(asked: Asked) -> Script:
    """Answers 203 with the whole page."""
    return answer(asked, 203, html(asked), 'ETag: "page-v1"') if asked.round == 1 else honest(asked)


@behaviour("As 200, or a failed look: the page stands either way.",
           "RFC 9110 §15", None, outcomes="new same_hash|error not_modified changed not_modified not_modified")  # fmt: skip
def status_299(asked: Asked) -> Script:
    """Answers 299 with the page as it was."""
    return answer(asked, 299, html(asked), 'ETag: "page-v1"') if asked.round == 1 else honest(asked)
