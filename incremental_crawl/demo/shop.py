"""The bookshop as the demo runs it: on its fixed port, its step kept under the data root."""

from __future__ import annotations

import http.client
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from incremental_crawl.cli.errors import Misconfigured
from incremental_crawl.cli.sites import project
from incremental_crawl.origin.bookshop import DEFAULT_PORT, Bookshop, StepFile, World
from incremental_crawl.origin.representation import http_date

SITE = "bookshop"
PORT_VARIABLE = "BOOKSHOP_PORT"
SITES_VARIABLE = "INCREMENTAL_CRAWL_SITES"


@dataclass(frozen=True, slots=True)
class OpenShop:
    """A bookshop that answers at `url`; `step` moves its world."""

    url: str
    step: StepFile
    port: int

    def advance(self) -> int:
        """Move the world one step; returns it. Raises `ClickException` where another shop answers."""
        step = self.step.advance()
        self.ensure_ours()
        return step

    def ensure_ours(self) -> None:
        """Raises `ClickException` where what answers is not the shop of this data folder, at its step."""
        if _front_page_moment(self.port) != http_date(World.at(self.step.read()).at_moment):
            raise click.ClickException(
                f"port {self.port} is taken, and not by the bookshop of {self.step.path.parent.parent}: end what "
                f"listens there (another folder's `make dev`?), or choose another: {PORT_VARIABLE}=8766 make crawl"
            )


@contextmanager
def open_shop(data_dir: Path) -> Iterator[OpenShop]:
    """Serve the bookshop inside the block; one that `make dev` serves already is used and left running."""
    port = _port()
    _point_sites_at(port, data_dir)
    step = StepFile.under(data_dir)
    shop = OpenShop(f"http://127.0.0.1:{port}/", step, port)
    server = Bookshop(step.read, port)
    try:
        server.start()
    except OSError:
        shop.ensure_ours()
        yield shop
        return
    try:
        yield shop
    finally:
        server.stop()


def _port() -> int:
    text = os.environ.get(PORT_VARIABLE) or str(DEFAULT_PORT)
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise Misconfigured(f"{PORT_VARIABLE}={text} is not a port: a whole number from 1 to 65535")
    return int(text)


def _point_sites_at(port: int, data_dir: Path) -> None:
    """On another port than the usual one the demo works on a copy of the site files with that port in them."""
    if port == DEFAULT_PORT:
        return
    copies = data_dir / "demo" / "sites"
    copies.mkdir(parents=True, exist_ok=True)
    for path in project().sites_dir.glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        if path.stem == SITE:
            text = text.replace(f"127.0.0.1:{DEFAULT_PORT}", f"127.0.0.1:{port}")
        (copies / path.name).write_text(text, encoding="utf-8")
    os.environ[SITES_VARIABLE] = str(copies.resolve())


def _front_page_moment(port: int) -> str | None:
    """The Last-Modified line of what answers on the port: the front page changes with every step of the world."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().headers.get("Last-Modified")
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
