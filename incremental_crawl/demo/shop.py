"""The bookshop as the demo runs it: on its fixed port, its step kept under the data root."""

from __future__ import annotations

import http.client
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from incremental_crawl.cli.sites import project
from incremental_crawl.origin.bookshop import DEFAULT_PORT, Bookshop, StepFile

SITE = "bookshop"
PORT_VARIABLE = "BOOKSHOP_PORT"
SITES_VARIABLE = "INCREMENTAL_CRAWL_SITES"


@dataclass(frozen=True, slots=True)
class OpenShop:
    """A bookshop that answers at `url`; `step` moves its world."""

    url: str
    step: StepFile


@contextmanager
def open_shop(data_dir: Path) -> Iterator[OpenShop]:
    """Serve the bookshop inside the block; one that `make dev` serves already is used and left running."""
    port = _port()
    _point_sites_at(port, data_dir)
    step = StepFile.under(data_dir)
    shop = OpenShop(f"http://127.0.0.1:{port}/", step)
    server = Bookshop(step.read, port)
    try:
        server.start()
    except OSError as error:
        if not _is_bookshop(port):
            raise click.ClickException(f"{error}; choose another port: {PORT_VARIABLE}=8766 make crawl") from None
        yield shop
        return
    try:
        yield shop
    finally:
        server.stop()


def _port() -> int:
    text = os.environ.get(PORT_VARIABLE) or str(DEFAULT_PORT)
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise click.ClickException(f"{PORT_VARIABLE}={text} is not a port: a whole number from 1 to 65535")
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


def _is_bookshop(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/sitemap-books.xml.gz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
