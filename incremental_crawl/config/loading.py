"""Site files on disk: each one merged over `_defaults.yaml`, validated alone, every problem of it reported at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from incremental_crawl.config import environment
from incremental_crawl.config.explain import explain, unknown_key
from incremental_crawl.config.network_values import FOLDER
from incremental_crawl.config.problems import ConfigError, Problem, shown
from incremental_crawl.config.references import filled, reference_problems
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.config.suggest import closest
from incremental_crawl.config.values import NAME_FORM, is_name
from incremental_crawl.config.yaml_file import YamlFile, read_yaml

KeyPath: TypeAlias = environment.Path
Placed: TypeAlias = tuple[KeyPath, Problem]

DEFAULTS = "_defaults"
SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class SiteCatalogue:
    """All site files of a folder by site name: those that can be used, and why the others cannot."""

    sites: dict[str, SiteConfig]
    broken: dict[str, ConfigError]


def load_sites(directory: Path, environ: Mapping[str, str] | None = None) -> SiteCatalogue:
    """Every site file in `directory`; `${NAME}` is looked up in `environ` (default: the process environment).

    A broken file concerns its own site only. Raises ConfigError when the folder itself cannot be read.
    """
    catalogue = SiteCatalogue({}, {})
    for path in _site_files(directory):
        name = path.stem if path.suffix == SUFFIX else path.name
        try:
            catalogue.sites[name] = _load(path, environ)
        except ConfigError as error:
            catalogue.broken[name] = error
    return catalogue


def load_site(directory: Path, name: str, environ: Mapping[str, str] | None = None) -> SiteConfig:
    """The site called `name`. Raises ConfigError: no such file, or all that is wrong with it."""
    path = directory / f"{name}{SUFFIX}"
    if not is_name(name) or not path.is_file():
        raise ConfigError(path, [_no_such_site(directory, name)])
    return _load(path, environ)


def _site_files(directory: Path) -> list[Path]:
    try:
        found = sorted(directory.iterdir())
    except OSError as error:
        message = f"the folder of site files cannot be read ({error.strerror})"
        hint = "an existing folder; INCREMENTAL_CRAWL_SITES names it"
        raise ConfigError(directory, [Problem("", "", message, hint)]) from None
    return [path for path in found if _is_site_file(path)]


def _is_site_file(path: Path) -> bool:
    if path.name.startswith(".") or path.name == DEFAULTS + SUFFIX:
        return False
    return path.suffix.lower() in {SUFFIX, ".yml"} and path.is_file()


def _no_such_site(directory: Path, name: str) -> Problem:
    known = [path.stem for path in _site_files(directory)]
    near = closest(name, known)
    hint = f", did you mean {near}?" if near else ""
    listed = ", ".join(known[:20]) or f"no site yet, write {directory}/<name>{SUFFIX}"
    return Problem("", name, f"there is no site {shown(name)}{hint}", f"sites here are {listed}")


def _load(path: Path, environ: Mapping[str, str] | None) -> SiteConfig:
    _check_file_name(path)
    return _Draft(path, os.environ if environ is None else environ).site()


def _check_file_name(path: Path) -> None:
    if path.suffix != SUFFIX:
        raise ConfigError(path, [Problem("", path.name, "the file name does not end in .yaml", f"{path.stem}{SUFFIX}")])
    if not is_name(path.stem):
        raise ConfigError(path, [Problem("", path.stem, f"{shown(path.stem)} is not a site name", NAME_FORM)])


class _Draft:
    """One site file on its way to a SiteConfig; problems gather until all are known."""

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self.path = path
        self.environ = environ
        self.own = read_yaml(path)
        self.defaults = _read_defaults(path.parent)
        self.data = merged(self.defaults.data, self.own.data)

    def site(self) -> SiteConfig:
        """The finished settings. Raises ConfigError with every problem."""
        references = list(reference_problems(self.data, self.environ))
        site, errors = self._validated(filled(self.data, self.environ))
        faults = [(path, problem) for path, problem in errors if not _covered(path, references)]
        problems = [*self._duplicates(), *(self._placed(*each) for each in (*references, *faults))]
        if site is None or problems:
            raise ConfigError(self.path, sorted(problems, key=_reading_order))
        return site

    def _duplicates(self) -> Iterator[Problem]:
        yield from self.own.problems
        for problem in self.defaults.problems:
            yield _in_file(problem, self.defaults.path, problem.line)

    def _validated(self, data: dict[str, Any]) -> tuple[SiteConfig | None, list[Placed]]:
        named = {key: value for key, value in data.items() if key != "name"} | {"name": self.path.stem}
        stray: list[Placed] = [(("name",), unknown_key(("name",), data["name"]))] if "name" in data else []
        errors: list[ErrorDetails] = []
        try:
            return SiteConfig.model_validate(named, context={FOLDER: self.path.parent}), stray
        except ValidationError as error:
            errors = error.errors(include_url=False)
        return None, [*stray, *explain(errors, data)]

    def _placed(self, path: KeyPath, problem: Problem) -> Problem:
        """The problem with the file and line where its value, or what encloses it, is written."""
        for length in range(len(path), 0, -1):
            for file in (self.own, self.defaults):
                line = file.lines.get(path[:length])
                if line is not None:
                    return _in_file(problem, None if file is self.own else file.path, line)
        return problem


def _read_defaults(directory: Path) -> YamlFile:
    path = directory / f"{DEFAULTS}{SUFFIX}"
    return read_yaml(path) if path.exists() else YamlFile(path, {})


def merged(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """`own` over `defaults`, key by key; anything but two mappings is replaced as a whole."""
    result = dict(defaults)
    for key, value in own.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            result[key] = merged(below, value)
        else:
            result[key] = value
    return result


def _covered(path: KeyPath, references: list[Placed]) -> bool:
    """Whether a value could only be wrong because a `${NAME}` in it or around it was not filled in."""
    return any(place[: len(path)] == path or path[: len(place)] == place for place, _ in references)


def _in_file(problem: Problem, path: Path | None, line: int | None) -> Problem:
    return Problem(problem.key, problem.value, problem.message, problem.allowed, path, line)


def _reading_order(problem: Problem) -> tuple[str, int]:
    return str(problem.path or ""), problem.line or 0
