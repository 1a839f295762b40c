"""One project for the tests that read: two sites of documents crawled at two moments, one that never answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cli.projects import CommandLine, Said, Shell
from tests.origins.documents import DocumentsOrigin
from tests.origins.histories import Truth, synthetic_history, truth_between, visit_moments

PAGES = 30
MOMENTS = visit_moments(4)
BROKEN = "start_urls: []"


@dataclass
class Crawled:
    """The project after its visits, with what each of them said and what was true."""

    project: CommandLine
    shell: Shell
    origin: DocumentsOrigin
    first: Said
    second: Said
    truth: Truth


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """`daily` has a daily cadence, `always` asks every page in every visit; the second visit is of `always` alone."""
    versions = synthetic_history(pages=PAGES, visits=len(MOMENTS))
    project = CommandLine(tmp_path_factory.mktemp("crawled"))
    with DocumentsOrigin(versions, noise=False) as origin, Shell(project) as shell:
        project.site("daily", f"{origin.base_url}/", cadence={"default": "1d"})
        project.site("always", f"{origin.base_url}/", main_text="none")
        project.site("dead", "http://127.0.0.1:9/")
        project.write("broken", BROKEN)
        origin.moment = MOMENTS[0]
        first = shell("crawl", "daily", "broken", "dead", "always", "--json")
        origin.moment = MOMENTS[1]
        second = shell("crawl", "always")
        yield Crawled(project, shell, origin, first, second, truth_between(versions, MOMENTS[0], MOMENTS[1]))
