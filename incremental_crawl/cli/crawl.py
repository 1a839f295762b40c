"""`crawl`: one visit per site, through the `crawl` job on the Dagster instance."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import click

from incremental_crawl.cli.errors import WRONG, Stopped
from incremental_crawl.cli.progress_bar import progress_bar
from incremental_crawl.cli.sites import SITE_NAME, site_config
from incremental_crawl.cli.terminal import shown
from incremental_crawl.cli.visit import Summary, visit_site
from incremental_crawl.cli.words import counted, instant, json_line, size
from incremental_crawl.defs.clock import now
from incremental_crawl.semantics.urls import InvalidUrl, canonical_url
from incremental_crawl.storage.visits import DEFAULT_OPTIONS, VisitOptions

_SHOWN = (
    ("304 not modified", "not modified (304)"),
    ("same hash", "same content"),
    ("changed", "changed"),
    ("new", "new"),
    ("restored", "back again"),
    ("moved", "moved"),
    ("gone", "gone"),
    ("rebaselined", "read anew by changed rules"),
    ("failed", "failed"),
)


@click.command(short_help="Visit sites: ask what changed, fetch it, publish it.")
@click.argument("sites", metavar="SITE...", nargs=-1, required=True, type=SITE_NAME)
@click.option("--all", "every_page", is_flag=True, help="Every page is due, whatever its next check.")
@click.option("--url", "urls", multiple=True, metavar="URL", help="Ask this page and no other; may be repeated.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Ask at most N of the pages that are due.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per site on stdout, nothing else there.")
def crawl(sites: tuple[str, ...], every_page: bool, urls: tuple[str, ...], limit: int | None, as_json: bool) -> None:
    """Visit each SITE once: read its sitemaps, ask the pages that are due, fetch what may have changed, publish it.

    A visit that was interrupted goes on where it stopped, with the options that it was opened with.

    \b
    Examples:
      incremental-crawl crawl shop
      incremental-crawl crawl shop news --limit 500
      incremental-crawl crawl shop --url https://shop.example/product/7

    Exit status: 0 all visits are published; 1 a visit failed, or a gate stopped it; 2 a site file has a mistake.
    A site that fails or whose file has a mistake does not keep the others from being crawled; a name without a file
    does: nothing is begun.
    """  # noqa: D301 (click wants the character)
    if urls and len(set(sites)) > 1:
        raise click.UsageError("--url goes with one site")
    options = VisitOptions(every_page, tuple(canonical(sites[0], urls)) if urls else (), limit)
    status = 0
    for site in dict.fromkeys(sites):
        status = max(status, crawl_site(site, options, as_json).exit_status)
    click.get_current_context().exit(status)


def canonical(site: str, urls: tuple[str, ...]) -> list[str]:
    """The URLs in canonical form. Raises `click.BadParameter` for one that is none or not in the site's scope."""
    own = site_config(site)
    found = []
    for url in urls:
        try:
            found.append(canonical_url(url, strip_params=own.scope.strip_params))
        except InvalidUrl as error:
            raise click.BadParameter(str(error), param_hint="'--url'") from None
        if not own.scope_rules.contains(found[-1]):
            raise click.BadParameter(
                f"{url} is outside the scope of {site} (start_urls and scope in its site file)", param_hint="'--url'"
            )
    return found


def crawl_site(site: str, options: VisitOptions = DEFAULT_OPTIONS, as_json: bool = False) -> Summary:
    """One visit of one site; prints its summary and returns it. Raises `Stopped` where a person interrupts it."""
    try:
        with nullcontext() if as_json else progress_bar(site):
            summary = visit_site(site, options)
    except KeyboardInterrupt:
        raise Stopped(f"\nstopped; `incremental-crawl crawl {site}` goes on where it stopped") from None
    if as_json:
        click.echo(json_line(summary.as_json()))
    elif summary.exit_status != WRONG:
        click.echo(told(summary, options))
    if summary.problem:
        click.echo(click.style(shown(summary.problem), fg="red"), err=True)
    return summary


def told(summary: Summary, options: VisitOptions = DEFAULT_OPTIONS) -> str:
    """A summary as a person reads it."""
    done = summary.exit_status == 0
    mark = click.style("✓", fg="green") if done else click.style("✗", fg="red")
    when = "every run" if summary.every_run else instant(summary.next_due, now())
    lines = [
        (
            f"{mark} {click.style(summary.site, bold=True)}  {summary.known} known · {summary.due} due · "
            f"{summary.not_due} not due (next {when}; --all asks now)"
        )
    ]
    lines += [f"  {line}" for line in _numbers(summary, options)]
    lines += [f"  {click.style(name, fg='yellow')}: {shown(note)}" for name, note in summary.notes.items()]
    return "\n".join(lines)


def _numbers(summary: Summary, options: VisitOptions) -> list[str]:
    counts = summary.counts
    if "asked" not in counts:
        return []
    asked, left = int(counts["asked"]), summary.due - int(counts["asked"])
    found = " · ".join(f"{int(count)} {label}" for count, label in _outcomes(counts) if count > 0)
    limited = options.page_limit is not None or bool(options.only_urls)
    rest = f"; {left} more stay due" if limited and left > 0 else ""
    lines = [counted(asked, "page") + " asked" + (f": {found}" if found else "") + rest]
    received, saved = counts.get("bytes received", 0), counts.get("bytes saved", 0)
    share = f", {size(saved)} not downloaded ({counts.get('saved percent', 0):.0f} % of a full crawl)" if saved else ""
    return [*lines, f"{size(received)} received{share}"]


def _outcomes(counts: Mapping[str, int | float]) -> list[tuple[int | float, str]]:
    """How many pages came to what, so that the numbers add up; a page that is still gone or moved brings no news."""
    found = [(counts.get(name, 0), label) for name, label in _SHOWN]
    return [*found, (counts.get("asked", 0) - sum(count for count, _ in found), "without news")]
