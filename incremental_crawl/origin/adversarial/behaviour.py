"""What a named server behaviour is: what it does, which answer is right, and who says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.expectations import FIRST_EDIT, Rounds, Track
from incremental_crawl.origin.adversarial.logged import Logged

Respond: TypeAlias = Callable[[Asked], Script]
Check: TypeAlias = Callable[[tuple[Logged, ...]], Iterable[str]]
"""Reads the requests that a behaviour received over all rounds; yields a sentence for each thing that was wrong."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Kind(StrEnum):
    """What a behaviour is about; the sections of the catalogue."""

    VALIDATORS = "validators"
    NOT_MODIFIED = "not_modified"
    CONDITIONS = "conditions"
    HEAD = "head"
    FRAMING = "framing"
    NETWORK = "network"
    ENCODING = "encoding"
    CHARSET = "charset"
    REDIRECTS = "redirects"
    ROBOTS = "robots"
    URLS = "urls"
    POLITENESS = "politeness"
    DISAPPEARANCE = "disappearance"
    BLOCKED = "blocked"
    NOISE = "noise"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One way in which a server answers, and what a client must make of it.

    `summary` and `right` are sentences for people, `authority` names the section that decides. `respond` answers every
    request but those for robots.txt, which `robots` answers (None: there is none, 404).

    `pages` says what must be held of each page after each round. A page is a path of the behaviour's first host
    (`/page`) or of its second (`other:/page`). `starts` are the pages that a client is told to visit. `says` are words
    that the held text of a page must hold besides its marker. `checks` look at what the server was asked.

    `outcomes` are this product's words for the first page, one per round. With `audited`, the truth can only be found
    by fetching a page that was just confirmed. `own_host` marks what cannot be served under a path of a shared host.
    """

    name: str
    kind: Kind
    summary: str
    right: str
    authority: str
    respond: Respond
    pages: Mapping[str, Track]
    starts: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)
    robots: Respond | None = None
    outcomes: tuple[str, ...] = ()
    edit_at: int = FIRST_EDIT
    audited: bool = False
    two_hosts: bool = False
    own_host: bool = False

    @property
    def first_page(self) -> str:
        """The page whose outcomes are told."""
        return self.starts[0]


class Declaring:
    """A decorator that makes behaviours of functions, in order; `made` collects them.

    The name is the function's, with dashes, the summary its docstring. `pages` are tracks as text (see `expectations`), `starts` all pages of the
    first host unless said otherwise.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.made: list[Behaviour] = []

    def __call__(
        self, right: str, authority: str, pages: Mapping[str, str] | None = None, *checks: Check, **more: object
    ) -> Callable[[Respond], Respond]:
        """Declare the decorated function, whose docstring is the summary; `more` are further fields of `Behaviour`."""

        def declared(respond: Respond) -> Respond:
            name = respond.__name__.replace("_", "-")
            self.add(name, respond, respond.__doc__ or "", right, authority, pages, *checks, **more)
            return respond

        return declared

    def add(
        self,
        name: str,
        respond: Respond,
        summary: str,
        right: str,
        authority: str,
        pages: Mapping[str, str] | None = None,
        *checks: Check,
        **more: object,
    ) -> None:
        """Declare a behaviour by its name."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a behaviour")
        edit_at = more.pop("edit_at", FIRST_EDIT)
        assert isinstance(edit_at, int)
        usual = " ".join(["v1"] * edit_at + ["v2"])
        tracks = {page: Rounds.parse(text) for page, text in (pages or {"/page": usual}).items()}
        starts = more.pop("starts", None) or tuple(page for page in tracks if page.startswith("/"))
        outcomes = str(more.pop("outcomes", "")).split()
        first = starts[0] if isinstance(starts, tuple) else ""
        self.made.append(
            Behaviour(
                name,
                self.kind,
                summary,
                right,
                authority,
                respond,
                tracks,
                starts,  # type: ignore[arg-type]  # checked by the catalogue's tests
                checks,
                outcomes=tuple(outcomes) or tracks[first].outcomes(),
                edit_at=edit_at,
                **more,  # type: ignore[arg-type]
            )
        )
