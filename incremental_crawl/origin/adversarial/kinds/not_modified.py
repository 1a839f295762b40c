"""304s with a body, without a reason, without a tag, and against the truth (RFC 9110 §15.4.5, RFC 9111 §4.3.4)."""

from __future__ import annotations

from collections.abc import Iterator

from incremental_crawl.origin.adversarial.asked import Asked, End, Script, Step
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import at_most, earned, verbatim
from incremental_crawl.origin.adversarial.say import (
    NEW_DATE,
    OLD_DATE,
    chunked,
    date_of,
    head,
    holds,
    honest,
    not_found,
    not_modified,
    ok,
    revalidated,
    tag_of,
)

behaviour = Declaring(Kind.NOT_MODIFIED)


@behaviour("304 is never a change, however its tag is written; the tag of the 304 replaces the stored one.",
           "RFC 9110 §8.8.3.2; RFC 9111 §4.3.4", None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def strong_tag_on_304(asked: Asked) -> Script:
    """Weakens the tag of a compressed 200 and sends the strong one with its 304 (nginx, hapi)."""
    strong = tag_of(asked)
    if asked.tag in (strong, f"W/{strong}"):
        return not_modified(asked, f"ETag: {strong}")
    return ok(asked, f"ETag: W/{strong}")


@behaviour("What a 304 leaves out is kept.",
           "RFC 9111 §4.3.4; RFC 9110 §15.4.5", None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def bare_304(asked: Asked) -> Script:
    """Sends its 304 without any validator, as Squid does."""
    if holds(asked, tag_of(asked), date_of(asked)):
        return not_modified(asked)
    return ok(asked, f"ETag: {tag_of(asked)}", f"Last-Modified: {date_of(asked)}")


@behaviour("The validators of a 304 replace those stored.", "RFC 9111 §4.3.4", None,
           earned(1, 2), verbatim())  # fmt: skip
def new_tag_on_304(asked: Asked) -> Script:
    """Sends a new tag with the 304 and from then on matches only that one."""
    if asked.version != "v1":
        return revalidated(asked, '"edited"')
    own, following = f'"gen-{asked.memory.get("at", 0)}"', f'"gen-{asked.memory.get("at", 0) + 1}"'
    if asked.tag == own:
        asked.memory["at"] = asked.memory.get("at", 0) + 1
        return not_modified(asked, f"ETag: {following}")
    return ok(asked, f"ETag: {own}")


@behaviour("The validators of a 304 replace those stored.", "RFC 9111 §4.3.4", None,
           earned(1, 2), verbatim())  # fmt: skip
def new_date_on_304(asked: Asked) -> Script:
    """Sends a newer date with the 304 and from then on matches only that one."""
    if asked.version != "v1":
        return revalidated(asked, None, NEW_DATE)
    at = asked.memory.get("at", 5)
    if asked.since == f"Mon, {at:02} Jan 2026 10:00:00 GMT":
        asked.memory["at"] = at + 1
        return not_modified(asked, f"Last-Modified: Mon, {at + 1:02} Jan 2026 10:00:00 GMT")
    return ok(asked, f"Last-Modified: Mon, {at:02} Jan 2026 10:00:00 GMT")


@behaviour("The page stands; the bytes belong to no answer, so the connection is given up.",
           "RFC 9112 §6.3; RFC 9110 §15.4.5", {"/page": "v1 v1 v1 v2", "/next": "v1 v1 v1 v2"},
           earned(1, 2))  # fmt: skip
def body_behind_304(asked: Asked) -> Script:
    """Sends `Content-Length: 9` and nine bytes behind its 304, on a connection that stays open."""
    if holds(asked, tag_of(asked), None):
        return head(asked, 304, f"ETag: {tag_of(asked)}", "Content-Length: 9", "Connection: keep-alive") + b"<!DOCTYPE"
    return ok(asked, f"ETag: {tag_of(asked)}")


@behaviour("As with a counted body: no later answer is made of it.",
           "RFC 9112 §6.3, §7.1", {"/page": "v1 v1 v1 v2", "/next": "v1 v1 v1 v2"}, earned(1, 2))  # fmt: skip
def chunks_behind_304(asked: Asked) -> Script:
    """Sends a chunked body behind its 304, on a connection that stays open."""
    if holds(asked, tag_of(asked), None):
        return head(asked, 304, f"ETag: {tag_of(asked)}", "Transfer-Encoding: chunked") + chunked(b"hello")
    return ok(asked, f"ETag: {tag_of(asked)}")


@behaviour("A 304 ends with its header section: nothing is waited for.",
           "RFC 9112 §6.3", {"/page": "v1 v1 v1 v2", "/next": "v1 v1 v1 v2"}, earned(1, 2),
           at_most(4, "/page", 1, 2))  # fmt: skip
def body_announced_with_304(asked: Asked) -> Script:
    """Announces 5,000 gzipped bytes in its 304 and sends none."""
    if holds(asked, tag_of(asked), None):
        return not_modified(asked, f"ETag: {tag_of(asked)}", "Content-Encoding: gzip", "Content-Length: 5000")
    return ok(asked, f"ETag: {tag_of(asked)}")


@behaviour("One request more, with `Cache-Control: no-cache`; then the page is held.",
           "RFC 9110 §15.4.5; RFC 9111 §4.3.3", None,
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def unasked_304_at_first(asked: Asked) -> Script:
    """Answers 304 to the first visit, which carried no condition; `no-cache` gets through."""
    return ok(asked) if asked.past_caches else not_modified(asked, 'ETag: "z"')


@behaviour("Nothing is held, nothing is gone: an error each time, in two requests.",
           "RFC 9110 §15.4.5", {"/page": "-"}, at_most(4),
           outcomes="error error error error error error")  # fmt: skip
def always_304(asked: Asked) -> Script:
    """Answers 304 whatever is asked."""
    return not_modified(asked, 'ETag: "z"')


@behaviour("Such a 304 confirms nothing: ask past the cache.", "RFC 9110 §15.4.5", None,
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def unasked_304_later(asked: Asked) -> Script:
    """Begins to answer 304 to requests without a condition, for a page that has no validator."""
    return ok(asked) if asked.round == 0 or asked.past_caches else not_modified(asked)


@behaviour("The page is confirmed; the Location of a 304 leads nowhere.",
           "RFC 9110 §15.4.5, §10.2.2", {"/page": "v1 v1 v1 v2", "/elsewhere": "-"}, earned(1, 2),
           starts=("/page",))  # fmt: skip
def location_on_304(asked: Asked) -> Script:
    """Sends a Location with its 304."""
    if asked.path == "/elsewhere":
        return ok(asked, version="v1")
    return revalidated(asked, tag_of(asked)) if not holds(asked, tag_of(asked), None) else not_modified(
        asked, f"Location: {asked.path_of('/elsewhere')}", f"ETag: {tag_of(asked)}"
    )  # fmt: skip


@behaviour("No condition can find it: an audit does, within its bound.",
           "RFC 9110 §8.8.1", {"/page": "v1 v1 v1 v1|v2 v1|v2 v2"}, earned(1, 2),
           audited=True, outcomes="new not_modified not_modified changed not_modified not_modified")  # fmt: skip
def false_304(asked: Asked) -> Script:
    """Keeps tag and date over an edit and goes on answering 304: a file replaced with its old time and size."""
    return revalidated(asked, '"same"', OLD_DATE)


@behaviour("An audit has to ask past the caches.", "RFC 9111 §4.3.2, §5.2.1.4",
           {"/page": "v1 v1 v1 v1|v2 v1|v2 v2"}, earned(1, 2),
           audited=True, outcomes="new not_modified not_modified changed same_hash same_hash")  # fmt: skip
def cache_confirms_anything(asked: Asked) -> Script:
    """Sits behind a cache that answers 304 to any condition; only `no-cache` reaches the page."""
    if asked.conditional and not asked.past_caches:
        return not_modified(asked, "Age: 86400", f"ETag: {asked.tag or tag_of(asked)}")
    return ok(asked, f"ETag: {tag_of(asked)}")


@behaviour("An audit finds the 404, which is then confirmed like any other.", "RFC 9110 §13.2.1, §15.5.5",
           {"/page": "v1 v1 v1|gone v1|gone v1|gone gone"}, earned(1), audited=True,
           outcomes="new not_modified gone suspect_gone|gone suspect_gone|gone suspect_gone|gone")  # fmt: skip
def gone_page_confirmed(asked: Asked) -> Script:
    """Confirms a page that is gone: 304 to the condition, 404 without it."""
    if holds(asked, '"kept"', None):
        return not_modified(asked, 'ETag: "kept"')
    return ok(asked, 'ETag: "kept"') if asked.round < 2 else not_found(asked)


@behaviour("The old copy is no new version; the edit is found once, when the cache lets go of it.", "RFC 9111 §5.1",
           {"/page": "v1 v1 v1 v1|v2 v2"}, verbatim(),
           outcomes="new not_modified not_modified not_modified changed not_modified")  # fmt: skip
def stale_cache(asked: Asked) -> Script:
    """Serves the edited page from its cache, an hour old, for one more round (`Age`)."""
    version = "v1" if asked.round <= 3 and not (asked.round == 3 and asked.past_caches) else "v2"
    return honest(asked, "Age: 3600", version=version)


@behaviour("Either version for that round, the new one after it, and the change once.", "RFC 9110 §8.8.1",
           {"/page": "v1 v1 v1 v1|v2 v2"}, verbatim(),
           outcomes="new not_modified not_modified retry_later|changed changed|not_modified not_modified")  # fmt: skip
def backend_lags_behind(asked: Asked) -> Script:
    """Has one back end that lags behind at the moment of the edit, so that answers take turns for a round."""
    if asked.round != 3:
        return honest(asked)
    return honest(asked, version="v2" if asked.nth % 2 else "v1")


@behaviour("Confirmed; the next page is asked on a new connection.", "RFC 9112 §9.3.1",
           {"/page": "v1 v1 v1 v2", "/next": "v1 v1 v1 v2"}, earned(1, 2))  # fmt: skip
def closes_after_304(asked: Asked) -> Iterator[Step]:
    """Sends the 304 and closes in the same breath, though it promised to keep the connection."""
    yield revalidated(asked, tag_of(asked), None, "Connection: keep-alive")
    yield End.CLOSE
