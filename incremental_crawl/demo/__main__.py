"""`python -m incremental_crawl.demo [crawl | dev]`: what `make crawl` and `make dev` run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click

from incremental_crawl.cli.crawl import crawl_site
from incremental_crawl.cli.errors import ToldGroup
from incremental_crawl.cli.sites import project
from incremental_crawl.cli.terminal import heading, respect_no_color
from incremental_crawl.cli.visit import Summary
from incremental_crawl.defs.dead_runs import end_dead_runs
from incremental_crawl.defs.launch import instance, instance_home
from incremental_crawl.demo.report import report
from incremental_crawl.demo.shop import SITE, open_shop
from incremental_crawl.storage.readers import Datasets, EventFilter


@click.group(cls=ToldGroup, invoke_without_command=True)
@click.pass_context
def demo(ctx: click.Context) -> None:
    """Show the product on a bookshop that changes."""
    respect_no_color(ctx)
    if ctx.invoked_subcommand is None:
        ctx.invoke(crawl)


@demo.command()
def crawl() -> None:
    """Serve the bookshop, crawl it twice with a step of its world between, and report."""
    data = project().data_dir
    with open_shop(data) as shop:
        click.echo(heading("incremental_crawl: a shop that changes, crawled twice"))
        click.echo(f"\nThe bookshop is open at {shop.url} (its world is at step {shop.step.read()}). First visit:\n")
        first = _visited()
        step = shop.advance()
        click.echo(f"\n{_since_last_time(first)} Now its world moves on to step {step}. Second visit:\n")
        second = _visited()
        with Datasets(data) as datasets:
            events = list(datasets.events(EventFilter(site=SITE, visit=second.visit)))
        click.echo(report(shop.url, data, second.counts, events))


def _since_last_time(first: Summary) -> str:
    if first.visit == 1:
        return "That was everything."
    news = any(first.counts.get(kind) for kind in ("changed", "new", "gone", "restored", "moved"))
    return "It had moved on since last time." if news else "Nothing is new since last time."


def _visited() -> Summary:
    """Ends the demo where the visit failed; its sentence is on the terminal already."""
    summary = crawl_site(SITE)
    if summary.exit_status:
        sys.exit(summary.exit_status)
    return summary


@demo.command()
@click.option("--port", default=3000, show_default=True, help="Port of the Dagster UI.")
def dev(port: int) -> None:
    """Start the Dagster UI with its daemon (schedules and sensors), and the bookshop beside it."""
    _ensure_free(port)
    home = instance_home()
    with instance() as own:
        end_dead_runs(own)
    with open_shop(project().data_dir) as shop:
        click.echo(
            f"bookshop at {shop.url} · Dagster UI at http://127.0.0.1:{port} · instance in {home} · Ctrl-C ends all"
        )
        dagster = Path(sys.executable).with_name("dagster")
        command = [str(dagster), "dev", "--workspace", "workspace.yaml", "--host", "127.0.0.1", "--port", str(port)]
        # `dg dev` is what Dagster recommends by now; it wants a package of its own and does the same.
        quiet = {"PYTHONWARNINGS": "ignore:Function `dev_command` is superseded"}
        with subprocess.Popen(command, env={**os.environ, **quiet}) as server:
            signal.signal(signal.SIGTERM, lambda *_: server.send_signal(signal.SIGINT))
            try:
                server.wait()
            except KeyboardInterrupt:
                server.wait()
        sys.exit(server.returncode)


def _ensure_free(port: int) -> None:
    """A second UI on the port would fail late, with a second daemon running beside it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise click.ClickException(
                f'port {port} is taken (is `make dev` running already?); another one: make dev ARGS="--port {port + 1}"'
            ) from None


def main() -> None:
    """Run the demo."""
    demo(prog_name="python -m incremental_crawl.demo")


if __name__ == "__main__":
    main()
