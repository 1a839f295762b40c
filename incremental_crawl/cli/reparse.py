"""`reparse`: extract kept bodies again, no request sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import click

from incremental_crawl.cli.progress_bar import progress_bar
from incremental_crawl.cli.sites import SITE, stage_run
from incremental_crawl.defs.clock import now
from incremental_crawl.stages.reparsing import reparse as reparse_stage
from incremental_crawl.stages.site_run import Report


def _day(ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day; write it as 2026-11-30") from None


@click.command()
@click.argument("site", type=SITE)
@click.option("--from", "first", required=True, callback=_day, metavar="DAY", help="First day (UTC), as 2026-11-30.")
@click.option("--to", "last", callback=_day, metavar="DAY", help="Last day; today where it is left out.")
@click.option("--dry-run", is_flag=True, help="Show what would change per field and three samples; write nothing.")
def reparse(site: str, first: date, last: date | None, dry_run: bool) -> None:
    """Extract kept bodies again after a change of the rules. Sends no request.

    A record that the new rules read differently is published as `corrected`, never as a change of the page.
    """
    end = last or now().date()
    if end < first:
        raise click.BadParameter(f"--to {end} lies before --from {first}")
    if dry_run:
        run = replace(stage_run(site), day=first)
        with run.state("reparse --dry-run") as state, progress_bar(site):
            report = reparse_stage(run, state, first, end, dry_run=True)
        _print(report)
        return
    _launch(site, first, end)


def _launch(site: str, first: date, last: date) -> None:
    from incremental_crawl.definitions import defs
    from incremental_crawl.defs.launch import launch

    with progress_bar(site):
        launched = launch(defs, "reparse", site, first, last)
    numbers = launched.numbers.get("page_records", {})
    if not launched.success:
        click.echo(launched.problem, err=True)
        click.get_current_context().exit(1)
    click.echo(" · ".join(f"{value} {name}" for name, value in numbers.items() if isinstance(value, int)))


def _print(report: Report) -> None:
    click.echo(" · ".join(f"{value} {name}" for name, value in report.numbers.items()) + " (dry run, nothing written)")
    for name, note in report.notes.items():
        click.echo(f"{name}: {note}")
