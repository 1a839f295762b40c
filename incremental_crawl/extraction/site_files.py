"""Site files as they can be used: settings in order and every CSS selector read, which only the parser can judge."""

from __future__ import annotations

from pathlib import Path

from incremental_crawl.config.loading import SiteCatalogue, load_site, load_sites
from incremental_crawl.config.problems import ConfigError, Problem
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.extraction.rules import ExtractionRules


def usable_site(directory: Path, name: str) -> SiteConfig:
    """The site called `name`. Raises ConfigError: no such file, or all that is wrong with it."""
    site = load_site(directory, name)
    error = _selector_error(directory, site)
    if error is not None:
        raise error
    return site


def usable_sites(directory: Path) -> SiteCatalogue:
    """Every site file in `directory`; one with a selector that cannot be read is broken."""
    found = load_sites(directory)
    usable, broken = {}, dict(found.broken)
    for name, site in found.sites.items():
        error = _selector_error(directory, site)
        if error is None:
            usable[name] = site
        else:
            broken[name] = error
    return SiteCatalogue(usable, broken)


def _selector_error(directory: Path, site: SiteConfig) -> ConfigError | None:
    problems = ExtractionRules.compile(site).problems
    if not problems:
        return None
    return ConfigError(directory / f"{site.name}.yaml", [Problem("", "", problem, "") for problem in problems])
