"""The base of all settings models: frozen, closed, and silent about values from the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from incremental_crawl.config.environment import holds_secret, without_secrets


@dataclass(frozen=True, slots=True)
class Allowed:
    """Annotation: the allowed form of a value, as error messages and the reference page say it."""

    text: str


class Section(BaseModel):
    """A group of keys.

    A value that came from the environment is an ordinary attribute, but `repr`, `model_dump` and
    `model_dump_json` give its `${NAME}` instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)

    later: ClassVar[Mapping[str, str | None]] = {}
    """Keys of the contract that this version does not have -> the required key each one would stand for, or None."""

    _templates: dict[str, object] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _remember_templates(cls, data: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        section = validate(data)
        if isinstance(data, Mapping):
            secret = {key: value for key, value in data.items() if holds_secret(value)}
            section._templates = {
                key: without_secrets(value)
                for key, value in secret.items()
                # Values below a group are remembered by the section that it becomes.
                if not (isinstance(value, Mapping) and isinstance(getattr(section, key, None), Section))
            }
        return section

    @model_serializer(mode="wrap")
    def _show_templates(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: self._templates.get(key, value) for key, value in serialize(self).items()}

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for key, value in super().__repr_args__():
            yield key, value if key is None else self._templates.get(key, value)
