"""The cases of `cases.yaml`, and what the table in `docs/cache-tests.md` says of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from incremental_crawl.semantics.answers import Headers

PASSES, IN_SUBSTANCE, DIFFERS = "passes", "in substance", "differs"


@dataclass(frozen=True, slots=True)
class Case:
    """What is stored with a 200, what the next request has to send, what a 304 brings and what is current after it.

    `sends` and `merged` are what the suite expects, `result` and `why` what is said of this product.
    `later_request_headers` differ from those that the stored answer belongs to; `third_from_store` marks cases that
    also want a request answered without asking.
    """

    id: str
    suite: str
    question: str
    stored: Mapping[str, str | None]
    sends: Mapping[str, str]
    not_modified: Mapping[str, str]
    merged: Mapping[str, str | None]
    result: str
    why: str = ""
    request_headers: Mapping[str, str] = field(default_factory=dict)
    later_request_headers: Mapping[str, str] = field(default_factory=dict)
    third_from_store: bool = False
    browser_only: bool = False

    @property
    def path(self) -> str:
        """Where the case is served."""
        return f"/{self.id}"


def lines(fields: Mapping[str, str | None]) -> Headers:
    """Header lines as the product reads them: lower-case names; what has no value yet is left out."""
    return tuple((name.lower(), value) for name, value in fields.items() if value is not None)


def _loaded() -> tuple[Case, ...]:
    entries = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))
    return tuple(Case(**entry) for entry in entries)


CASES = _loaded()
