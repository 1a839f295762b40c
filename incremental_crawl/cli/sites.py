"""Sites as arguments of commands: looked up, completed, and refused with the names that exist."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from incremental_crawl.config.loading import load_site, load_sites
from incremental_crawl.config.problems import ConfigError
from incremental_crawl.config.project import Project
from incremental_crawl.config.site import SiteConfig
from incremental_crawl.defs.clock import now
from incremental_crawl.extraction.site_files import usable_site
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage.lock import SiteLocked

LOCK_WAIT_S = 60.0
_NOTICE_AFTER_S = 1.0
T = TypeVar("T")


class SiteName(click.ParamType[str]):
    """The name of a site file, whatever is in it."""

    name = "site"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The site files that begin like this."""
        return [CompletionItem(name) for name in site_names() if name.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of an existing site file; otherwise a `ConfigError`, exit status 2."""
        if value not in site_names():
            load_site(project().sites_dir, value)
        return str(value)


class UsableSite(SiteName):
    """The name of a site whose file has no mistake."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of a site whose file is in order; otherwise a `ConfigError`, exit status 2."""
        return site_config(value).name


SITE = UsableSite()
SITE_NAME = SiteName()


def project() -> Project:
    """The project's folders, from the environment."""
    return Project.from_environment(os.environ, now().date())


def site_names() -> list[str]:
    """The names of all site files, broken ones too."""
    found = load_sites(project().sites_dir)
    return sorted({*found.sites, *found.broken})


def site_config(name: str) -> SiteConfig:
    """The site's settings. Raises `ConfigError`."""
    return usable_site(project().sites_dir, name)


def ensure_known(name: str | None, with_data: list[str]) -> None:
    """Raises `ConfigError` for a site that has neither a file nor data."""
    if name is None or name in with_data:
        return
    try:
        load_site(project().sites_dir, name)
    except ConfigError:
        if name not in site_names():
            raise


def stage_run(name: str, lock_wait_s: float) -> SiteRun:
    """A run of stages for the site that no Dagster run belongs to: for commands that look or decide."""
    return SiteRun(project=project(), site=site_config(name), day=now().date(), clock=now, lock_wait_s=lock_wait_s)


def patiently(attempt: Callable[[float], T]) -> T:
    """What `attempt` returns; it is given the seconds that it may wait for the site's lock.

    A wait of more than a second is announced on stderr. Raises `SiteLocked` after a minute.
    """
    try:
        return attempt(min(_NOTICE_AFTER_S, LOCK_WAIT_S))
    except SiteLocked as locked:
        left = LOCK_WAIT_S - _NOTICE_AFTER_S
        if left <= 0:
            raise
        click.echo(f"waiting up to {left:.0f} seconds: {locked}", err=True)
        return attempt(left)
