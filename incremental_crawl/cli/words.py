"""How numbers, sizes and instants are written for people, instants read from them, and values written as JSON."""

from __future__ import annotations

import base64
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import click

from incremental_crawl.config.units import parse_duration

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size(count: float) -> str:
    """Bytes in decimal units: `1.2 MB`."""
    unit = 0
    while round(count, 0 if unit == 0 else 1) >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def counted(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def instant(moment: datetime | None, now: datetime) -> str:
    """The time of day (UTC) where it is today, else with the date; `–` for none."""
    if moment is None:
        return "–"
    own = moment.astimezone(UTC)
    return f"{own:%H:%M}" if own.date() == now.date() else f"{own:%Y-%m-%d %H:%M}"


def parse_since(text: str, now: datetime) -> datetime:
    """An ISO 8601 date or instant, or a duration before `now` such as `6h` or `7d`. Raises `click.BadParameter`."""
    try:
        return now - parse_duration(text)
    except (ValueError, OverflowError):
        pass
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is neither a date (2026-11-30), an instant (2026-11-30T08:00Z) nor a duration (6h, 7d)",
            param_hint="'--since'",
        ) from None


def json_line(value: object) -> str:
    """One line of JSON; instants in ISO 8601, decimals as numbers, bytes in base64."""
    return json.dumps(value, default=_json_value, ensure_ascii=False)


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    return str(value)
