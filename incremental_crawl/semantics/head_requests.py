"""When the answer to a HEAD can stand for that to a GET (RFC 9110 §9.3.2 asks for it, servers do otherwise)."""

from __future__ import annotations

from incremental_crawl.semantics.answers import Headers, first
from incremental_crawl.semantics.validators import Validators, from_response, weakly_equal

HEAD_BYTES = 50_000
"""Below this body size HEAD saves nothing worth a probe."""
HEAD_PROBES = 5
"""HEAD is used once it agreed with GET so many times, and never disagreed."""


def head_confirms(stored: Validators, status: int, headers: Headers) -> bool:
    """Whether the answer to a HEAD says that the page is the one whose validators are stored.

    A tag decides alone where there is one on either side; a date only without any tag.
    """
    own = from_response(headers)
    if status != 200:
        return False
    if stored.etag is not None or own.etag is not None:
        return stored.etag is not None and own.etag is not None and weakly_equal(stored.etag, own.etag)
    return stored.last_modified is not None and stored.last_modified == own.last_modified


def head_disagreement(get: tuple[int, Headers], head: tuple[int, Headers]) -> str | None:
    """In what HEAD and GET of one moment differ (RFC 9110 §9.3.2): status, validators or type; None where nowhere."""
    (status, fields), (head_status, head_fields) = get, head
    if status != head_status:
        return f"HEAD answers {head_status}, GET {status}"
    for name in ("etag", "last-modified", "content-type"):
        if first(fields, name) != first(head_fields, name):
            return f"HEAD says {name} {first(head_fields, name)}, GET {first(fields, name)}"
    return None
