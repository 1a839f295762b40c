"""Visits over the real editing history of documents: exactly the true changes, for few bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from tests.crawl.visiting import CrawledSite, local_site
from tests.origins.documents import DocumentsOrigin, path_of
from tests.origins.histories import Version, read_history, synthetic_history, truth_between, visit_moments

HISTORY = Path(__file__).parents[3] / "shared" / "data" / "pep_history.parquet"


def crawl_through(
    folder: Path, versions: Sequence[Version], moments: Sequence[datetime], validators: str, audit_share: float
) -> float:
    """Visit at every moment and check the events against the truth; returns the share of needless bytes."""
    with DocumentsOrigin(versions, validators=validators, seed=7) as origin:  # type: ignore[arg-type]
        settings = local_site(origin.base_url + "/", revalidation={"audit_share": audit_share}, main_text="none")
        site = CrawledSite(folder, settings)
        first = full_crawls = needless = 0
        for number, moment in enumerate(moments):
            origin.moment = moment
            before = len(origin.log)
            site.visit(moment)
            requests = list(origin.log)[before:]
            if number == 0:
                first = sum(entry.total_bytes for entry in requests)
                continue
            truth = truth_between(versions, moments[number - 1], moment)
            expected = (
                [("changed", path_of(page)) for page in truth.changed]
                + [("new", path_of(page)) for page in truth.new]
                + [("gone", path_of(page)) for page in truth.gone]
            )
            found = [event for event in site.events(number + 1) if event[1] != "/"]
            assert sorted(found) == sorted(_with_returns(site, expected)), f"visit {number + 1} at {moment}"
            touched = {path_of(page) for page in (*truth.changed, *truth.new)}
            full_crawls += first
            once: set[str] = set()
            for entry in requests:
                if entry.path in touched and entry.path not in once and entry.status == 200:
                    once.add(entry.path)
                    continue
                needless += entry.total_bytes
        return needless / full_crawls


def _with_returns(site: CrawledSite, expected: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A page that comes back is told as restored."""
    gone = {path for kind, path in site.events() if kind == "gone"}
    known = {path for kind, path in site.events(1) if kind == "new"}
    return [("restored", path) if kind == "new" and path in gone & known else (kind, path) for kind, path in expected]


@pytest.mark.parametrize("validators", ["both", "none"])
def test_made_up_documents_change_exactly_when_they_change(tmp_path: Path, validators: str) -> None:
    versions = synthetic_history(pages=30, visits=5)
    crawl_through(tmp_path, versions, visit_moments(5), validators, audit_share=0.1)


WHOLE = [
    pytest.param("both", 0.0, 17, 0.03, marks=pytest.mark.soak),
    pytest.param("both", 0.02, 17, 0.06, marks=pytest.mark.soak),
    pytest.param("none", 0.02, 17, None, marks=pytest.mark.soak),
]
"""All weeks; and without validators at all, where the made-up documents stand in for them in each run of the suite."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("validators", "audit_share", "visits", "most"), [("both", 0.02, 7, 0.06), *WHOLE])
def test_sixteen_weeks_of_real_edits_are_found_for_few_bytes(
    tmp_path: Path, validators: str, audit_share: float, visits: int, most: float | None
) -> None:
    if not HISTORY.exists():
        pytest.skip("needs ../shared/data/pep_history.parquet")
    share = crawl_through(tmp_path, read_history(HISTORY), visit_moments(visits), validators, audit_share)
    assert most is None or share < most
