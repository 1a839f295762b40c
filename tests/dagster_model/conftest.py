"""A project per test, with a Dagster instance of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.dagster_model.dagster_project import ROOT, DagsterProject


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DagsterProject]:
    """A project without site files, on Friday 2024-05-03 at noon."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(ROOT / "dagster.yaml", home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.get() as instance:
        yield DagsterProject(tmp_path, instance, monkeypatch)
