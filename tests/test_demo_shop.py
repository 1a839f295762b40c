"""The demo never mistakes another shop for its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from incremental_crawl.demo.shop import PORT_VARIABLE, SITES_VARIABLE, open_shop
from incremental_crawl.origin.bookshop import Bookshop, StepFile


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StepFile]:
    """The step file of a shop that is open already, on the port that the demo is told to use."""
    step = StepFile.under(tmp_path / "served")
    (tmp_path / "sites").mkdir()
    monkeypatch.setenv(SITES_VARIABLE, str(tmp_path / "sites"))
    with Bookshop(step.read, port=0) as shop:
        monkeypatch.setenv(PORT_VARIABLE, str(shop.port))
        yield step


def test_the_shop_that_is_open_already_is_used_and_left_open(served: StepFile) -> None:
    data = served.path.parent.parent
    with open_shop(data) as shop:
        assert shop.advance() == 1
        assert shop.url.endswith(f":{os.environ[PORT_VARIABLE]}/")
    with open_shop(data) as shop:
        assert shop.advance() == 2


def test_a_shop_of_another_data_folder_is_refused(served: StepFile, tmp_path: Path) -> None:
    served.advance(3)
    with pytest.raises(click.ClickException, match=r"not by the bookshop of .*own"), open_shop(tmp_path / "own"):
        pass


def test_a_shop_that_does_not_move_with_ours_is_refused(served: StepFile, tmp_path: Path) -> None:
    with open_shop(tmp_path / "own") as shop, pytest.raises(click.ClickException, match="is taken"):
        shop.advance()
