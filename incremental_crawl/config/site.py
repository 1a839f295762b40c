"""The settings of one site, typed and frozen. `docs/site-file.md` is the reference for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    WrapSerializer,
    model_validator,
)

from incremental_crawl.config.network_values import CaFile, HeaderFields, ProxyUrl
from incremental_crawl.config.page_types import Extract
from incremental_crawl.config.section import Allowed, Section
from incremental_crawl.config.units import format_duration
from incremental_crawl.config.values import (
    NAME_FORM,
    AnyDuration,
    Cron,
    Duration,
    HeaderText,
    Name,
    Number,
    Share,
    Size,
    Text,
    Whole,
    YesNo,
    Zone,
)
from incremental_crawl.config.web_values import PatternValue, PrivateHosts, WebUrl
from incremental_crawl.semantics import urls

EVERY_RUN = "every_run"
# Without the patch release: validators belong to the request headers, so a new text here costs a full download.
DEFAULT_USER_AGENT = "incremental-crawl/0.1"

_PATTERNS = Allowed('a list of patterns: a glob on path and query, such as ["/product/**"], or re: and a regex')
_COUNT_OR_NULL = Allowed("a whole number of at least 1, or null for no limit")
MetaRobots: TypeAlias = Literal["ignore", "nofollow", "all"]
CanonicalLinks: TypeAlias = Literal["ignore", "prefer"]


class ScopeConfig(Section):
    """Which pages belong to the site, and how many."""

    include: Annotated[tuple[PatternValue, ...], _PATTERNS] = ()
    exclude: Annotated[tuple[PatternValue, ...], _PATTERNS] = ()
    max_depth: Annotated[Whole, Field(ge=0), Allowed("a whole number of at least 0")] = 5
    max_pages: Annotated[Whole, Field(ge=1), Allowed("a whole number of at least 1")] = 1_000_000
    max_new_per_visit: Annotated[Annotated[Whole, Field(ge=1)] | None, _COUNT_OR_NULL] = 10_000
    strip_params: Annotated[tuple[Text, ...], Allowed('a list of parameter names, such as ["utm_*", "sid"]')] = ()
    strip_tracking: YesNo = True
    skip_traps: YesNo = True
    alternates: YesNo = False
    meta_robots: Annotated[MetaRobots, Allowed("ignore, nofollow or all")] = "nofollow"
    canonical: Annotated[CanonicalLinks, Allowed("ignore or prefer")] = "ignore"
    forget_after: Duration = timedelta(days=90)
    sitemap_shrink_limit: Share = 0.2


class Cadence(Section):
    """How often a page is asked. `every_run` is True for `EveryRun` alone."""

    later: ClassVar[Mapping[str, str | None]] = dict.fromkeys(("full_sweep_every", "sections"))
    every_run: ClassVar[bool] = False

    default: Duration = timedelta(days=1)
    min: Duration = timedelta(hours=1)
    max: Duration = timedelta(days=30)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.min <= self.default <= self.max:
            written = ", ".join(f"{key} {format_duration(value)}" for key, value in self)
            raise ValueError(f"min ≤ default ≤ max does not hold: {written}")
        return self


class EveryRun(Cadence):
    """The word `every_run`: every page is asked in every visit."""

    every_run: ClassVar[bool] = True


def _cadence(value: object) -> object:
    if isinstance(value, str):
        if value != EVERY_RUN:
            raise ValueError("not the word every_run")
        return EveryRun()
    return value


def _word_or_group(cadence: Cadence, serialize: SerializerFunctionWrapHandler) -> object:
    return EVERY_RUN if cadence.every_run else serialize(cadence)


class Budget(Section):
    """What one visit may spend; None is no limit."""

    requests_per_visit: Annotated[Annotated[Whole, Field(ge=1)] | None, _COUNT_OR_NULL] = None
    bytes_per_visit: Annotated[
        Annotated[Size, Field(ge=1)] | None, Allowed("a size above zero, such as 500MB, or null for no limit")
    ] = None
    time_per_visit: Annotated[
        Duration | None, Allowed("a duration above zero, such as 30m or 6h, or null for no limit")
    ] = timedelta(hours=1)


class Politeness(Section):
    """How hosts are treated; rates and concurrency are per host, `max_body` and `max_decoded` are bytes."""

    requests_per_second: Annotated[
        Annotated[Number, Field(gt=0)] | None, Allowed("a number above zero, or null for no limit")
    ] = 5.0
    sweep_concurrency: Annotated[Whole, Field(ge=1, le=256), Allowed("a whole number from 1 to 256")] = 24
    fetch_concurrency: Annotated[Whole, Field(ge=1, le=256), Allowed("a whole number from 1 to 256")] = 6
    timeout: Duration = timedelta(seconds=20)
    total_timeout: Duration = timedelta(seconds=60)
    max_body: Annotated[Size, Field(ge=1_000), Allowed("a size of at least 1KB, such as 20MB")] = 20_000_000
    max_decoded: Annotated[Size, Field(ge=1_000), Allowed("a size of at least 1KB, such as 50MB")] = 50_000_000
    user_agent: Annotated[HeaderText, Allowed("a text of printable ASCII characters")] = DEFAULT_USER_AGENT
    contact: Annotated[HeaderText | None, Allowed("a mail address or a URL in ASCII characters, or null")] = None
    respect_robots: YesNo = True
    proxy: Annotated[ProxyUrl | None, Allowed("the URL of an HTTP proxy, such as http://proxy:3128, or null")] = None
    ca_file: Annotated[CaFile | None, Allowed("a PEM file with certificates of authorities, or null")] = None

    @property
    def full_user_agent(self) -> str:
        """The User-Agent line that is sent: `user_agent`, followed by `(+contact)` where a contact is set."""
        return self.user_agent if self.contact is None else f"{self.user_agent} (+{self.contact})"


class Revalidation(Section):
    """How far a 304 is believed."""

    audit_share: Share = 0.02
    min_304_ratio: Share = 0.05


class Gate(Section):
    """Shares of a visit above which a plan waits for a person."""

    changed: Share = 0.8
    gone: Share = 0.2
    failed: Share = 0.5
    min_pages: Annotated[Whole, Field(ge=0), Allowed("a whole number of at least 0")] = 20
    confirm_gone_after: Annotated[
        AnyDuration, Field(le=timedelta(hours=1)), Allowed("a duration from 0s to 1h, such as 5s")
    ] = timedelta(seconds=5)


class Bodies(Section):
    """How long raw bodies are kept."""

    later: ClassVar[Mapping[str, str | None]] = {"keep_current": None}

    keep_days: Annotated[Whole, Field(ge=1, le=3_650), Allowed("a whole number of days from 1 to 3650")] = 7


def _main_text(value: object) -> object:
    if value == "precise":
        raise ValueError("precise is not available in this version")
    return value


def _auto_or_switch(value: object) -> object:
    if value != "auto" and not isinstance(value, bool):
        raise ValueError("neither auto nor a boolean")
    return value


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


Urls: TypeAlias = Annotated[tuple[WebUrl, ...], AfterValidator(_distinct)]
StartUrls: TypeAlias = Annotated[
    Urls, Field(min_length=1), Allowed('a list of at least one http or https URL, such as ["https://shop.example/"]')
]
Sitemaps: TypeAlias = Annotated[
    Annotated[Literal["auto", "none"], Tag("word")] | Annotated[Urls, Tag("several")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "several"),
    Allowed("auto, none or a list of http or https URLs"),
]
FollowLinks: TypeAlias = Annotated[
    Literal["auto"] | bool, BeforeValidator(_auto_or_switch), Allowed("auto, true or false")
]
CadenceValue: TypeAlias = Annotated[
    Cadence,
    BeforeValidator(_cadence),
    WrapSerializer(_word_or_group),
    Allowed("the word every_run, or a group with the keys default, min and max"),
]


class SiteConfig(Section):
    """Everything that a site file says, defaults filled in. URLs are canonical, durations `timedelta`, sizes bytes."""

    later: ClassVar[Mapping[str, str | None]] = dict.fromkeys(("alerts",))

    name: Annotated[Name, Allowed(NAME_FORM)]
    start_urls: StartUrls
    enabled: YesNo = True
    schedule: Annotated[
        Cron | None, Allowed('a cron line of five fields, such as "0 */6 * * *", or null for by hand only')
    ] = "0 */6 * * *"
    schedule_on: YesNo = False
    timezone: Zone = "UTC"
    sitemaps: Sitemaps = "auto"
    feeds: Annotated[Urls, Allowed("a list of http or https URLs")] = ()
    follow_links: FollowLinks = "auto"
    scope: ScopeConfig = ScopeConfig()
    cadence: CadenceValue = Cadence()
    budget: Budget = Budget()
    politeness: Politeness = Politeness()
    request_headers: HeaderFields = {}  # noqa: RUF012 - pydantic copies it
    revalidation: Revalidation = Revalidation()
    gate: Gate = Gate()
    bodies: Bodies = Bodies()
    main_text: Annotated[Literal["fast", "none"], BeforeValidator(_main_text), Allowed("fast or none")] = "fast"
    allow_private_hosts: PrivateHosts = False
    extract: Extract = ()

    @model_validator(mode="after")
    def _strip_start_urls(self) -> Self:
        stripped = (urls.canonical_url(url, strip_params=self.scope.strip_params) for url in self.start_urls)
        object.__setattr__(self, "start_urls", _distinct(tuple(stripped)))
        return self

    @property
    def hosts(self) -> frozenset[str]:
        """`host:port` of the start URLs, a default port left out."""
        return frozenset(urls.host_of(url) for url in self.start_urls)

    @property
    def origins(self) -> frozenset[str]:
        """The origins of the start URLs, `https://shop.example`: `request_headers` are sent to these alone."""
        return frozenset(urls.origin_of(url) for url in self.start_urls)

    @property
    def scope_rules(self) -> urls.Scope:
        """Which URLs belong to the site."""
        return urls.Scope(self.hosts, self.scope.include, self.scope.exclude)

    def as_data(self) -> dict[str, Any]:
        """Every key with its effective value as a site file would have it, `${NAME}` where that was written."""
        data = self.model_dump(mode="json")
        data.pop("name")
        return data
