"""The command line: `incremental-crawl`, the same program as `python -m incremental_crawl`.

Exit status: 0 done; 1 a crawl failed or a gate stopped it; 2 wrong usage or configuration.
"""

from __future__ import annotations

import click

from incremental_crawl import __version__
from incremental_crawl.cli.changes import changes
from incremental_crawl.cli.crawl import crawl
from incremental_crawl.cli.errors import ToldGroup
from incremental_crawl.cli.origin import origin
from incremental_crawl.cli.reparse import reparse
from incremental_crawl.cli.review import approve, reject, review
from incremental_crawl.cli.sql import sql
from incremental_crawl.cli.status import status
from incremental_crawl.cli.terminal import respect_no_color
from incremental_crawl.cli.validate import validate

_COMMANDS = (crawl, changes, status, sql, review, approve, reject, reparse, validate, origin)


class _InOrder(ToldGroup):
    """Lists its commands in the order of use, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="incremental-crawl", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Keep a scraped dataset fresh without downloading the same bytes twice, and say exactly what changed.

    \b
    A first round:
      incremental-crawl validate            check the site files
      incremental-crawl crawl SITE          visit a site, or go on with a visit
      incremental-crawl changes --since 1h  what changed
      incremental-crawl status              how every site is

    \b
    Environment:
      INCREMENTAL_CRAWL_SITES  folder of the site files  (default: sites)
      INCREMENTAL_CRAWL_DATA   folder of the data        (default: data)
      DAGSTER_HOME             the Dagster instance      (default: .dagster)

    Exit status: 0 done; 1 a crawl failed or a gate stopped it; 2 wrong usage or configuration. All times are UTC.
    """  # noqa: D301 (click wants the character)
    respect_no_color(ctx)


for command in _COMMANDS:
    command.context_settings["help_option_names"] = ["-h", "--help"]
    # Click keeps a command's help option from its first use, whatever context that had: make it now.
    command.get_help_option(click.Context(command, help_option_names=["-h", "--help"]))
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    cli(prog_name="incremental-crawl")
