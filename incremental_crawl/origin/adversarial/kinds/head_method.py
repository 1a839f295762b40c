"""HEAD that says something else than GET (RFC 9110 §9.3.2).

Pages are large and conditions are ignored, so that HEAD seems worth a try.
"""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import verbatim
from incremental_crawl.origin.adversarial.say import answer, html, not_found, tag_of

behaviour = Declaring(Kind.HEAD)
_RIGHT = "Nothing is concluded from HEAD alone; GET decides."
_SAME = "same_hash|not_modified"
_OUTCOMES = f"new {_SAME} {_SAME} {_SAME} changed {_SAME}"
_PAGES = dict.fromkeys([f"/page{number}" for number in range(1, 22)], "v1 v1 v1 v1 v2")
_LARGE = f"<!-- {'filling ' * 6_300}-->"


def _large(asked: Asked, tag: str, version: str | None = None) -> bytes:
    return answer(asked, 200, html(asked, version, _LARGE), f"ETag: {tag}")


@behaviour(_RIGHT, "RFC 9110 §9.3.2, §15.5.6", _PAGES, verbatim("/page1"), edit_at=4, outcomes=_OUTCOMES)
def head_not_allowed(asked: Asked) -> Script:
    """Answers 405 to HEAD."""
    return answer(asked, 405, "", "Allow: GET") if asked.method == "HEAD" else _large(asked, tag_of(asked))


@behaviour(_RIGHT, "RFC 9110 §9.3.2", _PAGES, verbatim("/page1"), edit_at=4, outcomes=_OUTCOMES)
def head_says_gone(asked: Asked) -> Script:
    """Answers 404 to HEAD for pages that exist."""
    return not_found(asked) if asked.method == "HEAD" else _large(asked, tag_of(asked))


@behaviour(_RIGHT, "RFC 9110 §9.3.2, §8.8.3.3", _PAGES, verbatim("/page1"), edit_at=4, outcomes=_OUTCOMES)
def head_has_another_tag(asked: Asked) -> Script:
    """Answers HEAD for the uncompressed variant: another tag than GET (lighttpd)."""
    tag = tag_of(asked)
    return _large(asked, tag if asked.method == "HEAD" else tag[:-1] + '-gzip"')


@behaviour("Where HEAD was right so far the edit may come a round late, but once; GET decides.",
           "RFC 9110 §9.3.2; RFC 9111 §4.3.5", dict.fromkeys(_PAGES, "v1 v1 v1 v1 v1|v2 v2"), verbatim("/page1"),
           edit_at=4, outcomes=f"new {_SAME} {_SAME} {_SAME} changed|{_SAME} changed|{_SAME}")  # fmt: skip
def head_is_stale(asked: Asked) -> Script:
    """Answers HEAD from a cache that has the page as it was before the edit for a round longer."""
    version = "v1" if asked.method == "HEAD" and asked.round == 4 else asked.version
    return _large(asked, tag_of(asked, version), version)


@behaviour(_RIGHT, "RFC 9110 §9.3.2; RFC 9112 §6.3", _PAGES, verbatim("/page1"), edit_at=4, outcomes=_OUTCOMES)
def head_with_a_body(asked: Asked) -> Script:
    """Sends a body with the answer to HEAD."""
    sent = _large(asked, tag_of(asked))
    return sent + b"<!doctype html><p>This is no answer.</p>" if asked.method == "HEAD" else sent
