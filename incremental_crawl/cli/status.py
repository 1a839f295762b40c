"""`status`: how every site is, worst first, or one site in detail."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from incremental_crawl.cli.sites import project, stage_run
from incremental_crawl.cli.words import instant
from incremental_crawl.config.loading import load_sites
from incremental_crawl.defs.clock import now
from incremental_crawl.stages.gates import waiting_plans
from incremental_crawl.storage.lock import SiteLocked
from incremental_crawl.storage.readers import Datasets

_COUNTS = ("pages", "due", "gone", "moved", "stale", "failing")


@click.command()
@click.argument("site", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def status(site: str | None, as_json: bool) -> None:
    """One line per site, worst first; with SITE its hosts, failing pages and waiting plan."""
    rows = _sites(site)
    if as_json:
        click.echo(json.dumps(rows if site is None else rows[0], default=str, ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(_table(rows))
    for row in rows:
        if row["problem"]:
            console.print(f"[red]{row['site']}[/]: {row['problem']}", soft_wrap=True)
    if site is not None:
        _details(console, rows[0])


def _sites(only: str | None) -> list[dict[str, Any]]:
    catalogue = load_sites(project().sites_dir)
    with Datasets(project().data_dir) as datasets:
        known = {row["site"]: row for row in datasets.site_summaries(now())}
        names = sorted({*catalogue.sites, *catalogue.broken, *known})
        if only is not None and only not in names:
            raise click.BadParameter(
                f"there is no site {only}; known are {', '.join(names) or 'none'}", param_hint="SITE"
            )
        rows = [_row(name, known.get(name, {})) for name in names if only in (None, name)]
        for row in rows:
            broken = catalogue.broken.get(row["site"])
            row["problem"] = str(broken) if broken else None
            if broken is None and row["site"] in catalogue.sites:
                _add_waiting(row)
            if only is not None:
                row["hosts"] = datasets.hosts(row["site"])
                row["failing_pages"] = datasets.failing(row["site"], 20)
    return sorted(rows, key=lambda row: (row["problem"] is None, not row["waiting"], -row["failing"], row["site"]))


def _row(name: str, known: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"site": name} | {count: int(known.get(count) or 0) for count in _COUNTS}
    return row | {key: known.get(key) for key in ("next_due", "last_checked", "last_changed")} | {"waiting": []}


def _add_waiting(row: dict[str, Any]) -> None:
    """The waiting plans are in the state; a crawl that holds it is said instead of waited for."""
    run = stage_run(row["site"], lock_wait_s=0)
    if not run.layout.state_file.exists():
        return
    try:
        row["waiting"] = [asdict(plan) for plan in waiting_plans(run)]
    except SiteLocked as locked:
        row["running"] = str(locked)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("site")
    for name in _COUNTS:
        table.add_column(name, justify="right")
    for name in ("next due", "last checked", ""):
        table.add_column(name)
    for row in rows:
        said = "[yellow]waits for approval[/]" if row["waiting"] else "[cyan]running[/]" if row.get("running") else ""
        said = "[red]broken site file[/]" if row["problem"] else said
        moments = (instant(row["next_due"], now()), instant(row["last_checked"], now()))
        table.add_row(row["site"], *(str(row[name]) for name in _COUNTS), *moments, said)
    return table


def _details(console: Console, row: dict[str, Any]) -> None:
    for host in row["hosts"]:
        console.print(f"\n[bold]{host['host']}[/]  mode {host['mode']}: {host['verdict']}", soft_wrap=True)
        if host["not_before"]:
            console.print(f"  asked to be left alone until {instant(host['not_before'], now())}")
    for page in row["failing_pages"]:
        due = instant(page["next_due"], now())
        console.print(
            f"  failing ×{page['failures']}  {page['url']}  next {due}  {page['error'] or ''}", soft_wrap=True
        )
    for plan in row["waiting"]:
        console.print(
            f"\n[yellow]visit {plan['visit']} of {plan['day']} waits[/]: {plan['reason']}; {plan['pages']} pages. "
            f"incremental-crawl review {row['site']}",
            soft_wrap=True,
        )
