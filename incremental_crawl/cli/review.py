"""`review`, `approve`, `reject`: a waiting plan and what a person decides about it."""

from __future__ import annotations

import click

from incremental_crawl.cli.errors import Stopped
from incremental_crawl.cli.progress_bar import progress_bar
from incremental_crawl.cli.sites import SITE, patiently, stage_run
from incremental_crawl.cli.terminal import diff_lines, indented, shown
from incremental_crawl.cli.words import counted
from incremental_crawl.stages import gates
from incremental_crawl.stages.gates import WaitingPlan


@click.command(short_help="Show a plan that a gate stopped.")
@click.argument("site", type=SITE)
def review(site: str) -> None:
    """Show the waiting plans of SITE: the reason, the numbers, and three of the changes or addresses.

    A plan waits where a gate of the site file (gate.changed, gate.gone, gate.failed) found more than can be believed.
    """
    plans = patiently(lambda wait_s: gates.waiting_plans(stage_run(site, wait_s)))
    if not plans:
        click.echo(f"no plan of {site} is waiting")
    for plan in plans:
        _show(site, plan)


def _show(site: str, plan: WaitingPlan) -> None:
    head = f"Visit {plan.visit} of {plan.day} waits since {plan.opened_at:%Y-%m-%d %H:%M}"
    click.echo(f"{click.style(head, bold=True)} ({plan.gate})")
    click.echo(f"  {shown(plan.reason)}")
    reasons = ", ".join(f"{count} {reason}" for reason, count in plan.by_reason.items())
    click.echo(f"  {counted(plan.pages, 'planned page')}{': ' if reasons else ''}{reasons}")
    for sample in plan.samples:
        url, _, diff = sample.partition("\n")
        click.echo(f"\n  {shown(url)}" + (f"\n{indented(diff_lines(diff), 4)}" if diff else ""))
    more = " --even-if-incomplete" if plan.incomplete else ""
    click.echo(f"\n  go on    incremental-crawl approve {site}{more}")
    click.echo(f"  drop it  incremental-crawl reject {site}")


@click.command(short_help="Let the oldest waiting plan go on.")
@click.argument("site", type=SITE)
@click.option("--even-if-incomplete", is_flag=True, help="Also where most requests of the sweep failed.")
def approve(site: str, even_if_incomplete: bool) -> None:
    """Let the oldest waiting plan of SITE go on and publish it, without asking again what was asked.

    Exit status 1 where no plan is waiting, or where the visit fails.
    """
    visit = patiently(lambda wait_s: gates.approve(stage_run(site, wait_s), even_if_incomplete))

    from incremental_crawl.definitions import defs
    from incremental_crawl.defs.launch import launch

    try:
        with progress_bar(site):
            launched = launch(defs, "resume_after_approval", site, visit.day)
    except KeyboardInterrupt:
        raise Stopped(f"\nstopped; the plan stays approved, `incremental-crawl crawl {site}` goes on with it") from None
    if not launched.success:
        raise Stopped(launched.problem or "the visit failed")
    counts = launched.counts("records")
    kinds = ("changed", "new", "restored", "gone", "moved")
    told = " · ".join(f"{counts[name]:g} {name}" for name in kinds if counts.get(name))
    click.echo(f"visit {visit.visit} of {visit.day} is published: {told or 'nothing changed'}")


@click.command(short_help="Drop the oldest waiting plan.")
@click.argument("site", type=SITE)
def reject(site: str) -> None:
    """Drop the oldest waiting plan of SITE: records and validators stay, its pages are due at their next cadence."""
    visit = patiently(lambda wait_s: gates.reject(stage_run(site, wait_s)))
    click.echo(f"visit {visit.visit} of {visit.day} is dropped: records and validators stay as they were")
