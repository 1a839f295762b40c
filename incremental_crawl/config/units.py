"""Durations and sizes as people write them in a site file."""

from __future__ import annotations

import re
from datetime import timedelta

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw])", re.ASCII)
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMG]i?B|B)", re.ASCII | re.IGNORECASE)
_WRITTEN_UNITS = ("d", "h", "m", "s")
_WRITTEN_SIZES = ("GB", "MB", "KB")


def parse_duration(value: object) -> timedelta:
    """A `timedelta` from `30s`, `15m`, `6h`, `1d` or `2w`; a `timedelta` passes through.

    Raises ValueError with a sentence about what is wrong.
    """
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"the unit is missing, {value} seconds are written {value}s")
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("not a duration")
    return _bounded(float(match[1]) * SECONDS[match[2]])


def _bounded(seconds: float) -> timedelta:
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError("too long") from None


def format_duration(duration: timedelta) -> str:
    """The shortest spelling that `parse_duration` reads back, in days or smaller."""
    seconds = duration.total_seconds()
    for unit in _WRITTEN_UNITS:
        if seconds and seconds % SECONDS[unit] == 0:
            return f"{int(seconds // SECONDS[unit])}{unit}"
    return f"{seconds:.6f}".rstrip("0").rstrip(".") + "s"


def parse_size(value: object) -> int:
    """Bytes from `20MB` (powers of 1000), `20MiB` (powers of 1024) or a whole number of bytes.

    Raises ValueError with a sentence about what is wrong.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("not a size")
    return int(float(match[1]) * BYTES[match[2].upper()])


def format_size(size: int) -> str:
    """The shortest spelling that `parse_size` reads back."""
    for unit in _WRITTEN_SIZES:
        if size and size % BYTES[unit] == 0:
            return f"{size // BYTES[unit]}{unit}"
    return f"{size}B"
