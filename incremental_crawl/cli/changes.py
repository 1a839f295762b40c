"""`changes`: the change feed, as unified diffs for a person or as JSON lines for a program."""

from __future__ import annotations

import json
from typing import Any

import click

from incremental_crawl.cli.sites import project
from incremental_crawl.cli.words import parse_since
from incremental_crawl.defs.clock import now
from incremental_crawl.semantics.events import EventKind
from incremental_crawl.storage.readers import Datasets, EventFilter

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_MARKS = {"new": "＋", "changed": "±", "gone": "✝", "restored": "↺", "moved": "→", "corrected": "✎"}


@click.command()
@click.argument("site", required=False)
@click.option("--since", metavar="T", help="Observed since a date, an instant (UTC) or a duration ago: 2026-11-30, 6h.")
@click.option("--after", metavar="EVENT_ID", help="Events after this one, for programs that keep their place.")
@click.option("--kind", type=click.Choice([kind.value for kind in EventKind]), help="Only this kind.")
@click.option("--field", metavar="F", help="Only events in which this field changed.")
@click.option("--corrections", is_flag=True, help="Also what a change of the rules corrected.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def changes(
    site: str | None,
    since: str | None,
    after: str | None,
    kind: str | None,
    field: str | None,
    corrections: bool,
    as_json: bool,
) -> None:
    """What changed: field by field, with the old and the new value.

    Reads the published files only, so it works while crawls run.
    """
    if since is not None and after is not None:
        raise click.UsageError("--since and --after cannot be used together: choose one place to begin")
    moment = parse_since(since, now()) if since is not None else None
    with Datasets(project().data_dir) as datasets:
        events = datasets.events(EventFilter(site, moment, after, kind, field, corrections)).to_pylist()
    for event in events:
        click.echo(json.dumps(event, default=_iso, ensure_ascii=False) if as_json else _told(event))
    if not events and not as_json:
        click.echo("no changes", err=True)


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _told(event: dict[str, Any]) -> str:
    head = click.style(f"{_MARKS[event['kind']]} {event['kind']:<9}", bold=True)
    lines = [f"{head} {event['url']}  {event['observed_at']:%Y-%m-%d %H:%M}Z  {event['event_id']}"]
    if event["moved_to"]:
        lines.append(f"    → {event['moved_to']}")
    if event["diff"]:
        lines.extend(_coloured(line) for line in event["diff"].splitlines()[2:])
    return "\n".join(lines)


def _coloured(line: str) -> str:
    return "    " + click.style(line, fg=_COLOURS.get(line[:1]))
