"""Which rules made the held records, and the pass over them that follows a change of the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from incremental_crawl.storage.state import State

_RULES = "rules_applied"
_CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class HeldRules:
    """The page type and rules of a page's record, and whether it counts as made by others than those in force."""

    url: str
    page_type: str
    extractor_version: str
    stale: bool


def applied(state: State) -> str | None:
    """The fingerprint of the rules that the held records were last compared with."""
    return state.meta(_RULES)


def held(state: State) -> Iterator[list[HeldRules]]:
    """Every held page, in chunks."""
    after = ""
    while rows := state.rows(
        "SELECT url, coalesce(page_type, ''), coalesce(extractor_version, ''), stale FROM known_urls "
        "WHERE held AND url > ? ORDER BY url LIMIT ?",
        [after, _CHUNK],
    ):
        after = rows[-1][0]
        yield [HeldRules(*row) for row in rows]


def assign(state: State, pages: Sequence[HeldRules], fingerprint: str) -> None:
    """Set the page type and staleness of `pages`, and note that the rules of `fingerprint` have been applied."""
    assigned = pa.table(
        {
            "url": pa.array([page.url for page in pages], pa.string()),
            "page_type": pa.array([page.page_type for page in pages], pa.string()),
            "stale": pa.array([page.stale for page in pages], pa.bool_()),
        }
    )
    with state.transaction(), state.bound("assigned", assigned):
        state.script("assign_page_types")
        state.run('DELETE FROM meta WHERE "key" = ?', [_RULES])
        state.run("INSERT INTO meta VALUES (?, ?)", [_RULES, fingerprint])
