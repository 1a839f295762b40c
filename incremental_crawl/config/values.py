"""The kinds of values a site file holds, each with its check and its allowed form in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from croniter import croniter
from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StringConstraints

from incremental_crawl.config.environment import FromEnvironment
from incremental_crawl.config.section import Allowed
from incremental_crawl.config.suggest import closest
from incremental_crawl.config.units import format_duration, format_size, parse_duration, parse_size
from incremental_crawl.config.yaml_file import plain_value
from incremental_crawl.semantics.request_headers import refusal

NAME_FORM = "a name of at most 63 small letters, digits and _, beginning with a letter"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_HEADER_TEXT = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_CRON_CHARACTERS = re.compile(r"[0-9A-Za-z*/,\-#? ]+", re.ASCII)
# croniter's random and hashed fields mean another time in each process.
_CRON_UNSETTLED = re.compile(r"(?<![A-Za-z])[rh](?![A-Za-z])", re.IGNORECASE)
_LONGEST = timedelta(days=3_650)
_ANY_INSTANT = datetime(2026, 1, 1, tzinfo=UTC)


def is_name(text: str) -> bool:
    """Whether a text can name a site, a page type or a field."""
    return _NAME.fullmatch(text) is not None


def _from_text(value: object) -> object:
    """The number or boolean that a text from the environment spells; texts of the file itself stay texts."""
    return plain_value(str(value)) if isinstance(value, FromEnvironment) else value


def _exact_text(value: object) -> object:
    return str(value) if isinstance(value, str) else value


def _name(text: str) -> str:
    if not is_name(text):
        raise ValueError("not a usable name")
    return text


def _cron(text: str) -> str:
    """A cron line that a scheduler can run: five fields, valid, and due at some time."""
    count = len(text.split())
    if count != 5:
        raise ValueError(f"it has {count} fields")
    if not _CRON_CHARACTERS.fullmatch(text) or _CRON_UNSETTLED.search(text):
        raise ValueError("it holds a character that cron lines do not have")
    try:
        croniter(text, _ANY_INSTANT).get_next(datetime)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(str(error).strip("'\"") or "not a cron line") from None
    return text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, LookupError):
        hint = closest(text, available_timezones())
        raise ValueError(f"did you mean {hint}?" if hint else "unknown time zone") from None
    return text


def _header_text(text: str) -> str:
    if not _HEADER_TEXT.fullmatch(text):
        raise ValueError("it does not fit into a header line")
    return text


def _header_name(text: str) -> str:
    reason = refusal(text)
    if reason is not None:
        raise ValueError(reason)
    return text


def _regex(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the regex does not parse: {error}") from None
    if groups > 1:
        raise ValueError(f"the regex has {groups} groups, so it is not clear which one is the value")
    return text


Text: TypeAlias = Annotated[str, BeforeValidator(_exact_text), StringConstraints(strict=True, min_length=1)]
Name: TypeAlias = Annotated[Text, AfterValidator(_name), Allowed(NAME_FORM)]
Cron: TypeAlias = Annotated[Text, AfterValidator(_cron)]
Zone: TypeAlias = Annotated[Text, AfterValidator(_zone), Allowed("a time zone name, such as UTC or Europe/Berlin")]
HeaderText: TypeAlias = Annotated[Text, AfterValidator(_header_text)]
HeaderName: TypeAlias = Annotated[Text, AfterValidator(_header_name)]
Regex: TypeAlias = Annotated[Text, AfterValidator(_regex)]

YesNo: TypeAlias = Annotated[bool, BeforeValidator(_from_text), Field(strict=True), Allowed("true or false")]
Whole: TypeAlias = Annotated[int, BeforeValidator(_from_text), Field(strict=True, le=10**12)]
Number: TypeAlias = Annotated[float, BeforeValidator(_from_text), Field(strict=True, allow_inf_nan=False)]
Share: TypeAlias = Annotated[Number, Field(ge=0, le=1), Allowed("a share between 0 and 1")]

AnyDuration: TypeAlias = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    Field(ge=timedelta(0), le=_LONGEST),
    PlainSerializer(format_duration, return_type=str, when_used="json"),
]
Duration: TypeAlias = Annotated[
    AnyDuration, Field(gt=timedelta(0)), Allowed("a duration above zero, such as 30s, 15m, 6h, 1d or 2w")
]
Size: TypeAlias = Annotated[
    int,
    BeforeValidator(_from_text),
    BeforeValidator(parse_size),
    Field(le=10**15),
    PlainSerializer(format_size, return_type=str, when_used="json"),
]
