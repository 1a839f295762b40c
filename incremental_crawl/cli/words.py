"""How numbers, sizes and instants are written for people, and instants read from them."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from incremental_crawl.config.units import parse_duration

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size(count: float) -> str:
    """Bytes in decimal units: `1.2 MB`."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def instant(moment: datetime | None, now: datetime) -> str:
    """The time of day where it is today, else with the date; `–` for none."""
    if moment is None:
        return "–"
    own = moment.astimezone(UTC)
    return f"{own:%H:%M}" if own.date() == now.date() else f"{own:%Y-%m-%d %H:%M}"


def parse_since(text: str, now: datetime) -> datetime:
    """An ISO 8601 date or instant, or a duration before `now` such as `6h` or `7d`. Raises `click.BadParameter`."""
    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither a date (2026-11-30), an instant (2026-11-30T08:00Z) nor a duration (6h, 7d)"
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
