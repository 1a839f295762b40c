"""`${NAME}` in a site file: values from the environment that are used but never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class FromEnvironment(str):
    """A text that came, wholly or in part, from the environment. `template` is what the site file says."""

    template: str

    def __new__(cls, value: str, template: str) -> FromEnvironment:
        """`value` is the real text, `template` the text with its `${NAME}` parts."""
        text = super().__new__(cls, value)
        text.template = template
        return text

    def __repr__(self) -> str:
        return repr(self.template)


def names_in(text: str) -> list[str]:
    """What stands between `${` and `}`, in order, whether or not it is a variable's name."""
    return _REFERENCE.findall(text)


def is_variable_name(name: str) -> bool:
    """Whether `name` can be the name of an environment variable."""
    return _NAME.fullmatch(name) is not None


def substitute(text: str, environ: Mapping[str, str]) -> str:
    """`text` with each `${NAME}` replaced; the result remembers its template. All names must be set."""
    value = _REFERENCE.sub(lambda match: environ[match[1]], text)
    return FromEnvironment(value, text) if _REFERENCE.search(text) else text


def texts(data: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text value inside mappings and lists, with where it stands."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from texts(value, (*path, key))
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from texts(value, (*path, index))


def holds_secret(data: object) -> bool:
    """Whether any text inside came from the environment."""
    return any(isinstance(text, FromEnvironment) for _, text in texts(data))


def without_secrets(data: object) -> object:
    """The same mappings, lists and scalars with every text from the environment shown as its template."""
    if isinstance(data, FromEnvironment):
        return data.template
    if isinstance(data, Mapping):
        return {key: without_secrets(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_secrets(value) for value in data]
    return data
