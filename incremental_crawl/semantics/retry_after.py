"""HTTP dates (RFC 9110 §5.6.7) and the moment that a Retry-After field names (RFC 9110 §10.2.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

LONGEST_WAIT = timedelta(days=1)

_DELTA_SECONDS = re.compile(r"[0-9]+")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_FORMATS = (
    re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"),
    re.compile(
        rf"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"
    ),
    re.compile(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} (?P<day>[0-9]{{2}}| [0-9]) {_TIME} (?P<year>[0-9]{{4}})"),
)

# Where no moment of observation is given, two-digit years are read as POSIX does: 69 to 99 are 19xx.
_POSIX_REFERENCE = datetime(2018, 12, 31, 23, 59, 59, tzinfo=UTC)


def retry_after(value: str | None, now: datetime) -> datetime | None:
    """When to ask again by a Retry-After value: seconds or an HTTP date, as a UTC moment from `now` on.

    A moment in the past is `now`; one more than a day ahead is a day ahead. None where the value is neither form.
    """
    if value is None:
        return None
    text = value.strip(" \t")
    if _DELTA_SECONDS.fullmatch(text):
        return now + _capped_seconds(text)
    moment = http_date(text, now)
    return None if moment is None else max(now, min(moment, now + LONGEST_WAIT))


def http_date(value: str | None, now: datetime | None = None) -> datetime | None:
    """The moment (UTC, aware) of an HTTP date in any of its three formats, None for everything else.

    A two-digit year is the one that lies at most 50 years after `now` (RFC 9110 §5.6.7); without `now` 69 to 99 are
    read as 19xx. The name of the weekday is not compared with the date.
    """
    if value is None:
        return None
    text = value.strip(" \t")
    match = next(filter(None, (form.fullmatch(text) for form in _FORMATS)), None)
    return None if match is None else _moment(match.groupdict(), now)


def _capped_seconds(digits: str) -> timedelta:
    significant = digits.lstrip("0")
    # The length comes first: int() refuses thousands of digits, and timedelta more than ten.
    if len(significant) > 9:
        return LONGEST_WAIT
    return min(timedelta(seconds=int(significant or 0)), LONGEST_WAIT)


def _moment(parts: dict[str, str], now: datetime | None) -> datetime | None:
    year = int(parts["year"])
    if len(parts["year"]) == 4:
        return _in_year(year, parts)
    reference = now or _POSIX_REFERENCE
    century = reference.year - reference.year % 100
    candidates = (_in_year(century + offset + year, parts) for offset in (100, 0, -100))
    return next((each for each in candidates if each is not None and not _half_century_ahead(each, reference)), None)


def _in_year(year: int, parts: dict[str, str]) -> datetime | None:
    day, hour, minute, second = (int(parts[name]) for name in ("day", "hour", "minute", "second"))
    leap = 1 if second == 60 else 0
    try:
        before = datetime(year, _MONTHS.index(parts["month"]) + 1, day, hour, minute, second - leap, tzinfo=UTC)
        return before + timedelta(seconds=leap)
    except (ValueError, OverflowError):
        return None


def _half_century_ahead(moment: datetime, reference: datetime) -> bool:
    utc = reference.astimezone(UTC)
    return (moment.year - 50, *moment.timetuple()[1:6]) > utc.timetuple()[:6]
