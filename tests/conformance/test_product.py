"""This product passes every behaviour of the catalogue, through the real Dagster job, over all rounds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import dagster as dg
import pytest

from incremental_crawl.origin.adversarial import CATALOGUE, AdversarialOrigin, Behaviour
from tests.conformance.product import crawl, judged
from tests.dagster_model.dagster_project import ROOT, DagsterProject

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """What was wrong, by behaviour, after one crawl of all of them."""
    folder = tmp_path_factory.mktemp("conformance")
    home = folder / "home"
    home.mkdir()
    shutil.copy(ROOT / "dagster.yaml", home)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DAGSTER_HOME", str(home))
        with dg.DagsterInstance.get() as instance, AdversarialOrigin(CATALOGUE, patience_s=10.0) as origin:
            project = DagsterProject(folder, instance, monkeypatch)
            yield judged(origin, crawl(project, origin, CATALOGUE), CATALOGUE)


@pytest.mark.parametrize("behaviour", CATALOGUE, ids=lambda behaviour: behaviour.name)
def test_the_product_gives_the_right_answer(problems: dict[str, list[str]], behaviour: Behaviour) -> None:
    assert problems[behaviour.name] == []
