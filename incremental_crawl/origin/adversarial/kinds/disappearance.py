"""Pages that go, seem to go, and come back (RFC 9110 §15.5.5, §15.5.11)."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import earned
from incremental_crawl.origin.adversarial.say import answer, honest, html, not_found

behaviour = Declaring(Kind.DISAPPEARANCE)
_GONE = "<h1>Gone</h1>"


@behaviour("Gone once a second request confirms it, once; then restored.", "RFC 9110 §15.5.5",
           {"/page": "v1 v1 gone gone v2"}, edit_at=4,
           outcomes="new not_modified gone suspect_gone|gone restored not_modified")  # fmt: skip
def not_found_twice(asked: Asked) -> Script:
    """Answers 404 for two rounds, then serves the page again, edited."""
    return not_found(asked) if asked.round in (2, 3) else honest(asked)


@behaviour("Gone at once; then restored.",
           "RFC 9110 §15.5.11", {"/page": "v1 gone v1 v2"},
           outcomes="new gone restored changed not_modified not_modified")  # fmt: skip
def gone_and_back(asked: Asked) -> Script:
    """Answers 410 for a round, then serves the page again as it was."""
    return answer(asked, 410, _GONE) if asked.round == 1 else honest(asked)


@behaviour("Gone at once, with one event.", "RFC 9110 §15.5.11", {"/page": "v1 v1 gone"},
           outcomes="new not_modified gone gone gone gone")  # fmt: skip
def gone_for_good(asked: Asked) -> Script:
    """Answers 410 for good."""
    return honest(asked) if asked.round < 2 else answer(asked, 410, _GONE)


@behaviour("A 404 alone says nothing about permanence: the page stands.",
           "RFC 9110 §15.5.5", None, earned(2),
           outcomes="new suspect_gone not_modified changed not_modified not_modified")  # fmt: skip
def flapping(asked: Asked) -> Script:
    """Answers 404 once and 200 a moment later."""
    return not_found(asked) if asked.round == 1 and asked.nth == 1 else honest(asked)


@behaviour("Not confirmed: the page stands.", "RFC 9110 §15.5.5, §15.6.1",
           None, earned(2), outcomes="new suspect_gone not_modified changed not_modified not_modified")  # fmt: skip
def not_found_then_error(asked: Asked) -> Script:
    """Answers 404 and a moment later 500."""
    if asked.round == 1:
        return not_found(asked) if asked.nth == 1 else answer(asked, 500, "<h1>Server Error</h1>")
    return honest(asked)


@behaviour("What was never there cannot be gone; it is new when it comes.",
           "RFC 9110 §15.5.5", {"/page": "- - v1 v2"},
           outcomes="suspect_gone suspect_gone new changed not_modified not_modified")  # fmt: skip
def not_there_yet(asked: Asked) -> Script:
    """Answers 404 until the third visit."""
    return not_found(asked) if asked.round < 2 else honest(asked)


@behaviour("A soft 404 is neither a change nor an end.",
           "RFC 9110 §15.5.5; RFC 9110 §15.3.1", None, earned(2),
           outcomes="new blocked not_modified changed not_modified not_modified")  # fmt: skip
def soft_404(asked: Asked) -> Script:
    """Answers 200 with a page that says that there is no such page."""
    if asked.round != 1:
        return honest(asked)
    return answer(
        asked, 200, "<!doctype html><title>404 - Page not found</title><main><h1>Page not found</h1>"
        "<p>Sorry, the page you are looking for does not exist or has been removed.</p><a href=/>Home</a></main>",
    )  # fmt: skip


@behaviour("The status counts, not the body.", "RFC 9110 §15.5.5",
           {"/page": "v1 gone gone v2"}, outcomes="new gone suspect_gone|gone restored not_modified not_modified")  # fmt: skip
def not_found_with_the_page(asked: Asked) -> Script:
    """Serves a 404 whose body is the page."""
    return answer(asked, 404, html(asked)) if asked.round in (1, 2) else honest(asked)
