"""Turns validation errors into problems a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from incremental_crawl.config.environment import Path, holds_secret
from incremental_crawl.config.keys import allowed_at, keys_of, locate, suggestion
from incremental_crawl.config.problems import Problem, key_text, shown, without_credentials
from incremental_crawl.config.section import Section
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.config.values import NAME_FORM
from incremental_crawl.config.yaml_file import plain_value

# May hold credentials, so their values stay out of messages.
_PRIVATE_KEYS = frozenset({"request_headers", "proxy", "alerts"})
# Above every limit that an allowed form spells out.
_HUGE = 10**9
_ON_FILE_NAME = "the site is named by its file, this key must go"


def explain(errors: Iterable[ErrorDetails], data: Mapping[str, Any]) -> Iterator[tuple[Path, Problem]]:
    """One problem per error of `SiteConfig.model_validate(data)`, with the place of the offending value in `data`."""
    found = list(errors)
    excused = set(_excused(found, data))
    for error in found:
        path = _path_in(data, error)
        if error["type"] != "missing":
            yield path, _problem(error, path, data)
        elif path not in excused:
            yield path, Problem(key_text(path), "", "missing", allowed_at(path))


def _excused(errors: Iterable[ErrorDetails], data: Mapping[str, Any]) -> Iterator[Path]:
    """Required keys that are missing only because another one was written in their place."""
    for error in errors:
        if error["type"] == "extra_forbidden":
            *outer, key = _path_in(data, error)
            section, _ = locate(tuple(outer))
            for meant in (section.later.get(str(key)), suggestion(str(key), section)):
                if meant is not None:
                    yield (*outer, meant)


def _path_in(data: Any, error: ErrorDetails) -> Path:
    """The error's place in the data as written; steps that exist only inside the validator are left out."""
    path: list[str | int] = []
    for step in error["loc"]:
        if _leads_on(data, step):
            data = data[step]
            path.append(step)
    if error["type"] == "missing":
        path.append(error["loc"][-1])
    return tuple(path)


def _leads_on(data: Any, step: str | int) -> bool:
    return step in data if isinstance(data, Mapping) else isinstance(data, list) and isinstance(step, int)


def value_at(data: Any, path: Path) -> Any:
    """The value at `path`, or None where there is none."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _problem(error: ErrorDetails, path: Path, data: Mapping[str, Any]) -> Problem:
    value = value_at(data, path)
    if error["type"] == "extra_forbidden":
        return unknown_key(path, value)
    if error["loc"][-1] == "[key]":
        return _wrong_name(error, path)
    detail = _detail(error, value)
    text = "the value" if _is_private(path) and not holds_secret(value) else shown(value)
    message = f"{text} is not allowed" + (f" ({detail})" if detail else "")
    return Problem(key_text(path), text, message, allowed_at(path))


def _wrong_name(error: ErrorDetails, path: Path) -> Problem:
    name = shown(path[-1])
    if _is_private(path):
        return Problem(key_text(path), name, f"{name} may not be set here ({_reason(error)})", "another header")
    return Problem(key_text(path), name, f"{name} is not allowed as a name", NAME_FORM)


def _is_private(path: Path) -> bool:
    return not _PRIVATE_KEYS.isdisjoint(path)


def _detail(error: ErrorDetails, value: Any) -> str:
    if value is None:
        return "nothing is written here, or a # began a comment"
    # A validator's sentence may quote the value.
    if holds_secret(value):
        return "the value from the environment does not fit"
    if error["type"] == "less_than_equal":
        return "too large" if isinstance(value, str) or value > _HUGE else ""
    if isinstance(value, str) and not isinstance(plain_value(value), str):
        return "it is a text, remove the quotes"
    return _reason(error)


def _reason(error: ErrorDetails) -> str:
    return without_credentials(str(error["ctx"]["error"])) if error["type"] == "value_error" else ""


def unknown_key(path: Path, value: Any) -> Problem:
    """The problem of a key that its section does not have."""
    key = str(path[-1])
    section, _ = locate(path[:-1])
    text = "not shown" if key in _PRIVATE_KEYS else shown(value)
    if key in section.later:
        message = f"not available in this version (value {text})"
        return Problem(key_text(path), text, message, f"keys here are {_listed(section)}")
    if section is SiteConfig and key == "name":
        return Problem(key_text(path), text, f"not a key (value {text})", _ON_FILE_NAME)
    meant = suggestion(key, section)
    message = f"unknown key (value {text}" + (f"; did you mean {meant}?)" if meant else ")")
    return Problem(key_text(path), text, message, f"keys here are {_listed(section)}")


def _listed(section: type[Section]) -> str:
    return ", ".join(keys_of(section))
