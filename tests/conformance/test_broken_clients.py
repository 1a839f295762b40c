"""Every behaviour can be failed, and honest servers are passed by a simple client that does nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from incremental_crawl.origin.adversarial import CATALOGUE, AdversarialOrigin, Behaviour, Verdict, trial
from tests.conformance.broken_clients import BROKEN, SANE, SimpleClient, Wrongs

pytestmark = pytest.mark.timeout(300)
HONEST = (
    "both-validators",
    "tag-only",
    "date-only",
    "no-validator",
    "exact-date",
    "bare-304",
    "touched-without-edit",
    "robots-404",
    "moved-for-good",
    "gone-for-good",
    "flapping",
    "length-too-short",
    "empty-body",
)


@pytest.fixture(scope="module")
def origin() -> Iterator[AdversarialOrigin]:
    with AdversarialOrigin(CATALOGUE, patience_s=10.0) as origin:
        yield origin


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Verdict]]:
    """The verdicts on every broken client; each has an origin of its own, so that they can go at the same time."""

    def tried(number: int, wrongs: Wrongs) -> dict[str, Verdict]:
        with AdversarialOrigin(CATALOGUE, f"127.0.{number}.0", patience_s=0.7) as origin:
            return trial(origin, SimpleClient(wrongs))

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(BROKEN, pool.map(tried, range(2, 2 + len(BROKEN)), BROKEN.values()), strict=True))


@pytest.mark.parametrize("behaviour", CATALOGUE, ids=lambda behaviour: behaviour.name)
def test_every_behaviour_is_failed_by_a_broken_client(
    found: dict[str, dict[str, Verdict]], behaviour: Behaviour
) -> None:
    assert [name for name, verdicts in found.items() if not verdicts[behaviour.name].passed]


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_client_passes_something(found: dict[str, dict[str, Verdict]], name: str) -> None:
    assert any(verdict.passed for verdict in found[name].values())


def test_a_sane_client_passes_the_honest_servers(origin: AdversarialOrigin) -> None:
    behaviours = [one for one in CATALOGUE if one.name in HONEST]
    assert {one.name for one in behaviours} == set(HONEST)
    verdicts = trial(origin, SimpleClient(SANE, timeout_s=10.0), behaviours)
    assert {name: verdict.problems for name, verdict in verdicts.items() if not verdict.passed} == {}
