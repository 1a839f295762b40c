"""The keys of a site file as the models define them: where each stands, what it allows, where a stray one belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from incremental_crawl.config.environment import Path
from incremental_crawl.config.section import Allowed, Section
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.config.suggest import closest

# The name of a site is the name of its file.
_NOT_WRITTEN = frozenset({"name"})


def keys_of(section: type[Section]) -> list[str]:
    """The keys that may be written in a section."""
    hidden = _NOT_WRITTEN if section is SiteConfig else frozenset[str]()
    return [key for key in section.model_fields if key not in hidden]


def section_within(annotation: Any) -> type[Section] | None:
    """The section that a field's annotation leads to, also through a list or a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    found = (section_within(argument) for argument in get_args(annotation))
    return next((section for section in found if section is not None), None)


def locate(path: Path) -> tuple[type[Section], FieldInfo | None]:
    """The innermost section around the value at `path`, and the field it belongs to (None for an unknown key)."""
    section: type[Section] = SiteConfig
    field: FieldInfo | None = None
    names_follow = False
    for part in path:
        if isinstance(part, int) or names_follow:
            names_follow = False
            continue
        outer, field = section, section.model_fields.get(part)
        inner = section_within(field.annotation) if field else None
        section = inner or outer
        names_follow = field is not None and get_origin(field.annotation) is dict
    return section, field


def allowed_at(path: Path) -> str:
    """The allowed form of the value at `path` in words."""
    section, field = locate(path)
    if field is None:
        return "a key of " + ", ".join(keys_of(section))
    texts = [mark.text for mark in field.metadata if isinstance(mark, Allowed)]
    return texts[-1] if texts else "a group with the keys " + ", ".join(keys_of(section))


def all_keys(section: type[Section] = SiteConfig, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key with its full name, `extract[].fields.<name>.css` for those inside a list or a mapping."""
    for key in keys_of(section):
        field = section.model_fields[key]
        yield prefix + key, field
        inner = section_within(field.annotation)
        if inner is not None:
            yield from all_keys(inner, f"{prefix}{key}{_joint(field)}")


def _joint(field: FieldInfo) -> str:
    origin = get_origin(field.annotation)
    return "[]." if origin is tuple else ".<name>." if origin is dict else "."


def suggestion(key: str, section: type[Section]) -> str | None:
    """What an unknown key was probably meant to be: one of this section, else the same key where it belongs."""
    near = closest(key, keys_of(section))
    if near is not None:
        return near
    elsewhere = {name.rpartition(".")[2]: name for name, _ in reversed(list(all_keys()))}
    found = closest(key, [name for name in elsewhere if len(name) > 3])
    return elsewhere[found] if found else None
