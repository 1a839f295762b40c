"""Validators that cannot be relied on: a client has to learn, per host, what is worth sending (RFC 9110 §8.8.1)."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import earned, earned_once, verbatim
from incremental_crawl.origin.adversarial.say import (
    NEW_DATE,
    OLD_DATE,
    answer,
    date_of,
    honest,
    not_modified,
    now,
    ok,
    revalidated,
    tag_of,
)

behaviour = Declaring(Kind.CONDITIONS)
# Several pages, since a client may try again what it distrusts with one page in so many.
_PAGES = ("/page", "/page2", "/page3")
_LATE = dict.fromkeys(_PAGES, "v1 v1 v1 v1 v2")
_LEARNT = "new same_hash same_hash same_hash|not_modified changed same_hash|not_modified"
_VERBATIM = [verbatim(page) for page in _PAGES]


@behaviour("The tag stays as it came; the list or the date alone earns the 304; no event before the edit.",
           "RFC 9110 §8.8.3.3; Apache DeflateAlterETag", _LATE, *_VERBATIM, earned_once(2, 3, 5, page=None), edit_at=4,
           outcomes=_LEARNT)  # fmt: skip
def apache_gzip_suffix(asked: Asked) -> Script:
    """Adds `-gzip` to the tag of a compressed answer and then matches only the tag without it (mod_deflate)."""
    plain, date = tag_of(asked), date_of(asked)
    coded = plain[:-1] + '-gzip"'
    lines = f"ETag: {coded}", f"Last-Modified: {date}", "Vary: Accept-Encoding"
    listed = [] if asked.tag is None else [one.strip() for one in asked.tag.split(",")]
    if plain in listed or (not listed and asked.since == date):
        return not_modified(asked, f"ETag: {plain}", lines[1])
    return ok(asked, *lines)


@behaviour("Nothing has changed; leave the tag out and the date earns the 304.", "RFC 9110 §8.8.1, §13.2.2",
           _LATE, *_VERBATIM, earned_once(2, 3, 5, page=None), edit_at=4,
           outcomes=_LEARNT)  # fmt: skip
def rotating_tag_good_date(asked: Asked) -> Script:
    """Sends a new tag with every answer beside a good date, and ignores the date where a tag is sent."""
    date = date_of(asked)
    lines = f'ETag: "{asked.random.getrandbits(48):012x}"', f"Last-Modified: {date}"
    return not_modified(asked, *lines) if asked.tag is None and asked.since == date else ok(asked, *lines)


@behaviour("Leave the date out and the tag earns the 304.", "RFC 9110 §8.8.2, §13.2.2; Apache, nginx",
           dict.fromkeys(_PAGES, "v1 v1 v1 v1 v1 v2"), *_VERBATIM, earned_once(2, 3, 4, page=None), edit_at=5,
           outcomes="new same_hash same_hash|not_modified same_hash|not_modified same_hash|not_modified changed")  # fmt: skip
def good_tag_date_is_now(asked: Asked) -> Script:
    """Sends Last-Modified = now with every answer beside a good tag, and lets both decide."""
    tag, date = tag_of(asked), now(asked)
    lines = f"ETag: {tag}", f"Last-Modified: {date}"
    same = asked.tag == tag and asked.since in (None, date)
    return not_modified(asked, *lines) if same else ok(asked, *lines)


@behaviour("304 by the tag; the edit once.",
           "RFC 9110 §8.8.2.1, §13.2.2", None, earned_once(1, 2), verbatim(),
           outcomes="new same_hash|not_modified not_modified changed same_hash|not_modified not_modified")  # fmt: skip
def date_is_now_tag_decides(asked: Asked) -> Script:
    """Sends Last-Modified = now beside a good tag, which alone decides."""
    return revalidated(asked, tag_of(asked), now(asked))


@behaviour("Compare the content; never a change by itself.",
           "RFC 9110 §8.8.1", None, verbatim(),
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def both_rotate(asked: Asked) -> Script:
    """Sends a random tag and Last-Modified = now with every answer."""
    return ok(asked, f'ETag: "{asked.random.getrandbits(48):012x}"', f"Last-Modified: {now(asked)}")


@behaviour("No change is recorded; the edit once.", "RFC 9110 §8.8.1, §8.8.3", None, verbatim(),
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def tag_per_backend(asked: Asked) -> Script:
    """Has two back ends with a tag each for identical bytes, which take turns."""
    node = ("1416384949000", "1414576453000")[asked.count("asked") % 2]
    return revalidated(asked, f'"{asked.version}-{node}"')


@behaviour("304; the W/ belongs to the tag and is sent as it came.", "RFC 9110 §8.8.3.2", None,
           earned(1, 2, 4), verbatim())  # fmt: skip
def weakness_flips(asked: Asked) -> Script:
    """Has the same page as `W/"t"` or `"t"`, by who filled the cache, and compares weakly (Varnish)."""
    strong = tag_of(asked)
    own = f"ETag: {'W/' if asked.count('asked') % 2 else ''}{strong}"
    if asked.tag is not None and asked.tag.removeprefix("W/") == strong:
        return not_modified(asked, own)
    return ok(asked, own)


@behaviour("A 412 says nothing about the page: ask again without the condition.", "RFC 9110 §13.1.2, §15.5.13", None,
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def precondition_failed(asked: Asked) -> Script:
    """Answers 412 to a condition that holds, instead of 304."""
    if asked.conditional:
        return answer(asked, 412, "<p>Precondition Failed</p>")
    return ok(asked, f"ETag: {tag_of(asked)}")


@behaviour("The request may be repeated without the field that is too large.", "RFC 6585 §5", None,
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def tag_too_long_to_return(asked: Asked) -> Script:
    """Sends a tag of 8,000 characters and answers 431 where it comes back."""
    if len(asked.tag or "") > 4_000:
        return answer(asked, 431, "<p>Request Header Fields Too Large</p>")
    return ok(asked, f'ETag: "{asked.version}{"f" * 8_000}"')


@behaviour("Ask again without the condition; the page is neither wrong nor gone.", "RFC 9110 §15.5.1", None,
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def condition_is_a_bad_request(asked: Asked) -> Script:
    """Answers 400 to every conditional request."""
    return answer(asked, 400, "<p>Bad Request</p>") if asked.conditional else honest(asked)


@behaviour("No condition can find it: only an audit of confirmed pages does.", "RFC 9110 §8.8.2.1, §13.1.3",
           {"/page": "v1 v1 v1 v1|v2 v1|v2 v2"}, earned(1, 2), audited=True,
           outcomes="new not_modified not_modified changed not_modified not_modified")  # fmt: skip
def date_goes_back(asked: Asked) -> Script:
    """Has its page rolled back: the edit brings an older date, and what is not newer is not modified."""
    date, not_newer = (NEW_DATE, (NEW_DATE,)) if asked.version == "v1" else (OLD_DATE, (OLD_DATE, NEW_DATE))
    line = f"Last-Modified: {date}"
    return not_modified(asked, line) if asked.since in not_newer else ok(asked, line)
