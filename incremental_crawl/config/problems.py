"""What is wrong with a configuration file, in words that name the file, the key, the value and the allowed form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from incremental_crawl.config.environment import without_secrets

_LONGEST_VALUE = 80
_CREDENTIALS = re.compile(r"//[^/@\s\"]*@")


def key_text(path: Iterable[str | int]) -> str:
    """A key's place as it is written in messages: `extract[0].fields.title`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).removeprefix(".")


def without_credentials(text: str) -> str:
    """`text` with the user name and password of any URL in it replaced by `...`."""
    return _CREDENTIALS.sub("//...@", text)


def shown(value: object) -> str:
    """A value on one line, at most 80 characters, without values from the environment or passwords in URLs."""
    text = json.dumps(without_secrets(value), ensure_ascii=False, default=str)
    text = without_credentials(text)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake. `message` contains the value as `shown` gives it, `allowed` says what to write instead.

    `path` is set where the mistake stands in another file than the one that was loaded (`_defaults.yaml`); `line`
    counts from 1.
    """

    key: str
    value: str
    message: str
    allowed: str
    path: Path | None = None
    line: int | None = None

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.key, self.message, self.allowed) if part)
        return text if self.line is None else f"{text} (line {self.line})"


class ConfigError(Exception):
    """A configuration file that cannot be used; `str()` has one line per problem."""

    def __init__(self, path: Path, problems: Iterable[Problem]) -> None:
        self.path = path
        self.problems = tuple(problems)
        super().__init__(path, self.problems)

    def __str__(self) -> str:
        return "\n".join(f"{problem.path or self.path}: {problem}" for problem in self.problems)
