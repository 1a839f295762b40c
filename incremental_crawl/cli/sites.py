"""Sites as arguments of commands: looked up, completed, and refused with the names that exist."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import CompletionItem

from incremental_crawl.config.loading import load_site, load_sites
from incremental_crawl.config.project import Project
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.defs.clock import now
from incremental_crawl.stages.site_run import SiteRun


class SiteName(click.ParamType[str]):
    """The name of a site file."""

    name = "site"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The site files that begin like this."""
        names = load_sites(project().sites_dir).sites
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of a site whose file is in order; otherwise a `ConfigError`, exit status 2."""
        load_site(project().sites_dir, value)
        return str(value)


SITE = SiteName()


def project() -> Project:
    """The project's folders, from the environment."""
    return Project.from_environment(os.environ, now().date())


def site_config(name: str) -> SiteConfig:
    """The site's settings."""
    return load_site(project().sites_dir, name)


def stage_run(name: str, lock_wait_s: float = 60.0) -> SiteRun:
    """A run of stages for the site that no Dagster run belongs to: for commands that look or decide."""
    return SiteRun(project=project(), site=site_config(name), day=now().date(), clock=now, lock_wait_s=lock_wait_s)
