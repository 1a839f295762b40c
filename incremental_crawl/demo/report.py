"""The demo's report: what changed, what is gone, what was not downloaded, where to look and what to try next."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from incremental_crawl.cli.terminal import diff_lines, heading, indented, shown
from incremental_crawl.cli.words import counted, size

_SHOWN_DIFFS = 3
_OTHER_KINDS = (("gone", "Gone"), ("restored", "Back again"), ("moved", "Moved"), ("new", "New"))
_LONGEST_INLINE = 40
_TO_TRY = (
    "changes bookshop --since 1h",
    'sql "SELECT title, price FROM records ORDER BY price DESC LIMIT 5"',
    "status bookshop",
)


def report(shop_url: str, data: Path, counts: Mapping[str, int | float], events: Sequence[Mapping[str, Any]]) -> str:
    """The report of a visit to the shop at `shop_url` from its counts and its change events."""
    home = shop_url.rstrip("/")
    parts = (_changes(home, events), _others(home, events), _savings(counts), _places(data))
    return "\n" + "\n\n".join("\n".join(part) for part in parts)


def _changes(home: str, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    changed = [event for event in events if event["kind"] == "changed"]
    books = sorted((event for event in changed if event["page_type"] == "book"), key=_interest)
    lists = len(changed) - len(books)
    listing = f", and {counted(lists, 'page')} that list them" if lists else ""
    yield heading(f"What changed: {counted(len(books), 'book')}{listing}")
    for event in books[:_SHOWN_DIFFS]:
        yield f"\n{click.style(shown(event['url']), bold=True)}"
        yield indented(diff_lines(event["diff"]), 2)
    rest = books[_SHOWN_DIFFS:]
    if rest:
        yield ""
    width = max((len(_path(home, event["url"])) for event in rest), default=0)
    for event in rest:
        yield f"{_path(home, event['url']):<{width}}  {_told(event)}"


def _interest(event: Mapping[str, Any]) -> tuple[int, str]:
    """A changed text makes the best first diff, a price the second, what is in stock the third."""
    names = {field["name"] for field in event["fields"]}
    rank = 0 if "description" in names else 2 if "stock" in names else 1
    return rank, str(event["event_id"])


def _told(event: Mapping[str, Any]) -> str:
    return ", ".join(map(_told_field, event["fields"]))


def _told_field(field: Mapping[str, Any]) -> str:
    """`price 9.99 GBP → 8.99 GBP (-10.0 %)`, `stock 3 → 0`, or the name alone where the values are long."""
    name, old, new = field["name"], field["old"], field["new"]
    if old is None or new is None or len(old) + len(new) > _LONGEST_INLINE:
        return str(name)
    # The share of a number of copies says nothing.
    share = f" ({field['percent']:+.1f} %)" if field["percent"] is not None and not old.isdecimal() else ""
    return shown(f"{name} {old} → {new}{share}")


def _others(home: str, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield heading("Gone, back, moved, new")
    for kind, title in _OTHER_KINDS:
        for event in events:
            if event["kind"] != kind:
                continue
            why = f" (answered {event['evidence']})" if kind == "gone" else ""
            yield f"{click.style(f'{title:<11}', bold=True)}{_path(home, event['url'])}{why}"
            if event["moved_to"]:
                yield f"{'':<11}→ {_path(home, event['moved_to'])}"


def _path(home: str, url: str) -> str:
    return shown(url.removeprefix(home))


def _savings(counts: Mapping[str, int | float]) -> Iterator[str]:
    received, saved = counts.get("bytes received", 0), counts.get("bytes saved", 0)
    share = click.style(f"{counts.get('saved percent', 0):.0f} %", fg="green", bold=True)
    yield heading("What was not downloaded")
    yield f"{counts.get('304 not modified', 0):.0f} of {counts.get('asked', 0):.0f} pages answered 304 Not Modified."
    yield f"{size(received)} came over the wire, {size(saved)} did not: {share} of a full crawl."


def _places(data: Path) -> Iterator[str]:
    places = (
        ("records", "the books as a table, one row each: what is true now"),
        ("page_diffs", "every change, field by field"),
        ("observations", "every request and what came of it"),
        ("body_snapshots", "raw pages, kept seven days"),
    )
    yield heading("Where to look, what to try next")
    width = max(len(f"{data}/{name}/") for name, _ in places)
    yield from (f"{f'{data}/{name}/':<{width}}  {what}" for name, what in places)
    yield ""
    yield from (f"{_program()} {arguments}" for arguments in _TO_TRY)
    yield "make dev      the same in the Dagster UI"
    yield "make crawl    once more: the shop moves on, and a book comes back"


def _program() -> str:
    """The program as it can be typed here."""
    script = Path(sys.executable).with_name("incremental-crawl")
    if not script.exists():
        return f"{Path(sys.executable).name} -m incremental_crawl"
    here = Path.cwd()
    return str(script.relative_to(here) if script.is_relative_to(here) else script)
