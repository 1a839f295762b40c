"""`sql`: an in-memory DuckDB with a view per dataset; never locks a crawl."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click

from incremental_crawl.cli.errors import WRONG
from incremental_crawl.cli.sites import project
from incremental_crawl.cli.terminal import fits, records, shown, table
from incremental_crawl.cli.words import counted, json_line
from incremental_crawl.storage.readers import Answer, Datasets, QueryFailed

_ENDINGS = ("exit", "quit", ".exit", ".quit", "\\q")


@click.command(short_help="Query the datasets with SQL (DuckDB).")
@click.argument("query", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row and line.")
def sql(query: str | None, as_json: bool) -> None:
    """Answer QUERY from the datasets; without it, statements are read from the input, each ended by a semicolon.

    Views: records (what is true now), pages (what is known of each page), hosts, page_records (every version),
    page_diffs (every change), tombstones, observations (every request), body_snapshots. All have a column site.
    Only published files are read, in a database in memory: no crawl is ever kept waiting.

    \b
    Examples:
      incremental-crawl sql "SELECT url, price FROM records ORDER BY price"
      incremental-crawl sql "SELECT kind, count(*) FROM page_diffs GROUP BY ALL"
      incremental-crawl sql "COPY (FROM records) TO 'records.csv'"
      incremental-crawl sql --json "FROM pages WHERE failures > 0"
    """  # noqa: D301 (click wants the character)
    with Datasets(project().data_dir) as datasets:
        if query is not None:
            failed = not _answer(datasets, query, as_json)
        elif sys.stdin.isatty():
            _converse(datasets, as_json)
            failed = False
        else:
            # A script stops at its first mistake.
            failed = not all(_answer(datasets, statement, as_json) for statement in statements(_input_lines()))
    if failed:
        click.get_current_context().exit(WRONG)


def _answer(datasets: Datasets, query: str, as_json: bool) -> bool:
    try:
        for answer in datasets.answers(query):
            _print(answer, as_json)
    except QueryFailed as error:
        click.echo(str(error), err=True)
        return False
    return True


def _print(answer: Answer, as_json: bool) -> None:
    if as_json:
        for row in answer.rows:
            click.echo(json_line(dict(zip(answer.names, row, strict=True))))
        return
    if not answer.names:
        return
    rows = [[_cell(value) for value in row] for row in answer.rows]
    if fits(answer.names, rows):
        rights = [any(isinstance(row[at], int | float) for row in answer.rows) for at in range(len(answer.names))]
        lines = table(answer.names, rows, rights)
    else:
        lines = records(answer.names, rows)
    click.echo("\n".join(lines))
    if sys.stdout.isatty():
        click.echo(click.style(f"({counted(len(rows), 'row')})", dim=True))


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return shown(value)


def _converse(datasets: Datasets, as_json: bool) -> None:
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and history)
    click.echo(f"Views: {', '.join(datasets.views) or 'none yet: crawl a site first'}. Ctrl-D ends.", err=True)
    for statement in statements(_typed_lines()):
        _answer(datasets, statement, as_json)


def statements(lines: Iterator[str | None]) -> Iterator[str]:
    """Statements that end with a semicolon at the end of a line, and what is left at the end; None begins anew."""
    typed = ""
    for line in lines:
        if line is None:
            typed = ""
            continue
        if not typed and line.strip().rstrip(";") in _ENDINGS:
            return
        typed += line + "\n" if typed or line.strip() else ""
        if typed.rstrip().endswith(";"):
            yield typed
            typed = ""
    if typed:
        yield typed


def _input_lines() -> Iterator[str]:
    return (line.rstrip("\n") for line in sys.stdin)


def _typed_lines() -> Iterator[str | None]:
    """Lines as they are typed, until the end of the input; Ctrl-C drops what was typed."""
    begun = False
    while True:
        try:
            line = input("… " if begun else "> ")
            begun = (begun or bool(line.strip())) and not line.rstrip().endswith(";")
            yield line
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt:
            click.echo()
            begun = False
            yield None
