"""Every behaviour can be failed, and honest servers are passed by a simple client that does nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from incremental_crawl.origin.adversarial import BY_NAME, CATALOGUE, AdversarialOrigin, Behaviour, Verdict, trial
from tests.conformance.broken_clients import BROKEN, SANE, SimpleClient

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
    """The verdicts on the broken clients, one after the other: what one of them fails is not tried by the next."""
    verdicts: dict[str, dict[str, Verdict]] = {}
    left: list[Behaviour] = list(CATALOGUE)
    for number, (name, wrongs) in enumerate(BROKEN.items(), start=2):
        some = [BY_NAME[honest] for honest in HONEST if BY_NAME[honest] not in left]
        with AdversarialOrigin([*left, *some], f"127.0.{number}.0", patience_s=0.7) as origin:
            verdicts[name] = trial(origin, SimpleClient(wrongs))
        left = [own for own in left if verdicts[name][own.name].passed]
    return verdicts


@pytest.mark.parametrize("behaviour", CATALOGUE, ids=lambda behaviour: behaviour.name)
def test_every_behaviour_is_failed_by_a_broken_client(
    found: dict[str, dict[str, Verdict]], behaviour: Behaviour
) -> None:
    verdicts = [own[behaviour.name] for own in found.values() if behaviour.name in own]
    assert not all(verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_client_passes_something(found: dict[str, dict[str, Verdict]], name: str) -> None:
    assert any(verdict.passed for verdict in found[name].values())


def test_a_sane_client_passes_the_honest_servers(origin: AdversarialOrigin) -> None:
    behaviours = [one for one in CATALOGUE if one.name in HONEST]
    assert {one.name for one in behaviours} == set(HONEST)
    verdicts = trial(origin, SimpleClient(SANE, timeout_s=10.0), behaviours)
    assert {name: verdict.problems for name, verdict in verdicts.items() if not verdict.passed} == {}
