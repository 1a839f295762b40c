"""`reparse`: extract kept bodies again, no request sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import click

from incremental_crawl.cli.errors import Stopped
from incremental_crawl.cli.progress_bar import progress_bar
from incremental_crawl.cli.sites import SITE, patiently, project, stage_run
from incremental_crawl.cli.terminal import diff_lines, indented, shown
from incremental_crawl.defs.clock import now
from incremental_crawl.stages.reparsing import reparse as reparse_stage
from incremental_crawl.stages.site_run import Report
from incremental_crawl.storage.visits import VisitRefused


def _day(ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day; write it as 2026-11-30") from None


@click.command(short_help="Extract kept bodies again with new rules.")
@click.argument("site", type=SITE)
@click.option("--from", "first", required=True, callback=_day, metavar="DAY", help="First day (UTC), as 2026-11-30.")
@click.option("--to", "last", callback=_day, metavar="DAY", help="Last day; today where it is left out.")
@click.option("--dry-run", is_flag=True, help="Show the records that would change, per field, and three of them.")
def reparse(site: str, first: date, last: date | None, dry_run: bool) -> None:
    """Extract the kept bodies of SITE again after a change of its rules. Sends no request.

    What the new rules read differently is published as `corrected`, never as a change of the page:
    `incremental-crawl changes SITE --corrections` shows it.

    \b
    Examples:
      incremental-crawl reparse shop --from 2026-11-24 --dry-run
      incremental-crawl reparse shop --from 2026-11-24 --to 2026-11-30
    """  # noqa: D301 (click wants the character)
    if first > now().date():
        raise click.BadParameter(f"{first} lies in the future", param_hint="'--from'")
    end = last or now().date()
    if end < first:
        raise click.BadParameter(f"{end} lies before {first}", param_hint="'--to'")
    # No body is older than the first day partition.
    first, end = max(first, project().first_day), min(end, now().date())
    if end < first:
        raise VisitRefused(f"nothing of {site} is kept from days before {first}: choose later days")
    if dry_run:
        _try(site, first, end)
    else:
        _launch(site, first, end)


def _try(site: str, first: date, last: date) -> None:
    def attempt(wait_s: float) -> Report:
        run = replace(stage_run(site, wait_s), day=first)
        with run.state("reparse --dry-run") as state:
            return reparse_stage(run, state, first, last, dry_run=True)

    with progress_bar(site):
        report = patiently(attempt)
    click.echo(_numbers(report.numbers) + " (dry run, nothing was written)")
    for name, note in report.notes.items():
        click.echo(_sample(note) if name.startswith("sample") else f"  {name}: {note}")


def _sample(note: str) -> str:
    url, _, diff = note.partition("\n")
    return f"\n{shown(url)}\n{indented(diff_lines(diff), 2)}"


def _launch(site: str, first: date, last: date) -> None:
    from incremental_crawl.definitions import defs
    from incremental_crawl.defs.launch import launch

    try:
        with progress_bar(site):
            launched = launch(defs, "reparse", site, first, last)
    except KeyboardInterrupt:
        raise Stopped(f"\nstopped; the same `incremental-crawl reparse {site}` begins again") from None
    if not launched.success:
        raise Stopped(launched.problem or "the re-parse failed")
    click.echo(_numbers(launched.counts("page_records")))


def _numbers(numbers: dict[str, int | float]) -> str:
    return " · ".join(f"{value:g} {name}" for name, value in numbers.items())
