"""`status`: how every site is, worst first, or one site in detail."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from incremental_crawl.cli.sites import SITE_NAME, ensure_known, project, stage_run
from incremental_crawl.cli.terminal import shown, table
from incremental_crawl.cli.words import instant, json_line
from incremental_crawl.config.loading import SiteCatalogue
from incremental_crawl.defs.clock import now
from incremental_crawl.extraction.site_files import usable_sites
from incremental_crawl.stages.gates import standing
from incremental_crawl.stages.source_reports import source_standing
from incremental_crawl.stages.source_table import MOST_SOURCES
from incremental_crawl.storage.lock import SiteLocked
from incremental_crawl.storage.readers import Datasets
from incremental_crawl.storage.state import StateTooNew, StateUnusable

_COUNTS = ("pages", "due", "gone", "moved", "stale", "failing")
_MOMENTS = ("next_due", "last_checked", "last_changed", "blocked_since")
_FAILING_SHOWN = 20


@click.command(short_help="How every site is, worst first; one site in detail.")
@click.argument("site", required=False, shell_complete=SITE_NAME.shell_complete)
@click.option("--json", "as_json", is_flag=True, help="A JSON list of sites; with SITE one object.")
def status(site: str | None, as_json: bool) -> None:
    """Show one line per site, worst first; with SITE also its hosts, sources and failing pages, and what waits.

    Numbers are those of the last published visit, so this works while crawls run.
    """
    rows = _rows(site)
    if as_json:
        click.echo(json_line(rows if site is None else rows[0]))
        return
    if not rows:
        click.echo(f"no site yet: write {project().sites_dir}/<name>.yaml, start_urls is enough", err=True)
        return
    for line in _table(rows):
        click.echo(line)
    for row in rows:
        if row["problem"]:
            click.echo(click.style(row["problem"], fg="red"), err=True)
    if site is not None:
        _details(rows[0])


def _rows(only: str | None) -> list[dict[str, Any]]:
    with Datasets(project().data_dir) as datasets:
        ensure_known(only, datasets.sites)
        catalogue = usable_sites(project().sites_dir)
        known = datasets.site_summaries(now())
        names = sorted({*catalogue.sites, *catalogue.broken, *known})
        rows = [_row(name, known.get(name), catalogue, name == only) for name in names if only in (None, name)]
        for row in rows if only is not None else []:
            row["hosts"] = datasets.hosts(row["site"])
            row["failing_pages"] = datasets.failing(row["site"], _FAILING_SHOWN)
    return sorted(rows, key=_badness)


def _badness(row: dict[str, Any]) -> tuple[bool, bool, bool, bool, int, str]:
    return (
        row["problem"] is None,
        not row["waiting"],
        row["blocked_since"] is None,
        row["unfinished"] is None,
        -row["failing"],
        row["site"],
    )


def _row(name: str, known: dict[str, Any] | None, catalogue: SiteCatalogue, in_detail: bool) -> dict[str, Any]:
    published = known or {}
    row: dict[str, Any] = {"site": name, "crawled": known is not None}
    row |= {count: int(published.get(count) or 0) for count in _COUNTS}
    row |= {moment: published.get(moment) for moment in _MOMENTS}
    site, broken = catalogue.sites.get(name), catalogue.broken.get(name)
    row |= {"every_run": site is not None and site.cadence.every_run, "enabled": site is None or site.enabled}
    row |= {
        "waiting": [],
        "unfinished": None,
        "blocked": [],
        "in_use": None,
        "problem": str(broken) if broken else None,
    }
    row["orphan"] = site is None and broken is None
    row |= {"sources": []} if in_detail else {}
    if site is not None:
        _add_standing(row, in_detail)
    elif row["orphan"]:
        row["problem"] = f"{project().sites_dir}/{name}.yaml: no such file, but there is data of {name}"
    return row


def _add_standing(row: dict[str, Any], in_detail: bool) -> None:
    """Waiting and unfinished visits are in the state; a crawl that holds it is said instead of waited for."""
    run = stage_run(row["site"], lock_wait_s=0)
    if not run.layout.state_file.exists():
        return
    try:
        found, sources = standing(run), source_standing(run) if in_detail else None
    except (SiteLocked, StateTooNew, StateUnusable) as error:
        row["in_use"] = str(error)
    except OSError as error:
        row["in_use"] = f"the state cannot be looked at: {error}"
    else:
        row["waiting"] = [asdict(plan) for plan in found.waiting]
        row["unfinished"] = asdict(found.unfinished) if found.unfinished else None
        row["blocked"] = [asdict(host) for host in found.blocked]
        row |= {"sources": [asdict(source) for source in sources]} if sources is not None else {}


def _table(rows: list[dict[str, Any]]) -> list[str]:
    head = ("site", *_COUNTS, "next due", "last check", "")
    lines = [
        [
            row["site"],
            *(str(row[name]) for name in _COUNTS),
            "every run" if row["every_run"] else instant(row["next_due"], now()),
            instant(row["last_checked"], now()),
            _remark(row),
        ]
        for row in rows
    ]
    return table(head, lines, right=[False, *[True] * len(_COUNTS), False, False, False])


def _remark(row: dict[str, Any]) -> str:
    remarks = (
        (row["problem"] is not None, "no site file" if row["orphan"] else "broken site file", "red"),
        (bool(row["waiting"]), "waits for approval", "yellow"),
        (row["blocked_since"] is not None, "blocked", "red"),
        (row["in_use"] is not None, "in use", "cyan"),
        (row["unfinished"] is not None, "unfinished visit", "yellow"),
        (_is_empty(row), "nothing read yet", "yellow"),
        (not row["enabled"], "disabled", None),
        (not row["crawled"] and row["problem"] is None, "never crawled", None),
    )
    return ", ".join(click.style(text, fg=colour) for applies, text, colour in remarks if applies)


def _is_empty(row: dict[str, Any]) -> bool:
    """Whether visits were made and came to nothing."""
    under_way = row["in_use"] is not None or row["unfinished"] is not None
    return row["crawled"] and not under_way and not any(row[name] for name in ("pages", "gone", "moved"))


def _details(row: dict[str, Any]) -> None:
    for host in row["hosts"]:
        _tell_host(host)
    for blocked in row["blocked"]:
        _tell_blocked(blocked)
    _tell_sources(row["sources"])
    for page in row["failing_pages"]:
        times = f" ×{page['failures']}" if page["failures"] else ""
        due = f"  (next {instant(page['next_due'], now())})" if page["next_due"] else ""
        click.echo(f"\nfailing{times}  {shown(page['url'])}{due}\n  {shown(page['error'] or '')}")
    for plan in row["waiting"]:
        head = click.style(f"visit {plan['visit']} of {plan['day']} waits for a person", fg="yellow")
        click.echo(f"\n{head}: {shown(plan['reason'])}\n  incremental-crawl review {row['site']}")
    if row["unfinished"]:
        visit = row["unfinished"]
        head = click.style(f"visit {visit['visit']} of {visit['day']} is unfinished", fg="yellow")
        click.echo(f"\n{head}\n  incremental-crawl crawl {row['site']}    goes on with it")
    if row["in_use"]:
        click.echo(f"\n{row['in_use']}")


def _tell_sources(sources: list[dict[str, Any]]) -> None:
    """What sitemaps and feeds list, and how far what they say of changes can be believed; the first twenty."""
    for source in sources[:MOST_SOURCES]:
        dated = "" if source["dated"] is None else f", {100 * source['dated']:.0f} % with lastmod"
        found = f"{source['found_by'] or 'source'}: {source['entries']} entries{dated}"
        head = click.style(shown(source["url"]), bold=True)
        click.echo(f"\n{head}  {found}\n  {shown(source['outcome'])}")
        if source["reliability"]:
            click.echo(f"  {shown(source['reliability'])}")
    if len(sources) > MOST_SOURCES:
        click.echo(f"\nand {len(sources) - MOST_SOURCES} more sources")


def _tell_blocked(host: dict[str, Any]) -> None:
    """Since when and by what a host blocks, when it is tried again, and what it showed."""
    head = click.style(f"{host['host']} is blocked", fg="red")
    click.echo(
        f"\n{head} since {instant(host['since'], now())}, {host['blocks']} times in a row: {shown(host['reason'])}"
    )
    if host["next_try"]:
        click.echo(f"  not asked before {instant(host['next_try'], now())}; then one page first")
    for sample in host["samples"]:
        click.echo(f"  {sample['status'] or '-'}  {shown(sample['url'])}\n       {shown(sample['sentence'])}")


def _tell_host(host: dict[str, Any]) -> None:
    ratio = "" if host["ratio_304"] is None else f" · 304 ratio {100 * host['ratio_304']:.0f} %"
    click.echo(f"\n{click.style(host['host'], bold=True)}  mode {host['mode']}{ratio}\n  {shown(host['verdict'])}")
    if host["blocked_since"]:
        click.echo(click.style(f"  blocked since {instant(host['blocked_since'], now())}", fg="red"))
    if host["not_before"] and host["not_before"] > now():
        click.echo(f"  wants to be left alone until {instant(host['not_before'], now())}")
    if host["incidents"]:
        click.echo(f"  said of late that it is overloaded: {host['interval_s']:g} s between two requests to it")
