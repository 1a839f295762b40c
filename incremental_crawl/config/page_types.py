"""The `extract` part of a site file: page types and their fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from incremental_crawl.config.section import Allowed, Section
from incremental_crawl.config.values import NAME_FORM, Name, Regex, Text, YesNo
from incremental_crawl.config.web_values import PatternValue

FieldType: TypeAlias = Literal["text", "number", "integer", "price", "date", "url", "bool"]

RECORD_COLUMNS = frozenset({"url", "item_key", "observed_at", "last_checked", "content_sha256", "stale"})
RECORD_FOLDERS = frozenset({"site", "type"})
PAGE_WITHOUT_RULES = "page"

_SELECTOR = Allowed('a CSS selector in quotes, such as ".price" or "#main h1"')
_LATER_SOURCES = ("xpath", "json", "jsonld", "meta", "regex", "main")


class FieldConfig(Section):
    """Where one field of a record comes from and how its value is read. A bare text is a CSS selector."""

    later: ClassVar[Mapping[str, str | None]] = dict.fromkeys(_LATER_SOURCES, "css")

    css: Annotated[Text, _SELECTOR]
    attr: Annotated[Text | None, Allowed("the name of an attribute, such as href, or null")] = None
    has_class: Annotated[Text | None, Allowed("the name of a class, or null")] = None
    match: Annotated[Regex | None, Allowed("a regex with at most one group, such as '(\\d+) available', or null")] = (
        None
    )
    list: YesNo = False
    sort: YesNo = False
    required: YesNo = False
    track: YesNo = True
    type: Annotated[FieldType, Allowed("text, number, integer, price, date, url or bool")] = "text"

    @model_validator(mode="before")
    @classmethod
    def _from_selector(cls, value: Any) -> Any:
        return {"css": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.sort and not self.list:
            raise ValueError("sort orders the values of a list, add list: true")
        if self.has_class is not None:
            self._check_has_class()
        return self

    def _check_has_class(self) -> None:
        if self.type != "bool":
            raise ValueError("has_class answers true or false, add type: bool")
        if self.attr is not None or self.match is not None:
            raise ValueError("has_class reads no text, leave attr and match out")


def _html(value: object) -> object:
    if value == "json":
        raise ValueError("json is not available in this version")
    return value


def _usable_fields(fields: dict[str, FieldConfig]) -> dict[str, FieldConfig]:
    for name in fields:
        if name in RECORD_COLUMNS:
            raise ValueError(f"{name} is a column of every record, choose another name")
        if name in RECORD_FOLDERS:
            raise ValueError(f"{name}= is in the path of every records file, choose another name such as item_{name}")
        if name.endswith("_currency") and _is_price(fields.get(name.removesuffix("_currency"))):
            raise ValueError(f"{name} is the column that the price {name.removesuffix('_currency')} adds")
    return fields


def _is_price(field: FieldConfig | None) -> bool:
    return field is not None and field.type == "price"


def _type_name(name: str) -> str:
    if name == PAGE_WITHOUT_RULES:
        raise ValueError("page is the type of pages without rules, choose another name")
    return name


class PageTypeConfig(Section):
    """The rules for the pages whose URL matches. Without fields the page's canonical lines are its record."""

    later: ClassVar[Mapping[str, str | None]] = dict.fromkeys(("items", "next", "python"))

    name: Annotated[Name, AfterValidator(_type_name), Allowed(NAME_FORM + '; not "page"')]
    match: PatternValue
    format: Annotated[Literal["html"], BeforeValidator(_html), Allowed("html")] = "html"
    ignore: Annotated[tuple[Text, ...], Allowed('a list of CSS selectors, such as [".ad"]')] = ()
    fields: Annotated[
        dict[Name, FieldConfig],
        AfterValidator(_usable_fields),
        Allowed("field names, each with a CSS selector or a group such as {css: .price, type: price}"),
    ] = Field(default_factory=dict)


def _distinct_names(page_types: tuple[PageTypeConfig, ...]) -> tuple[PageTypeConfig, ...]:
    twice = [name for name, count in Counter(page_type.name for page_type in page_types).items() if count > 1]
    if twice:
        raise ValueError(f"the name {twice[0]} is used twice")
    return page_types


Extract: TypeAlias = Annotated[
    tuple[PageTypeConfig, ...],
    AfterValidator(_distinct_names),
    Allowed("a list of page types, each with its own name and a match"),
]
