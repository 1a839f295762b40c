"""`review`, `approve`, `reject`: a waiting plan and what a person decides about it."""

from __future__ import annotations

import click

from incremental_crawl.cli.progress_bar import progress_bar
from incremental_crawl.cli.sites import SITE, stage_run
from incremental_crawl.stages import gates
from incremental_crawl.stages.gates import WaitingPlan


@click.command()
@click.argument("site", type=SITE)
def review(site: str) -> None:
    """Show the waiting plans of SITE: the numbers, the reason, three diffs."""
    plans = gates.waiting_plans(stage_run(site))
    if not plans:
        click.echo(f"no plan of {site} is waiting")
    for plan in plans:
        _show(site, plan)


def _show(site: str, plan: WaitingPlan) -> None:
    head = f"visit {plan.visit} of {plan.day} waits at {plan.gate} since {plan.opened_at:%Y-%m-%d %H:%M}Z"
    click.echo(click.style(head, bold=True))
    click.echo(f"  {plan.reason}")
    reasons = ", ".join(f"{count} {reason}" for reason, count in plan.by_reason.items())
    click.echo(f"  {plan.pages} planned pages: {reasons or 'none'}")
    for sample in plan.samples:
        click.echo("    " + sample.replace("\n", "\n    "))
    more = " --even-if-incomplete" if plan.incomplete else ""
    click.echo(f"  go on: incremental-crawl approve {site}{more}    drop it: incremental-crawl reject {site}")


@click.command()
@click.argument("site", type=SITE)
@click.option("--even-if-incomplete", is_flag=True, help="Also where the sweep itself mostly failed.")
def approve(site: str, even_if_incomplete: bool) -> None:
    """Let the oldest waiting plan of SITE go on, without sweeping again."""
    from incremental_crawl.definitions import defs
    from incremental_crawl.defs.launch import launch

    visit = gates.approve(stage_run(site), even_if_incomplete)
    with progress_bar(site):
        launched = launch(defs, "resume_after_approval", site, visit.day)
    if not launched.success:
        click.echo(launched.problem, err=True)
        click.get_current_context().exit(1)
    numbers = launched.numbers.get("records", {})
    told = " · ".join(f"{numbers[name]} {name}" for name in ("changed", "new", "gone", "moved") if numbers.get(name))
    click.echo(f"visit {visit.visit} of {visit.day} is published: {told or 'nothing changed'}")


@click.command()
@click.argument("site", type=SITE)
def reject(site: str) -> None:
    """Drop the oldest waiting plan of SITE: records and validators stay, its pages are due at their next cadence."""
    visit = gates.reject(stage_run(site))
    click.echo(f"visit {visit.visit} of {visit.day} is dropped: records and validators stay as they were")
