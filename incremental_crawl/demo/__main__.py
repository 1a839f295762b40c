"""`python -m incremental_crawl.demo [crawl | dev]`: what `make crawl` and `make dev` run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
from rich.console import Console

from incremental_crawl.cli.crawl import crawl_site
from incremental_crawl.cli.sites import project
from incremental_crawl.config.problems import ConfigError
from incremental_crawl.defs.dead_runs import end_dead_runs
from incremental_crawl.defs.launch import instance, instance_home
from incremental_crawl.demo.report import print_report
from incremental_crawl.demo.shop import SITE, open_shop
from incremental_crawl.storage.readers import Datasets, EventFilter


@click.group(invoke_without_command=True)
@click.pass_context
def demo(ctx: click.Context) -> None:
    """Show the product on a bookshop that changes."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(crawl)


@demo.command()
def crawl() -> None:
    """Serve the bookshop, crawl it twice with a step of its world between, and report."""
    console = Console(highlight=False)
    data = project().data_dir
    with open_shop(data) as shop:
        console.rule("[bold]incremental_crawl: a shop, crawled twice[/]")
        console.print(f"The bookshop is at {shop.url} (step {shop.step.read()} of its world).\n")
        console.print("[bold]First visit[/]")
        first = crawl_site(SITE, every_page=False, urls=[], limit=None, as_json=False)
        step = shop.advance()
        console.print(f"\nThe world moves on to step {step}. [bold]Second visit[/]")
        second = crawl_site(SITE, every_page=False, urls=[], limit=None, as_json=False)
        if not (first["success"] and second["success"]):
            sys.exit(1)
        with Datasets(data) as datasets:
            events = datasets.events(EventFilter(site=SITE, run_id=second["run_id"])).to_pylist()
        print_report(console, data, second["counts"], events)


@demo.command()
@click.option("--port", default=3000, show_default=True, help="Port of the Dagster UI.")
def dev(port: int) -> None:
    """Start the Dagster UI with its daemon (schedules and sensors), and the bookshop beside it."""
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


def main() -> None:
    """Run the demo; a broken configuration is a sentence and exit status 2."""
    try:
        demo(prog_name="python -m incremental_crawl.demo")
    except ConfigError as error:
        click.echo(str(error), err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
