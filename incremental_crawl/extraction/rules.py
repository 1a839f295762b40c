"""The extraction rules of a site, compiled from its configuration into plain data that workers can be sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.urls import Pattern

if TYPE_CHECKING:
    from incremental_crawl.config.page_types import FieldConfig, PageTypeConfig
    from incremental_crawl.config.site import SiteConfig

PAGE = "page"
# A new number, or a parser with another minor version, may give other records for the same bytes.
HASH_SPEC = f"lines-1 fields-1 selectolax-{'.'.join(version('selectolax').split('.')[:2])}"
_VERSION_DIGITS = 16


@dataclass(frozen=True, slots=True)
class FieldRule:
    """Where one field's value comes from and what it is; the keys of the site file (see `FieldConfig`)."""

    name: str
    css: str
    attr: str | None = None
    has_class: str | None = None
    match: str | None = None
    many: bool = False
    sort: bool = False
    required: bool = False
    track: bool = True
    type: str = "text"


@dataclass(frozen=True, slots=True)
class PageType:
    """The rules for one type of pages; without fields the record is the page's canonical lines."""

    name: str
    match: Pattern | None = None
    ignore: tuple[str, ...] = ()
    fields: tuple[FieldRule, ...] = ()


_ANY_PAGE = PageType(PAGE)


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """All page types of a site, in the order in which they are tried; picklable.

    `timezone` is the one of dates that name none, `strip_params` what is removed from addresses.
    """

    page_types: tuple[PageType, ...] = ()
    timezone: str = "UTC"
    strip_params: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @classmethod
    def compile(cls, site: SiteConfig) -> ExtractionRules:
        """The rules of a site; selectors that do not parse are listed in `problems` and match nothing."""
        page_types = tuple(map(_page_type, site.extract))
        return cls(page_types, site.timezone, tuple(site.scope.strip_params), tuple(_problems(page_types)))

    def for_url(self, url: str) -> PageType:
        """The first page type that matches a canonical URL, else the type of pages without rules."""
        return next((kind for kind in self.page_types if kind.match is None or kind.match.matches(url)), _ANY_PAGE)

    def page_type_for(self, url: str) -> str:
        """The name of the page type of a canonical URL; `page` where no rule matches."""
        return self.for_url(url).name

    def extractor_version(self, page_type: str) -> str:
        """A short digest of all that decides a record of this type: equal versions give equal records.

        `page_type` is a name that `page_type_for` gave. Raises KeyError for an unknown name.
        """
        rules = {kind.name: kind for kind in (_ANY_PAGE, *self.page_types)}[page_type]
        return self.version_of(rules)

    def version_of(self, rules: PageType) -> str:
        """The extractor version of a page type of these rules; its name and URL pattern do not count."""
        fields = [asdict(field) for field in rules.fields]
        parts: list[object] = [HASH_SPEC, list(rules.ignore), fields]
        if any(field.type == "date" for field in rules.fields):
            parts.append(self.timezone)
        if any(field.type == "url" for field in rules.fields):
            parts.append(list(self.strip_params))
        return sha256_text(canonical_json(parts))[:_VERSION_DIGITS]


def _page_type(config: PageTypeConfig) -> PageType:
    fields = tuple(_field(name, field) for name, field in config.fields.items())
    return PageType(config.name, config.match, tuple(config.ignore), fields)


def _field(name: str, config: FieldConfig) -> FieldRule:
    return FieldRule(
        name=name,
        css=config.css,
        attr=config.attr,
        has_class=config.has_class,
        match=config.match,
        many=config.list,
        sort=config.sort,
        required=config.required,
        track=config.track,
        type=config.type,
    )


def _problems(page_types: tuple[PageType, ...]) -> Iterator[str]:
    for kind in page_types:
        for number, selector in enumerate(kind.ignore):
            if not _parses(selector):
                yield _problem(f"{kind.name}.ignore[{number}]", selector)
        for field in kind.fields:
            if not _parses(field.css):
                yield _problem(f"{kind.name}.fields.{field.name}.css", field.css)


def _problem(key: str, selector: str) -> str:
    return f"extract.{key}: {selector!r} is not a CSS selector; write one such as '.price' or '#main > h1'"


def _parses(selector: str) -> bool:
    try:
        LexborHTMLParser("<p></p>").css(selector)
    except (SelectolaxError, ValueError):
        return False
    return True
