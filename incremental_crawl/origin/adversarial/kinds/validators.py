"""Validators of every shape: what is stored, and what is sent back (RFC 9110 §8.8, §13.1)."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import earned, requested, verbatim
from incremental_crawl.origin.adversarial.say import (
    NEW_DATE,
    OLD_DATE,
    answer,
    date_of,
    holds,
    honest,
    not_modified,
    now,
    ok,
    revalidated,
    tag_of,
)

behaviour = Declaring(Kind.VALIDATORS)
_ECHO = "Store the value as it came and send it back byte for byte."


@behaviour("304 for the unchanged page; the edit once.",
           "RFC 9110 §13.1.2, §13.1.3", None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def both_validators(asked: Asked) -> Script:
    """Sends an ETag and a Last-Modified and honours both."""
    return honest(asked)


@behaviour("304 by If-None-Match; the edit once.", "RFC 9110 §13.1.2",
           None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def tag_only(asked: Asked) -> Script:
    """Sends an ETag alone."""
    return revalidated(asked, tag_of(asked))


@behaviour("304 by If-Modified-Since; the edit once.",
           "RFC 9110 §13.1.3", None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def date_only(asked: Asked) -> Script:
    """Sends a Last-Modified alone, from long before."""
    return revalidated(asked, date=date_of(asked))


@behaviour("Compare the content; no condition is invented.", "RFC 9110 §13.1",
           None, verbatim(), requested("/page", 0, 1, 2, 3),
           outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def no_validator(asked: Asked) -> Script:
    """Sends no validator at all."""
    return ok(asked)


@behaviour("Send the date that was received, never a clock's.", "RFC 9110 §13.1.3; nginx if_modified_since exact",
           None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def exact_date(asked: Asked) -> Script:
    """Honours If-Modified-Since only where it equals Last-Modified, as nginx does."""
    return revalidated(asked, date=date_of(asked))


_ODD_DATES = {
    "asctime": "Sun Nov  6 08:49:37 1994",
    "rfc850": "Sunday, 06-Nov-94 08:49:37 GMT",
    "numeric-zone": "Mon, 9 Feb 2026 21:46:56 +0000",
    "local-zone": "Thu, 18 Dec 2014 11:21:17 CET",
    "asctime-zone": "Thu Nov 18 02:15:22 2010 GMT",
    "invalid": "Invalid date",
    "french": "mer., 01 janv. 2025 10:00:00 GMT",
    "epoch": "1697173264",
    "future": "Sat, 16 Nov 2041 19:11:00 GMT",
    "february-31": "Wed, 31 Feb 2024 10:00:00 GMT",
}


def _odd_date(value: str) -> None:
    def respond(asked: Asked) -> Script:
        return revalidated(asked, date=value if asked.version == "v1" else NEW_DATE)

    name = next(key for key, own in _ODD_DATES.items() if own == value)
    behaviour.add(
        f"date-{name}",
        respond,
        f"Sends `Last-Modified: {value}` and honours that very text.",
        _ECHO,
        "RFC 9110 §5.6.7, §13.1.3",
        None,
        earned(1, 2),
        verbatim(),
    )


for _value in _ODD_DATES.values():
    _odd_date(_value)


_ODD_TAGS = {
    "latin-1": (b'"caf\xe9"', "has a Latin-1 byte"),
    "utf-8": ('"café"'.encode(), "has UTF-8 bytes"),
    "quotes-and-commas": (b'"a, b" c"', "has a comma, a space and a quote inside"),
    "backslash": (b'"a\\"b\\\\"', "has backslashes, which escape nothing"),
    "unquoted": (b"5f3e-2a", "has no quotes"),
    "single-quotes": (b"'5f3e-2a'", "is in single quotes"),
    "half-quoted": (b'"5f3e-2a', "has a quote at its beginning only"),
    "weak": (b'W/"5f3e"', "is weak"),
    "weak-in-small-letters": (b'w/"5f3e"', "has `w/` in small letters"),
    "empty-quotes": (b'""', 'is the empty one, `""`'),
    "looks-like-any": (b"*", "is a star"),
    "long": (b'"' + b"0123456789abcdef" * 500 + b'"', "has 8,000 characters"),
}


def _odd_tag(name: str, tag: bytes, which: str) -> None:
    def respond(asked: Asked) -> Script:
        own = tag if asked.version == "v1" else b'"second"'
        line = b"ETag: " + own
        if asked.values("if-none-match") == [own.decode("latin-1")]:
            return not_modified(asked, line)
        return ok(asked, line)

    behaviour.add(
        f"tag-{name}",
        respond,
        f"The entity tag {which}; only the very same bytes match.",
        _ECHO,
        "RFC 9110 §8.8.3 (opaque tag), §13.1.2",
        None,
        earned(1, 2),
        verbatim(),
    )


for _name, (_tag, _which) in _ODD_TAGS.items():
    _odd_tag(_name, _tag, _which)


@behaviour("An empty field is no validator: send the date alone.", "RFC 9110 §8.8.3",
           None, earned(1, 2, 4, 5))  # fmt: skip
def tag_without_value(asked: Asked) -> Script:
    """Sends `ETag:` without a value beside a good date, and answers 400 to an empty If-None-Match."""
    if asked.tag is not None:
        return answer(asked, 400, "<p>Bad Request</p>")
    return revalidated(asked, None, date_of(asked), "ETag:")


@behaviour("Use the first line, never both joined.",
           "RFC 9110 §5.3, §8.8.3", None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def two_tag_lines(asked: Asked) -> Script:
    """Sends two ETag lines; only the first, alone, matches."""
    first, lines = tag_of(asked), (f"ETag: {tag_of(asked)}", 'ETag: "second-line"')
    return not_modified(asked, *lines) if asked.values("if-none-match") == [first] else ok(asked, *lines)


@behaviour("New validators on the same content are no change; the edit once.", "RFC 9110 §8.8.1",
           None, verbatim(), outcomes="new same_hash same_hash changed same_hash same_hash")  # fmt: skip
def touched_without_edit(asked: Asked) -> Script:
    """Serves the same page with a new tag and date after every deployment."""
    return revalidated(asked, f'"deploy-{asked.round}"', f"Mon, {5 + asked.round:02} Jan 2026 10:00:00 GMT")


@behaviour("A Last-Modified as young as the answer proves nothing: look once more without it.",
           "RFC 9110 §8.8.2.2", {"/page": "v1 v2 v2 v2 v3"}, earned(2, 3),
           outcomes="new changed not_modified not_modified changed not_modified")  # fmt: skip
def same_second_date(asked: Asked) -> Script:
    """Has a page edited within the very second of the first visit; its date, all that it sends, stays."""
    version, date = _same_second(asked)
    return revalidated(asked, date=date, version=version)


@behaviour("As with the date alone: a young Last-Modified makes the tag beside it doubtful too.",
           "RFC 9110 §8.8.1, §8.8.2.2", {"/page": "v1 v2 v2 v2 v3"}, earned(2, 3),
           outcomes="new changed not_modified not_modified changed not_modified")  # fmt: skip
def same_second_tag(asked: Asked) -> Script:
    """Makes its tag of second and size, as nginx does; the page is edited in that second without growing."""
    version, date = _same_second(asked)
    return revalidated(asked, '"69f4-1a2b"' if version != "v3" else '"69f9-1a2c"', date, version=version)


def _same_second(asked: Asked) -> tuple[str, str]:
    born = str(asked.memory.setdefault("born", now(asked)))
    if asked.round < 4:
        return ("v1" if asked.round == 0 else "v2"), born
    return "v3", OLD_DATE


@behaviour("A 200 replaces both validators; what it leaves out is forgotten.", "RFC 9111 §4.3.4; RFC 9110 §8.8.3",
           {"/page": "v1 v2 v2 v3"}, earned(2),
           outcomes="new changed not_modified changed not_modified not_modified")  # fmt: skip
def tag_withdrawn(asked: Asked) -> Script:
    """Stops sending a tag with the first edit, but goes on confirming the old one."""
    version = ("v1", "v2", "v2", "v3", "v3", "v3")[min(asked.round, 5)]
    if asked.round == 0:
        return revalidated(asked, '"first"', version=version)
    if asked.round >= 2 and asked.tag is not None:
        return not_modified(asked)
    return revalidated(asked, None, OLD_DATE if version == "v2" else NEW_DATE, version=version)


@behaviour("Send the current version's tag alone, never a list of earlier ones.", "RFC 9110 §13.1.2",
           {"/page": "v1 v2 v2 v3"}, earned(2, 4), verbatim(),
           outcomes="new changed not_modified changed not_modified not_modified")  # fmt: skip
def tag_comes_back(asked: Asked) -> Script:
    """Numbers its versions in the tag, and begins at 1 again after a restart."""
    number = ("1", "2", "2", "1", "1", "1")[min(asked.round, 5)]
    version = ("v1", "v2", "v2", "v3", "v3", "v3")[min(asked.round, 5)]
    return revalidated(asked, f'"{number}"', version=version)


@behaviour("A date that has not come yet is a token like any other.", "RFC 9110 §8.8.2.1",
           None, earned(1, 2, 4), verbatim())  # fmt: skip
def date_far_ahead(asked: Asked) -> Script:
    """Sends a date 400 days ahead and confirms it by comparing the text."""
    return revalidated(
        asked, date="Fri, 05 Jun 2027 10:00:00 GMT" if asked.version == "v1" else "Sat, 05 Jun 2027 10:00:00 GMT"
    )


@behaviour("One tag, as it came.", "RFC 9110 §8.8.3.2, §13.1.2",
           None, earned(1, 2, 4, 5), verbatim())  # fmt: skip
def list_not_understood(asked: Asked) -> Script:
    """Compares the condition with the stored tag as a plain string: no lists, no weak comparison (h2o, sirv)."""
    own = tag_of(asked)
    return not_modified(asked, f"ETag: {own}") if asked.tag == own else ok(asked, f"ETag: {own}")


@behaviour("One line with one tag.",
           "RFC 9110 §5.3; nginx", None, earned(1, 2, 4, 5))  # fmt: skip
def two_condition_lines(asked: Asked) -> Script:
    """Answers 400 to more than one If-None-Match line, as nginx does."""
    if len(asked.values("if-none-match")) > 1:
        return answer(asked, 400, "<p>Bad Request</p>")
    return honest(asked)


@behaviour("Both validators of the same answer, the newest, also where its content was the same.",
           "RFC 9110 §13.2.2; nginx, Apache", None, earned(2, 4, 5), verbatim(),
           outcomes="new same_hash not_modified changed not_modified not_modified")  # fmt: skip
def both_must_agree(asked: Asked) -> Script:
    """Lets tag and date both decide: a tag of one answer with the date of another is a full 200 (Apache, nginx)."""
    tag = tag_of(asked)
    date = (
        (OLD_DATE, "Tue, 06 Jan 2026 10:00:00 GMT", "Tue, 06 Jan 2026 10:00:00 GMT")[asked.round]
        if asked.round < 3
        else NEW_DATE
    )
    agreed = asked.tag in (None, tag) and asked.since in (None, date)
    if asked.conditional and agreed and holds(asked, tag, date):
        return not_modified(asked, f"ETag: {tag}", f"Last-Modified: {date}")
    return ok(asked, f"ETag: {tag}", f"Last-Modified: {date}")
