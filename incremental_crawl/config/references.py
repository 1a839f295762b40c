"""Fills the `${NAME}` of a site file from the environment and reports those that cannot be filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incremental_crawl.config.environment import Path, is_variable_name, names_in, substitute, texts
from incremental_crawl.config.problems import Problem, key_text, shown

# Their values are written to datasets and logs, where nothing from the environment may go.
WRITTEN_TO_DATA = frozenset({"start_urls", "sitemaps", "feeds", "extract"})


def reference_problems(data: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[tuple[Path, Problem]]:
    """One problem for each `${NAME}` that is unset, misspelt or in a place where it may not stand."""
    for path, text in texts(data):
        for name in names_in(text):
            cause = _misplaced(name) if path[0] in WRITTEN_TO_DATA else _unfillable(name, environ)
            if cause is not None:
                reason, allowed = cause
                message = f"{shown(text)} cannot be used ({reason})"
                yield path, Problem(key_text(path), shown(text), message, allowed)


def filled(data: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """`data` with every `${NAME}` that can be filled; each such text remembers what the file says."""
    return {key: value if key in WRITTEN_TO_DATA else _filled(value, environ) for key, value in data.items()}


def _misplaced(name: str) -> tuple[str, str] | None:
    # A regex or a selector may hold ${…} that was never meant as a variable.
    if not is_variable_name(name):
        return None
    return "it would be written to data, where nothing from the environment may go", "the value itself"


def _unfillable(name: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    if not is_variable_name(name):
        return f"${{{name}}} does not name an environment variable", "${NAME} with letters, digits and _ in NAME"
    if name not in environ:
        return f"the environment variable {name} is not set", f"set {name}, or write the value itself"
    return None


def _filled(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        fillable = all(_unfillable(name, environ) is None for name in names_in(value))
        return substitute(value, environ) if fillable else value
    if isinstance(value, dict):
        return {key: _filled(inner, environ) for key, inner in value.items()}
    return [_filled(inner, environ) for inner in value] if isinstance(value, list) else value
