"""`sql`: an in-memory DuckDB with a view per dataset; never locks a crawl."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from incremental_crawl.cli.sites import project
from incremental_crawl.storage.readers import Datasets, QueryFailed


@click.command()
@click.argument("query", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def sql(query: str | None, as_json: bool) -> None:
    """Query the datasets with SQL; without QUERY, statements are read from the terminal, each ended by a semicolon.

    Views: records, pages, hosts, page_diffs, page_records, tombstones, observations, body_snapshots.
    """
    with Datasets(project().data_dir) as datasets:
        if query is not None:
            if not _answer(datasets, query, as_json):
                click.get_current_context().exit(2)
            return
        click.echo(f"views: {', '.join(datasets.views) or 'none yet, crawl a site first'}", err=True)
        for statement in _statements():
            _answer(datasets, statement, as_json)


def _answer(datasets: Datasets, query: str, as_json: bool) -> bool:
    try:
        names, rows = datasets.query(query)
    except QueryFailed as error:
        click.echo(str(error), err=True)
        return False
    if as_json:
        for row in rows:
            click.echo(json.dumps(dict(zip(names, row, strict=True)), default=str, ensure_ascii=False))
    else:
        Console(soft_wrap=not sys.stdout.isatty()).print(_table(names, rows))
    return True


def _table(names: list[str], rows: list[tuple[Any, ...]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    return table


def _statements() -> Any:
    """Statements as they are typed, until the end of the input."""
    typed = ""
    while True:
        try:
            typed += input("> " if not typed else "… ") + "\n"
        except EOFError:
            return
        if typed.rstrip().endswith(";"):
            yield typed
            typed = ""
