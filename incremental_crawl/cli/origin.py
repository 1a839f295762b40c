"""`origin`: serve the adversarial origin for anyone's crawler."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from incremental_crawl.cli.errors import Stopped
from incremental_crawl.cli.terminal import table
from incremental_crawl.cli.words import counted
from incremental_crawl.config.units import parse_duration
from incremental_crawl.origin.adversarial import (
    CATALOGUE,
    DEFAULT_HOST,
    AdversarialLog,
    AdversarialOrigin,
    Behaviour,
    Kind,
)
from incremental_crawl.origin.adversarial.listing import markdown

DEFAULT_PORT = 8766
_SHARED_HOST = "127.0.0.1"
_PATIENCE_S = 60.0
_LONGEST_SHOWN = 70


class _Period(click.ParamType[timedelta]):
    """A duration above zero."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """The duration, or a sentence about what is wrong."""
        try:
            period = parse_duration(value)
        except ValueError as error:
            self.fail(f"{value!r} is {error}; write it as 30s, 15m or 6h", param, ctx)
        if period <= timedelta(0):
            self.fail("it has to be above zero", param, ctx)
        return period


@dataclass(frozen=True, slots=True)
class _Options:
    """What was given on the command line."""

    host: str | None
    port: int
    shared: bool
    kind: str | None
    number: int
    round_every: timedelta | None
    seed: int
    log: Path | None
    listed: bool
    as_json: bool
    as_markdown: bool

    def origin(self, behaviours: Sequence[Behaviour]) -> AdversarialOrigin:
        """The origin that is asked for, not yet listening."""
        made = AdversarialOrigin(
            behaviours,
            self.host or (_SHARED_HOST if self.shared else DEFAULT_HOST),
            self.port,
            shared=self.shared,
            seed=self.seed,
            clock=lambda: datetime.now(UTC),
            patience_s=_PATIENCE_S,
            log=AdversarialLog(None if self.listed else self.log),
        )
        made.round = self.number
        return made


@click.command(short_help="Serve servers that lie, for any crawler.")
@click.option("--host", metavar="ADDRESS", help=f"First loopback address.  [default: {DEFAULT_HOST}]")
@click.option("--port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, show_default=True)
@click.option("--shared", is_flag=True, help="All under one address, by path, for machines that have only 127.0.0.1.")
@click.option(
    "--kind", metavar="KIND", type=click.Choice([str(kind) for kind in Kind]), help="Only behaviours of this kind."
)
@click.option("--round", "number", type=click.IntRange(0), default=0, show_default=True, help="Round to begin with.")
@click.option("--round-every", type=_Period(), help="Go to the next round by itself, such as 60s.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the noise.")
@click.option("--log", type=click.Path(dir_okay=False, path_type=Path), help="Append each request as a line of JSON.")
@click.option("--list", "listed", is_flag=True, help="Only list the behaviours.")
@click.option("--json", "as_json", is_flag=True, help="With --list: as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="With --list: as the tables of the documentation.")
def origin(**given: Any) -> None:
    """Serve the catalogue of server behaviours until Ctrl-C, each on a loopback address of its own.

    Point a crawler at the start URLs that are listed, crawl, go to the next round, crawl again, and compare what it
    holds with what is right. The page on the first address lists them as well; POST /next there goes to the next
    round, /catalogue.json has everything for programs.
    """
    options = _Options(**given)
    chosen = tuple(one for one in CATALOGUE if options.kind in (None, str(one.kind)))
    if (options.as_json or options.as_markdown) and not options.listed:
        raise click.UsageError("--json and --markdown go with --list")
    if options.as_markdown:
        click.echo(markdown(chosen), nl=False)
        return
    try:
        served = options.origin(chosen)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--host'") from None
    if options.listed:
        click.echo(json.dumps(served.as_data(), indent=1, ensure_ascii=False) if options.as_json else _listed(served))
        return
    _serve(served, options.round_every)


def _listed(served: AdversarialOrigin) -> str:
    rows = [(one.name, str(one.kind), _started(served.starts(one))) for one in served.behaviours]
    return "\n".join(table(("behaviour", "kind", "start URL"), rows))


def _started(urls: Sequence[str]) -> str:
    """The first start URL and how many there are beside it."""
    shown = urls[0] if len(urls[0]) <= _LONGEST_SHOWN else urls[0][:_LONGEST_SHOWN] + "…"
    return shown if len(urls) == 1 else f"{shown} and {len(urls) - 1} more"


def _serve(served: AdversarialOrigin, round_every: timedelta | None) -> None:
    stopped = threading.Event()
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, lambda *_: stopped.set())
    try:
        served.start()
    except OSError as error:
        raise Stopped(f"{error.args[-1]}; stop what uses it, choose another --port, or use --shared") from None
    try:
        click.echo(_listed(served))
        click.echo(f"{counted(len(served.behaviours), 'behaviour')} at {served.index_url} (round {served.round}).")
        click.echo(f"Next round: curl -X POST {served.index_url}next · Ctrl-C ends.")
        while not stopped.wait(None if round_every is None else round_every.total_seconds()):
            served.round += 1
            click.echo(f"Round {served.round}")
    finally:
        served.stop()
