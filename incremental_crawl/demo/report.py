"""The demo's report: what changed, what is gone, what was not downloaded, where to look and what to try next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax

from incremental_crawl.cli.words import size

_SHOWN_DIFFS = 3
_DATASETS = {
    "records": "the shop's books as a table",
    "page_diffs": "every change",
    "body_snapshots": "raw pages, kept seven days",
    "observations": "every request",
}
_PROGRAM = ".venv/bin/incremental-crawl"
_DEAREST = "SELECT title, price FROM records WHERE type = 'book' ORDER BY price DESC LIMIT 5"
_NEXT = {
    f"{_PROGRAM} changes bookshop --since 1h": "the change feed (--json for a program)",
    f'{_PROGRAM} sql "{_DEAREST}"': "the five dearest books (any SQL over the datasets)",
    "make dev": "the same in the Dagster UI",
    "make crawl": "once more: the shop moves on",
}


def print_report(console: Console, data_dir: Path, counts: dict[str, Any], events: Sequence[dict[str, Any]]) -> None:
    """Print the report of a visit from its counts and its change events."""
    console.print()
    _print_changes(console, [event for event in events if event["kind"] == "changed"])
    _print_others(console, [event for event in events if event["kind"] not in ("changed", "corrected")])
    _print_savings(console, counts)
    _print_places(console, data_dir)


def _print_changes(console: Console, changed: Sequence[dict[str, Any]]) -> None:
    fielded = [event for event in changed if event["page_type"] != "page"]
    console.rule(f"[bold]What changed: {len(changed)} pages[/]", align="left")
    for event in sorted(fielded, key=_interest)[:_SHOWN_DIFFS]:
        console.print(f"\n[bold]{event['url']}[/]  {_told(event)}", soft_wrap=True)
        console.print(Syntax(event["diff"].rstrip("\n"), "diff", background_color="default", word_wrap=True))
    for event in sorted(fielded, key=_interest)[_SHOWN_DIFFS:]:
        console.print(f"  {event['url']}  {_told(event)}", soft_wrap=True)
    lists = len(changed) - len(fielded)
    if lists:
        console.print(f"  and {lists} pages that list these books")


def _interest(event: dict[str, Any]) -> tuple[bool, str]:
    """Prices last: a changed text makes the better first diff, a price the better second."""
    return any(field["percent"] is not None for field in event["fields"]), str(event["event_id"])


def _told(event: dict[str, Any]) -> str:
    told = []
    for field in event["fields"]:
        if field["percent"] is not None:
            told.append(f"{field['name']} {field['old']} → {field['new']} ({field['percent']:+.1f} %)")
        elif field["old"] is not None and field["new"] is not None and len(field["old"]) + len(field["new"]) < 40:
            told.append(f"{field['name']} {field['old']} → {field['new']}")
        else:
            told.append(str(field["name"]))
    return ", ".join(told)


def _print_others(console: Console, events: Sequence[dict[str, Any]]) -> None:
    console.print()
    for kind, title in (("gone", "Gone"), ("restored", "Back again"), ("moved", "Moved"), ("new", "New")):
        for event in events:
            if event["kind"] == kind:
                more = f" → {event['moved_to']}" if event["moved_to"] else ""
                why = f" ({event['evidence']})" if kind == "gone" else ""
                console.print(f"[bold]{title:<11}[/]{event['url']}{more}{why}", soft_wrap=True)


def _print_savings(console: Console, counts: dict[str, Any]) -> None:
    received, saved = counts.get("bytes received", 0), counts.get("bytes saved", 0)
    text = (
        f"{counts.get('304 not modified', 0)} of {counts.get('asked', 0)} pages answered 304 Not Modified. "
        f"{size(received)} came over the wire, {size(saved)} did not: "
        f"[bold green]{counts.get('saved percent', 0):.0f} %[/] of a full crawl."
    )
    console.print()
    console.print(Panel(text, title="What was not downloaded", expand=False))


def _print_places(console: Console, data_dir: Path) -> None:
    console.print("\n[bold]Where to look[/]")
    for dataset, what in _DATASETS.items():
        console.print(f"  {data_dir}/{dataset}/  {what}", soft_wrap=True)
    console.print("[bold]What to try next[/]")
    for command, what in _NEXT.items():
        console.print(f"  {command}\n      {what}", soft_wrap=True)
