"""`crawl`: one visit per site, through the `crawl` job on the Dagster instance."""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import click
from rich.console import Console

from incremental_crawl.cli.progress_bar import progress_bar
from incremental_crawl.cli.sites import SITE, project, site_config
from incremental_crawl.cli.words import instant, size
from incremental_crawl.defs.clock import now
from incremental_crawl.stages.gates import day_to_run
from incremental_crawl.storage.layout import SiteLayout
from incremental_crawl.storage.readers import Datasets


@click.command()
@click.argument("sites", metavar="SITE...", nargs=-1, required=True, type=SITE)
@click.option("--all", "every_page", is_flag=True, help="Every page is due, whatever its next check.")
@click.option("--url", "urls", multiple=True, metavar="URL", help="Ask this known page only; may be repeated.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Ask at most N pages.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per site on stdout, nothing else there.")
def crawl(sites: tuple[str, ...], every_page: bool, urls: tuple[str, ...], limit: int | None, as_json: bool) -> None:
    """Crawl sites: discover, revalidate, fetch what may have changed, publish what did.

    A visit that was interrupted goes on where it stopped. Exit status 1 if a visit failed or a gate stopped it.
    """
    summaries = [crawl_site(site, every_page, canonical(site, urls), limit, as_json) for site in dict.fromkeys(sites)]
    if not all(summary["success"] for summary in summaries):
        click.get_current_context().exit(1)


def canonical(site: str, urls: tuple[str, ...]) -> list[str]:
    """The URLs in canonical form. Raises `click.BadParameter` for one that is none or not in the site's scope."""
    from incremental_crawl.semantics.urls import InvalidUrl, canonical_url

    own = site_config(site)
    found = []
    for url in urls:
        try:
            found.append(canonical_url(url, strip_params=own.scope.strip_params))
        except InvalidUrl as error:
            raise click.BadParameter(str(error), param_hint="--url") from None
        if not own.scope_rules.contains(found[-1]):
            raise click.BadParameter(f"{url} is outside the scope of {site}", param_hint="--url")
    return found


def crawl_site(site: str, every_page: bool, urls: list[str], limit: int | None, as_json: bool) -> dict[str, Any]:
    """One visit of one site; prints its summary and returns it."""
    from incremental_crawl.definitions import defs
    from incremental_crawl.defs.launch import launch, visit_config

    with ExitStack() as stack:
        if not as_json:
            stack.enter_context(progress_bar(site))
        day = day_to_run(SiteLayout(project().data_dir, site), now(), wait_s=60)
        launched = launch(defs, "crawl", site, day, run_config=visit_config(every_page, urls, limit))
    summary = _summary(site, launched.success, launched.problem, launched.run_id, launched.numbers)
    if as_json:
        click.echo(json.dumps(summary, default=str, ensure_ascii=False))
    else:
        _print(Console(highlight=False), summary, now())
    return summary


def _summary(
    site: str, success: bool, problem: str | None, run_id: str, numbers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    last = next(
        (
            numbers[name]
            for name in ("records", "page_records", "body_snapshots", "revalidation_sweep")
            if name in numbers
        ),
        {},
    )
    counts = {name: value for name, value in last.items() if isinstance(value, int | float)}
    with Datasets(project().data_dir) as datasets:
        own = next((row for row in datasets.site_summaries(now()) if row["site"] == site), {})
    known, due = int(counts.get("pages known", 0)), int(counts.get("due", 0))
    return {
        "site": site,
        "success": success,
        "problem": problem,
        "run_id": run_id,
        "known": known,
        "due": due,
        "not_due": max(0, known - due),
        "next_due": own.get("next_due"),
        "counts": counts,
        "notes": numbers.get("sitemap_urls", {}).get("notes", {}) or _notes(numbers),
    }


def _notes(numbers: dict[str, dict[str, Any]]) -> dict[str, str]:
    found = {name: value for name, value in numbers.get("sitemap_urls", {}).items() if isinstance(value, str)}
    return found | {name: value for name, value in numbers.get("body_snapshots", {}).items() if name == "budget"}


def _print(console: Console, summary: dict[str, Any], at: datetime) -> None:
    counts = summary["counts"]
    mark = "[green]✓[/]" if summary["success"] else "[red]✗[/]"
    next_due = instant(summary["next_due"], at)
    console.print(
        f"{mark} [bold]{summary['site']}[/]  {summary['known']} known · {summary['due']} due · "
        f"{summary['not_due']} not due (next {next_due}; --all asks now)"
    )
    if counts:
        said = [f"{int(counts.get(name, 0))} {label}" for name, label in _SHOWN if counts.get(name)]
        console.print("  " + (" · ".join(said) or "nothing was asked"))
        console.print(
            f"  {size(counts.get('bytes received', 0))} received, {size(counts.get('bytes saved', 0))} "
            f"({counts.get('saved percent', 0):.0f} %) of a full crawl not downloaded"
        )
    for name, note in summary["notes"].items():
        console.print(f"  [yellow]{name}[/]: {note}", soft_wrap=True)
    if summary["problem"]:
        console.print(f"  [red]{summary['problem']}[/]", soft_wrap=True, markup=True)


_SHOWN = (
    ("304 not modified", "not modified (304)"),
    ("same hash", "same hash"),
    ("changed", "changed"),
    ("new", "new"),
    ("restored", "restored"),
    ("moved", "moved"),
    ("gone", "gone"),
    ("rebaselined", "rebaselined"),
    ("failed", "failed"),
)
