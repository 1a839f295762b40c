"""`validate`: every site file checked; each error names file, key, value and what is allowed."""

from __future__ import annotations

import click
import yaml

from incremental_crawl.cli.errors import WRONG
from incremental_crawl.cli.sites import SITE, SITE_NAME, project, site_config
from incremental_crawl.cli.words import counted
from incremental_crawl.extraction.site_files import usable_sites


@click.command(short_help="Check the site files; --show prints one in full.")
@click.option(
    "--show", metavar="SITE", type=SITE, shell_complete=SITE_NAME.shell_complete, help="Print SITE with all defaults."
)
def validate(show: str | None) -> None:
    """Check every site file without sending a request.

    Each mistake is one line that names the file, the key, the value and what is allowed. Exit status 2 if there is one.
    With --show, print the settings of one site with all defaults filled in; values from the environment stay `${NAME}`.
    """
    if show is not None:
        click.echo(yaml.safe_dump(site_config(show).as_data(), sort_keys=False, allow_unicode=True), nl=False)
        return
    found = usable_sites(project().sites_dir)
    # A mistake in _defaults.yaml is one of every site; it is told once.
    for line in dict.fromkeys(line for error in found.broken.values() for line in str(error).splitlines()):
        click.echo(line, err=True)
    files = counted(len(found.sites) + len(found.broken), "site file")
    if found.broken:
        click.echo(f"{files}, {len(found.broken)} with mistakes: {', '.join(sorted(found.broken))}")
        click.get_current_context().exit(WRONG)
    click.echo(f"{files} in {project().sites_dir}/, no mistakes")
