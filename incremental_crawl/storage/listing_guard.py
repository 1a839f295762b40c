"""The guard against sitemaps that are suddenly small: what they listed stays listed until they are believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from incremental_crawl.semantics.shrinkage import Shrunk, is_sudden
from incremental_crawl.storage.sql import query
from incremental_crawl.storage.state import State

WHOLE_SITE = "*"


@dataclass(frozen=True, slots=True)
class Guarded:
    """What the guard found: listings that are `held`, those that are `believed` now, and pages leaving by root."""

    held: tuple[Shrunk, ...] = ()
    believed: tuple[Shrunk, ...] = ()
    leaving: tuple[tuple[str, int], ...] = ()

    @property
    def unlisted(self) -> dict[str, int]:
        """By root, how many living pages leave the listing."""
        held = {each.root for each in self.held}
        return {} if WHOLE_SITE in held else {root: count for root, count in self.leaving if root not in held}


def guard(state: State, visit: int, now: datetime, limit: float, in_scope: Callable[[str], bool]) -> Guarded:
    """Compare the listings with what was listed before; pages that stay listed are then in the table `kept_listed`.

    To be called inside the transaction that merges, after the comparison. A root that lost more than the share `limit`
    of its living pages, or a site that did, is held; pages that `in_scope` leaves out are no loss.
    """
    state.script("leaving_listings", {"visit": visit})
    counts = _counts(state, visit)
    sudden = [Shrunk(own.root, own.before, own.now, now) for own in counts if own.is_sudden(limit)]
    if sudden and _drop_outside(state, in_scope):
        counts = _counts(state, visit)
        sudden = [Shrunk(own.root, own.before, own.now, now) for own in counts if own.is_sudden(limit)]
    known = {each.root: each for each in shrunk(state)}
    seen = [known[each.root].seen_again(each, limit) if each.root in known else each for each in sudden]
    held = tuple(each for each in seen if not each.believed(now))
    if known or held:
        state.run("DELETE FROM shrunk_listings")
        state.append("shrunk_listings", held)
    if held:
        kept = [each.root for each in held]
        state.run(
            "INSERT INTO kept_listed SELECT known FROM leaving "
            "WHERE list_contains($kept::VARCHAR[], root) OR list_contains($kept::VARCHAR[], $all)",
            {"kept": kept, "all": WHOLE_SITE},
        )
    leaving = tuple((own.root, own.leaving) for own in counts if own.root != WHOLE_SITE)
    return Guarded(held, tuple(each for each in seen if each.believed(now)), leaving)


def shrunk(state: State) -> list[Shrunk]:
    """The listings that are held now."""
    return [
        Shrunk(*row) for row in state.rows("SELECT root, before, now, since, visits FROM shrunk_listings ORDER BY 1")
    ]


@dataclass(frozen=True, slots=True)
class _Count:
    root: str
    before: int
    leaving: int
    now: int

    def is_sudden(self, limit: float) -> bool:
        return is_sudden(self.before, self.leaving, self.now, limit)


def _counts(state: State, visit: int) -> list[_Count]:
    """Of the roots, and of the whole site, that pages are leaving; most often there are none."""
    if not state.value("SELECT count(*) FROM leaving"):
        return []
    return [_Count(*row) for row in state.rows(query("count_leaving"), {"visit": visit})]


def _drop_outside(state: State, in_scope: Callable[[str], bool]) -> bool:
    """Take pages that the scope in force leaves out from those that are leaving; returns whether there were any."""
    leaving = (row[0] for row in state.rows("SELECT url FROM leaving"))
    outside = pa.table({"url": pa.array([url for url in leaving if not in_scope(url)], pa.string())})
    if outside.num_rows:
        with state.bound("outside_scope", outside):
            state.run("DELETE FROM leaving USING outside_scope o WHERE leaving.url = o.url")
    return outside.num_rows > 0
