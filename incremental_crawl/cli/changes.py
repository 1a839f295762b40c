"""`changes`: the change feed, as unified diffs for a person or as JSON lines for a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from incremental_crawl.cli.sites import SITE_NAME, ensure_known, project
from incremental_crawl.cli.terminal import diff_lines, indented, shown
from incremental_crawl.cli.words import json_line, parse_since
from incremental_crawl.defs.clock import now
from incremental_crawl.semantics.events import EventKind
from incremental_crawl.storage.readers import Datasets, EventFilter, UnknownEvent

_MARKS = {
    EventKind.NEW: ("+", "green"),
    EventKind.CHANGED: ("±", "yellow"),
    EventKind.GONE: ("−", "red"),
    EventKind.RESTORED: ("↺", "green"),
    EventKind.MOVED: ("→", "cyan"),
    EventKind.CORRECTED: ("✎", "blue"),
}


@click.command(short_help="What changed: the feed, for a person or a program.")
@click.argument("site", required=False, shell_complete=SITE_NAME.shell_complete)
@click.option("--since", metavar="T", help="Observed since a date, an instant (UTC) or a duration ago.")
@click.option("--after", metavar="EVENT_ID", help="Published after this event: for programs that keep their place.")
@click.option("--kind", metavar="KIND", type=click.Choice([kind.value for kind in EventKind]), help="Only this kind.")
@click.option("--field", metavar="NAME", help="Only events in which this field changed.")
@click.option("--corrections", is_flag=True, help="Also what a change of the rules corrected.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per event and line.")
def changes(
    site: str | None,
    since: str | None,
    after: str | None,
    kind: str | None,
    field: str | None,
    corrections: bool,
    as_json: bool,
) -> None:
    """What changed: field by field, with the old and the new value, in the order of publication.

    Kinds are new, changed, gone, restored, moved, and corrected (a change of the extraction rules, not of the page).
    Reads the published files only, so it works while crawls run.

    \b
    Examples:
      incremental-crawl changes --since 6h
      incremental-crawl changes shop --since 2026-11-30 --field price
      incremental-crawl changes shop --json --after 0000000007-1f0e…
    """  # noqa: D301 (click wants the character)
    if since is not None and after is not None:
        raise click.UsageError("--since and --after cannot be used together: choose one place to begin")
    moment = parse_since(since, now()) if since is not None else None
    with Datasets(project().data_dir) as datasets:
        _check(datasets, site, after)
        found = datasets.events(EventFilter(site, moment, after, kind, field, corrections))
        try:
            told = _tell(found, as_json, with_site=site is None and len(datasets.sites) > 1)
        except UnknownEvent as unknown:
            raise click.BadParameter(
                f"no published event has the id {unknown}; begin with --since, or without either",
                param_hint="'--after'",
            ) from None
    if not told and not as_json:
        click.echo("no changes", err=True)


def _check(datasets: Datasets, site: str | None, after: str | None) -> None:
    ensure_known(site, datasets.sites)
    if after is not None and site is None and len(datasets.sites) > 1:
        raise click.UsageError(
            f"--after keeps the place in the feed of one site: name it ({', '.join(datasets.sites)})"
        )


def _tell(events: Iterable[dict[str, Any]], as_json: bool, with_site: bool) -> int:
    count = 0
    for event in events:
        click.echo(json_line(event) if as_json else told(event, with_site))
        count += 1
    return count


def told(event: dict[str, Any], with_site: bool = False) -> str:
    """An event as a person reads it: when, what, where, and the diff."""
    mark, colour = _MARKS[EventKind(event["kind"])]
    kind = click.style(f"{mark} {event['kind']:<9}", fg=colour, bold=True)
    site = f"{event['site']}  " if with_site else ""
    lines = [f"{event['observed_at']:%Y-%m-%d %H:%M}  {kind}  {site}{shown(event['url'])}"]
    if event["moved_to"]:
        lines.append(f"{'':<18}→ {shown(event['moved_to'])}")
    if event["diff"]:
        # Without the two lines that only say "old" and "new".
        lines.append(indented(diff_lines("\n".join(event["diff"].splitlines()[2:])), 4))
    return "\n".join(lines)
