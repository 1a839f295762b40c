"""Texts to typed values: numbers, prices, dates, addresses, yes or no. None where a text holds no such value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import TypeAlias
from zoneinfo import ZoneInfo

from dateutil import parser as date_parser
from price_parser import Price

from incremental_crawl.semantics.digest import number_text, well_formed
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url

Scalar: TypeAlias = str | Decimal | int | bool | dict[str, str | None]

# Symbols that stand for one currency only; $, ¥ and kr stay as they are.
_CURRENCIES = {
    "£": "GBP", "€": "EUR", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS", "฿": "THB",
    "₫": "VND", "₦": "NGN", "₱": "PHP", "zł": "PLN", "Kč": "CZK", "R$": "BRL", "US$": "USD", "A$": "AUD",
    "C$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "Ft": "HUF", "лв": "BGN",
}  # fmt: skip
_ZONES = {"UTC": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
          "PDT": -7, "CET": 1, "CEST": 2, "BST": 1, "EET": 2, "EEST": 3, "WET": 0, "WEST": 1}  # fmt: skip
_NO = frozenset({"", "0", "false", "no", "off", "n"})
_MOST_PLACES = 300
_LARGEST_INTEGER = 2**63 - 1
# Two days that share no part: what differs between the two readings was not in the text.
_DEFAULTS = (datetime(2001, 1, 1), datetime(2004, 2, 1))  # noqa: DTZ001


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What values are read against: the page's base URL, what addresses lose, the zone of dates without one."""

    base: str
    strip_params: tuple[str, ...] = ()
    timezone: str = "UTC"


def typed(text: str, kind: str, around: Surroundings) -> Scalar | None:
    """The value of a text as the field type `kind`; None where it holds none."""
    return _READERS[kind](text, around)


def _text(text: str, _: Surroundings) -> str | None:
    return well_formed(" ".join(text.split())) or None


def _number(text: str, _: Surroundings) -> Decimal | None:
    number = _plain_number(text.strip())
    if number is None:
        number = Price.fromstring(text).amount
    usable = number is not None and number.is_finite() and abs(number.adjusted()) <= _MOST_PLACES
    return number if usable else None


def _plain_number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _integer(text: str, around: Surroundings) -> int | None:
    number = _number(text, around)
    if number is None or number != number.to_integral_value() or abs(number) > _LARGEST_INTEGER:
        return None
    return int(number)


def _price(text: str, _: Surroundings) -> dict[str, str | None] | None:
    price = Price.fromstring(text)
    if price.amount is None or not price.amount.is_finite():
        return None
    currency = price.currency
    return {"amount": _amount(price.amount), "currency": _CURRENCIES.get(currency, currency) if currency else None}


def _amount(amount: Decimal) -> str:
    """At least two decimals, no spare zeros beyond them: 12.5 and 12.500 are both `12.50`."""
    whole, _, decimals = number_text(amount).partition(".")
    return f"{whole}.{decimals:0<2}"


def _date(text: str, around: Surroundings) -> str | None:
    moment = _iso(text.strip()) or _parsed(text)
    if moment is None:
        return None
    try:
        aware = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(around.timezone))
        return aware.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
    except OverflowError:
        return None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _parsed(text: str) -> datetime | None:
    """A date with at least year and month in the text: the day of the crawl never fills a gap."""
    try:
        first, second = (date_parser.parse(text, default=default, tzinfos=_zone) for default in _DEFAULTS)
    except (ValueError, OverflowError, TypeError):
        return None
    return first if first == second else None


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    hours = _ZONES.get(name or "")
    return None if hours is None else timezone(timedelta(hours=hours))


def _url(text: str, around: Surroundings) -> str | None:
    try:
        return canonical_url(text.strip(), around.base, around.strip_params) if text.strip() else None
    except InvalidUrl:
        return None


def _bool(text: str, _: Surroundings) -> bool:
    return text.strip().lower() not in _NO


_READERS: Mapping[str, Callable[[str, Surroundings], Scalar | None]] = MappingProxyType(
    {
        "text": _text,
        "number": _number,
        "integer": _integer,
        "price": _price,
        "date": _date,
        "url": _url,
        "bool": _bool,
    }
)
