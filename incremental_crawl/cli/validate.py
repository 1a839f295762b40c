"""`validate`: every site file checked; each error names file, key, value and what is allowed."""

from __future__ import annotations

import click
import yaml

from incremental_crawl.cli.sites import project, site_config
from incremental_crawl.config.loading import load_sites
from incremental_crawl.config.problems import ConfigError, Problem
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.extraction.rules import ExtractionRules


@click.command()
@click.option("--show", metavar="SITE", help="Print the site's settings with all defaults filled in.")
def validate(show: str | None) -> None:
    """Check every site file. Exit status 2 if one has a mistake."""
    if show is not None:
        click.echo(yaml.safe_dump(site_config(show).as_data(), sort_keys=False, allow_unicode=True), nl=False)
        return
    catalogue = load_sites(project().sites_dir)
    errors = list(catalogue.broken.values())
    for name, site in catalogue.sites.items():
        errors.extend(selector_errors(name, site))
    lines = dict.fromkeys(line for error in errors for line in str(error).splitlines())
    for line in lines:
        click.echo(line, err=True)
    wrong = len(catalogue.broken) + sum(bool(selector_errors(*item)) for item in catalogue.sites.items())
    click.echo(f"{len(catalogue.sites) + len(catalogue.broken)} site files, {wrong} with mistakes")
    if wrong:
        click.get_current_context().exit(2)


def selector_errors(name: str, site: SiteConfig) -> list[ConfigError]:
    """What is wrong with the site's CSS selectors, which only a parser can tell."""
    problems = ExtractionRules.compile(site).problems
    if not problems:
        return []
    path = project().sites_dir / f"{name}.yaml"
    return [ConfigError(path, [Problem("extract", "", problem, "a CSS selector") for problem in problems])]
