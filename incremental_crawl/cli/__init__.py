"""The command line: `incremental-crawl`, the same program as `python -m incremental_crawl`.

Exit status: 0 done; 1 a crawl failed or a gate stopped it; 2 wrong usage or configuration.
"""

from __future__ import annotations

import sys

import click

from incremental_crawl import __version__
from incremental_crawl.cli.changes import changes
from incremental_crawl.cli.crawl import crawl
from incremental_crawl.cli.reparse import reparse
from incremental_crawl.cli.review import approve, reject, review
from incremental_crawl.cli.sql import sql
from incremental_crawl.cli.status import status
from incremental_crawl.cli.validate import validate
from incremental_crawl.config.problems import ConfigError
from incremental_crawl.storage.lock import SiteLocked
from incremental_crawl.storage.state import StateTooNew
from incremental_crawl.storage.visits import VisitRefused

_EXPECTED = (SiteLocked, StateTooNew, VisitRefused)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="incremental-crawl")
def cli() -> None:
    """Keep a scraped dataset fresh without downloading the same bytes twice, and say exactly what changed.

    Sites are YAML files in sites/ (INCREMENTAL_CRAWL_SITES), data goes to data/ (INCREMENTAL_CRAWL_DATA).
    """


for command in (crawl, reparse, changes, status, review, approve, reject, validate, sql):
    cli.add_command(command)


def main() -> None:
    """Run the command line; expected failures are one sentence on stderr and an exit status, not a traceback."""
    try:
        cli(prog_name="incremental-crawl", standalone_mode=True)
    except ConfigError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except _EXPECTED as error:
        click.echo(str(error), err=True)
        sys.exit(1)
