"""Links that lead into traps: addresses without an end that show nothing new. Found by the address alone.

Each rule is meant to let honest sites pass: archives by year and month, hundreds of pages of a list, a shop with three
filters. What a rule leaves out is counted and told with an example, so that a wrong guess can be seen and switched off.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from enum import StrEnum
from urllib.parse import unquote

LONGEST_URL = 2_048
"""Characters. Addresses of pages are shorter; those that grow with every click are not."""
MOST_SEGMENTS = 20
MOST_REPEATS = 3
"""So often in a row a run of path segments, or a parameter with its value, stands in no honest address."""
MOST_SAME_SEGMENTS = 4
YEARS_AHEAD = 2
OLDEST_YEAR = 1970
"""Before it only calendars without an end show empty months; archives of older papers are no calendars."""

_NUMBER = re.compile(r"\d+")
_DATE_IN_PATH = re.compile(r"/(\d{4})[/-](\d{1,2})(?=[/.-]|$)")
_DAY_IN_PATH = re.compile(r"/(\d{4})(\d{2})\d{2}(?=/|$)")
_DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-\d{1,2})?(?:[T ].*)?", re.DOTALL)
_DIGITS = re.compile(r"(\d{4})(\d{2})(?:\d{2})?")
_YEAR_NAME = re.compile(r"(?:.*[_\[-])?(?:y|yr|year|jahr|annee|ano|anno)\]?", re.IGNORECASE)
_MONTH_NAME = re.compile(r"(?:.*[_\[-])?(?:m|mon|month|monat|mois|mes|mese)\]?", re.IGNORECASE)
_DATE_NAME = re.compile(r".*(?:date|datum|day|month|monat)\]?", re.IGNORECASE)
_CALENDAR = re.compile(r"calend|kalender|agenda|events?\b|termine|month|monat", re.IGNORECASE)


class Trap(StrEnum):
    """Why links were left out; the value is the name in reports."""

    LONG_URL = "long_url"
    REPEATING_PATH = "repeating_path"
    REPEATED_PARAMETERS = "repeated_parameters"
    CALENDAR = "calendar"
    SAME_PARAMETERS = "same_parameters"
    NO_EFFECT = "no_effect"
    COMBINATIONS = "combinations"


_WHAT: dict[Trap, str] = {
    Trap.LONG_URL: f"have more than {LONGEST_URL} characters",
    Trap.REPEATING_PATH: "repeat parts of their path, as relative links on a wrong page do",
    Trap.REPEATED_PARAMETERS: "repeat a parameter again and again",
    Trap.CALENDAR: f"lead into a calendar without an end, more than {YEARS_AHEAD} years ahead or before {OLDEST_YEAR}",
    Trap.SAME_PARAMETERS: "differ from a known page only in the order of their parameters",
    Trap.NO_EFFECT: "differ from a known page only in parameters that have never changed a page",
    Trap.COMBINATIONS: "combine the same filters again and again",
}
_ADVICE: dict[Trap, str] = {
    Trap.SAME_PARAMETERS: "nothing has to be done",
    Trap.NO_EFFECT: "name the parameters in scope.strip_params",
    Trap.COMBINATIONS: "exclude them (scope.exclude), or name the parameters that do not matter in scope.strip_params",
}


def sentence(trap: Trap, count: int, example: str) -> str:
    """What was left out, why, and what to do; `example` is one of the addresses."""
    links = "1 link was" if count == 1 else f"{count} links were"
    advice = _ADVICE.get(trap, "exclude them with scope.exclude")
    shown = example if len(example) <= 200 else f"{example[:200]}…"
    return (
        f"{links} not followed because they {_WHAT[trap]}, such as {shown}: {advice}; "
        "if they are wanted, scope.skip_traps: false follows them"
    )


def trap_of(url: str, source: str, today: date) -> Trap | None:
    """The trap that the canonical URL `url`, found on the page `source`, shows by its own form."""
    if len(url) > LONGEST_URL:
        return Trap.LONG_URL
    if _repeats(_segments(url)):
        return Trap.REPEATING_PATH
    parameters = parameters_of(url)
    if parameters and max(Counter(parameters).values()) >= MOST_REPEATS:
        return Trap.REPEATED_PARAMETERS
    return Trap.CALENDAR if _is_endless_calendar(url, source, today) else None


def stem_of(url: str) -> str:
    """The canonical URL up to its first parameter, be it one of the path (`;v=1`) or of the query."""
    return re.split("[;?]", url, maxsplit=1)[0]


def parameters_of(url: str) -> list[str]:
    """The parameters of path and query as written, `name=value`; empty ones are left out."""
    return [each for each in re.split("[;?&]", url)[1:] if each]


class Combinations:
    """What is known of the parameters of a site, to tell a new page from the same page once more.

    `no_effect` are the names that have never changed a page of the host, by host.
    """

    FEWEST = 2_000
    """So many pages of three and more parameters any path may have: a shop with three filters has fewer."""
    RATIO = 20
    """More pages than this per filter value are combinations; articles have a value (their number) each."""

    def __init__(self, no_effect: frozenset[tuple[str, str]] = frozenset()) -> None:
        self._no_effect = no_effect
        self._seen: dict[str, set[tuple[str, ...]]] = {}
        self._values: dict[str, set[str]] = {}
        self._many: Counter[str] = Counter()

    def concerns(self, host: str, url: str) -> bool:
        """Whether what is known of the stem of `url` has to be loaded before it can be judged."""
        parameters = parameters_of(url)
        return len(parameters) > 1 or any((host, _name(each)) in self._no_effect for each in parameters)

    def is_loaded(self, stem: str) -> bool:
        """Whether the known URLs of a stem were taken in."""
        return stem in self._seen

    def load(self, host: str, stem: str, known: list[str]) -> None:
        """Take in the known URLs of a stem."""
        self._seen.setdefault(stem, set())
        for url in known:
            self.add(host, url)

    def trap(self, host: str, url: str) -> Trap | None:
        """The trap that a new URL would lead into."""
        stem, parameters = stem_of(url), parameters_of(url)
        telling = self._telling(host, parameters)
        if telling in self._seen.get(stem, ()):
            return Trap.SAME_PARAMETERS if len(telling) == len(parameters) else Trap.NO_EFFECT
        many = self._many[stem]
        endless = len(parameters) > 2 and many >= max(self.FEWEST, self.RATIO * len(self._values.get(stem, ())))
        return Trap.COMBINATIONS if endless else None

    def add(self, host: str, url: str) -> None:
        """Take in a URL that is known from now on."""
        stem, parameters = stem_of(url), parameters_of(url)
        self._seen.setdefault(stem, set()).add(self._telling(host, parameters))
        if len(parameters) > 2:
            self._many[stem] += 1
            self._values.setdefault(stem, set()).update(parameters)

    def _telling(self, host: str, parameters: list[str]) -> tuple[str, ...]:
        return tuple(sorted(each for each in parameters if (host, _name(each)) not in self._no_effect))


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]


def _segments(url: str) -> list[str]:
    return [part for part in stem_of(url).split("/")[3:] if part]


def _repeats(segments: list[str]) -> bool:
    """Whether a path goes round in circles: too deep, or the same words over and over. Numbers (dates) may repeat."""
    if len(segments) > MOST_SEGMENTS:
        return True
    words = Counter(part for part in segments if not part.isdigit())
    if words and max(words.values()) >= MOST_SAME_SEGMENTS:
        return True
    return any(
        _is_run(segments, start, length)
        for length in range(1, len(segments) // MOST_REPEATS + 1)
        for start in range(len(segments) - length * MOST_REPEATS + 1)
    )


def _is_run(segments: list[str], start: int, length: int) -> bool:
    run = segments[start : start + length]
    return not all(map(str.isdigit, run)) and segments[start : start + length * MOST_REPEATS] == run * MOST_REPEATS


def _is_endless_calendar(url: str, source: str, today: date) -> bool:
    """A month far ahead, or one long past on a page that is called a calendar.

    A number of a path may only look like a date: it is believed in a calendar, or where a page of the same kind links.
    """
    month = _month_in_query(url) or _month_in_path(url)
    if month is None:
        return False
    calendar = _CALENDAR.search(url) is not None
    certain = calendar or _month_in_query(url) is not None
    if not certain and not (_template(source) == _template(url) and _month_in_path(source)):
        return False
    ahead = (month[0] - today.year) * 12 + month[1] - today.month
    return ahead > YEARS_AHEAD * 12 or (calendar and month[0] < OLDEST_YEAR)


def _month_in_path(url: str) -> tuple[int, int] | None:
    stem = stem_of(url)
    return _month(_DATE_IN_PATH.search(stem) or (_DAY_IN_PATH.search(stem) if _CALENDAR.search(url) else None))


def _month_in_query(url: str) -> tuple[int, int] | None:
    """A date in one parameter, or a year and a month in two."""
    named = [(name, unquote(value)) for name, _, value in (each.partition("=") for each in parameters_of(url))]
    for name, value in named:
        compact = _DATE_NAME.fullmatch(name) or _MONTH_NAME.fullmatch(name)
        if month := _month(_DATE.fullmatch(value) or (_DIGITS.fullmatch(value) if compact else None)):
            return month
    year = next((value for name, value in named if _YEAR_NAME.fullmatch(name) and _is_number(value, 4)), None)
    month_of_year = next((value for name, value in named if _MONTH_NAME.fullmatch(name) and _is_number(value, 2)), None)
    return (int(year), int(month_of_year)) if year is not None and month_of_year is not None else None


def _month(found: re.Match[str] | None) -> tuple[int, int] | None:
    return (int(found[1]), int(found[2])) if found is not None and 1 <= int(found[2]) <= 12 else None


def _is_number(text: str, digits: int) -> bool:
    return text.isdecimal() and len(text) <= digits


def _template(url: str) -> str:
    return _NUMBER.sub("0", url)
