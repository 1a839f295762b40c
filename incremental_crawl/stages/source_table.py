"""A site's sources in lines for people: the table of stage 1 and of `status`, and sentences about listings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from incremental_crawl.semantics.shrinkage import BELIEVED_AFTER, BELIEVED_AFTER_VISITS, Shrunk
from incremental_crawl.storage.discovery import ListingCounts, Source
from incremental_crawl.storage.listing_guard import WHOLE_SITE

MOST_SOURCES = 20
_LONGEST = 200
_HEAD = ("source", "found by", "status", "outcome", "entries", "new", "unlisted", "unchanged", "lastmod", "reliability")
_NOT_THERE = "none there"
_NO_COUNTS = ListingCounts(0, 0, 0)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One source for people. `dated` is the share of its entries with a lastmod; None is not known or not counted."""

    url: str
    found_by: str
    status: int | None
    outcome: str
    entries: int
    new: int | None
    unlisted: int | None
    dated: float | None
    reliability: str | None
    is_root: bool
    needs_a_look: bool


def source_lines(
    sources: Iterable[Source],
    counts: Mapping[str, ListingCounts],
    unlisted: Mapping[str, int],
    reliability: Mapping[str, str],
) -> list[SourceLine]:
    """The sources that matter most first: what needs a look, where reading began, the largest; guesses last."""
    lines = [
        _line(source, counts.get(source.url, _NO_COUNTS), unlisted, reliability)
        for source in sorted(sources, key=lambda own: own.url)
    ]
    return sorted(lines, key=_rank)


def markdown_table(lines: Sequence[SourceLine]) -> str:
    """At most twenty lines as a Markdown table, and how many more there are."""
    rows = [_cells(line) for line in lines[:MOST_SOURCES]]
    rules = ["---"] * 4 + ["---:"] * 5 + ["---"]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in ([*_HEAD], rules, *rows))
    more = len(lines) - MOST_SOURCES
    return f"{text}\n\nand {more} more" if more > 0 else text


def shrunk_sentence(each: Shrunk, site: str) -> str:
    """Why a listing is held, and how that ends."""
    return (
        f"{_named(each.root)} listed {each.before} pages and lists {each.now} now: the others stay listed until they "
        f"are gone, or until it has been so for {BELIEVED_AFTER_VISITS} visits and "
        f"{BELIEVED_AFTER.total_seconds() / 3600:.0f} hours (now visit {each.visits}, since "
        f"{each.since:%Y-%m-%d %H:%M} UTC); how much may be lost at once is scope.sitemap_shrink_limit of {site}"
    )


def believed_sentence(each: Shrunk) -> str:
    """That a listing which was held is believed now."""
    return (
        f"{_named(each.root)} has listed {each.now} pages in place of {each.before} for {each.visits} visits: it is "
        "believed, and the others are no longer listed (they are still revalidated)"
    )


def short(text: str) -> str:
    """The beginning of a text that may be long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _rank(own: SourceLine) -> tuple[bool, bool, bool, int]:
    return (not own.needs_a_look, own.outcome == _NOT_THERE, not own.is_root, -own.entries)


def _line(
    source: Source, counts: ListingCounts, unlisted: Mapping[str, int], reliability: Mapping[str, str]
) -> SourceLine:
    is_root = source.root in (None, source.url)
    return SourceLine(
        url=source.url,
        found_by=source.found_by or "",
        status=source.status,
        outcome=_outcome(source),
        entries=counts.entries,
        new=counts.new,
        unlisted=unlisted.get(source.url, 0) if is_root else None,
        dated=counts.dated / counts.entries if counts.entries else None,
        reliability=reliability.get(source.url) if is_root else None,
        is_root=is_root,
        needs_a_look=not source.is_guess and (source.problem is not None or not source.complete),
    )


def _outcome(source: Source) -> str:
    if source.is_guess:
        return _NOT_THERE
    if source.problem:
        return f"failed: {short(source.problem)}"
    if source.sha256 is None:
        return f"leads to {source.hop_url}"
    outcome = f"index of {len(source.children)}" if source.children else "read"
    outcome = f"{outcome}, not modified" if source.status == 304 else outcome
    return f"{outcome}; {short(source.warnings)}" if source.warnings else outcome


def _cells(line: SourceLine) -> list[str]:
    unchanged = None if line.new is None else line.entries - line.new
    dated = None if line.dated is None else f"{100 * line.dated:.0f} %"
    counts = (line.entries, line.new, line.unlisted, unchanged)
    cells = (line.url, line.found_by, line.status, line.outcome, *counts, dated, line.reliability)
    return [_escaped("–" if cell is None else str(cell)) for cell in cells]


def _named(root: str) -> str:
    return {WHOLE_SITE: "all sitemaps together", "": "pages that links found"}.get(root, root)


def _escaped(text: str) -> str:
    """One cell of a Markdown table, whatever a web page wrote."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
