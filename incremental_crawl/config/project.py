"""Where a project keeps its site files and its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from incremental_crawl.config.problems import ConfigError, Problem, shown

SITES_DIR = "INCREMENTAL_CRAWL_SITES"
DATA_DIR = "INCREMENTAL_CRAWL_DATA"
FIRST_DAY = "INCREMENTAL_CRAWL_FIRST_DAY"

_DAYS_BACK = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Project:
    """The folders of a project and its first day partition (UTC)."""

    sites_dir: Path
    data_dir: Path
    first_day: date

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], today: date) -> Project:
        """The project that the INCREMENTAL_CRAWL_* variables describe; an empty variable counts as unset.

        `today` is the current UTC date. Raises ConfigError for a data folder that is a file, and for a first day that
        is not a date or lies in the future.
        """
        return cls(
            sites_dir=Path(environ.get(SITES_DIR) or "sites").expanduser(),
            data_dir=_data_folder(environ.get(DATA_DIR) or "data"),
            first_day=_first_day(environ.get(FIRST_DAY) or "", today),
        )


def _data_folder(text: str) -> Path:
    path = Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise _error(DATA_DIR, text, "it is a file", "a folder; it is made where it does not exist")
    return path


def _first_day(text: str, today: date) -> date:
    if not text:
        return today - _DAYS_BACK
    allowed = "a day up to today such as 2026-11-30"
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise _error(FIRST_DAY, text, "not a day", allowed) from None
    if day > today:
        raise _error(FIRST_DAY, text, f"later than today, {today}", allowed)
    return day


def _error(variable: str, text: str, reason: str, allowed: str) -> ConfigError:
    message = f"{shown(text)} is not allowed ({reason})"
    return ConfigError(Path("environment"), [Problem(variable, shown(text), message, allowed)])
