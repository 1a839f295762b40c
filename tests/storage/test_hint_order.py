"""What lastmod does to the order of the queue: much where it is true, nothing where it lies."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from incremental_crawl.semantics.hints import HintLedger, reliability
from tests.origins.histories import FIRST_VISIT, Version, current, read_history
from tests.storage.hinted_visits import Lastmod, hinted_site

HISTORY = Path(__file__).parents[3] / "shared" / "data" / "pep_history.parquet"
VISITS = 14
DAY = timedelta(days=1)


@pytest.fixture(scope="module", params=["pep_history", "made up"])
def history(request: pytest.FixtureRequest) -> Iterator[tuple[Sequence[Version], timedelta]]:
    """Versions, and the time between visits."""
    if request.param == "made up":
        yield made_up(), timedelta(days=4)
    elif not HISTORY.exists():
        pytest.skip("needs ../shared/data/pep_history.parquet")
    else:
        yield read_history(HISTORY), timedelta(days=113 / VISITS)


def made_up(pages: int = 150, edited: float = 0.02) -> list[Version]:
    """A history in which a fiftieth of the pages is edited between two visits, the same ones more often."""
    chance, began = random.Random(5), {f"page-{number:03}": FIRST_VISIT for number in range(pages)}
    versions: list[Version] = []
    for number in range(1, VISITS):
        for page in chance.sample(sorted(began), round(edited * pages)):
            edit = FIRST_VISIT + number * timedelta(days=4) - chance.random() * DAY
            versions.append(Version(page, began[page], edit, ""))
            began[page] = edit
    return versions + [Version(page, since, None, "") for page, since in began.items()]


def versions_at(history: Sequence[Version]) -> Callable[[datetime], Mapping[str, int]]:
    """The number of every page's version at a moment, of pages that exist all the time."""
    numbers = {id(version): number for number, version in enumerate(history)}
    always = set(current(history, FIRST_VISIT))
    return lambda moment: {
        page: numbers[id(version)] for page, version in current(history, moment).items() if page in always
    }


def delay(folder: Path, history: tuple[Sequence[Version], timedelta], lastmod: Lastmod) -> tuple[float, HintLedger]:
    """The mean delay of a change in visits, with a budget for a tenth of the site."""
    versions, every = history
    truth = versions_at(versions)
    with hinted_site(folder, truth, lastmod) as site:
        site.visit(FIRST_VISIT)
        budget = max(1, len(site.held) // 10)
        for number in range(1, VISITS):
            site.visit(FIRST_VISIT + number * every, budget)
        return site.mean_delay, site.ledger


def truthful(history: Sequence[Version]) -> Lastmod:
    """The moment at which the version became the page's."""
    return lambda _, version, __: history[version].valid_from.isoformat()


def _random_moves(share: float) -> Lastmod:
    chance, dates = random.Random(3), dict[str, int]()

    def lastmod(page: str, _: int, __: datetime) -> str:
        dates[page] = dates.get(page, 0) + (chance.random() < share)
        return (FIRST_VISIT + dates[page] * DAY).isoformat()

    return lastmod


def _always_now(page: str, _: int, now: datetime) -> str:
    return (now - timedelta(seconds=len(page) + int(page[-1:]))).isoformat()


LIES: dict[str, Callable[[], Lastmod]] = {
    "always now": lambda: _always_now,
    "a tenth moves at random": lambda: _random_moves(0.1),
    "all equal, to a build time that moves at times": lambda: lambda _, __, now: f"2026-{now:%m}-01",
    "half moves at random": lambda: _random_moves(0.5),
    "never moves": lambda: lambda page, _, __: f"2026-01-{1 + int(page[-1:]):02d}",
}


@pytest.mark.parametrize("lies", [2, pytest.param(len(LIES), marks=[pytest.mark.soak, pytest.mark.timeout(600)])])
def test_truthful_dates_find_changes_four_times_sooner_and_lies_find_them_no_later(
    tmp_path: Path, history: tuple[Sequence[Version], timedelta], lies: int
) -> None:
    """With a budget for a tenth of the site in each visit. "No later" of few changes is within their chance: 5 %."""
    without, _ = delay(tmp_path / "without", history, lambda *_: None)
    hinted, known = delay(tmp_path / "truth", history, truthful(history[0]))
    assert without > 2
    assert 4 * hinted <= without
    assert reliability(known) == "100 % of moved lastmods were changes; 100 % of changes had moved theirs"
    small = len(history[0]) < 800
    for name, lie in list(LIES.items())[:lies]:
        lied, _ = delay(tmp_path / name.replace(" ", "_"), history, lie())
        assert lied <= without * (1.05 if small else 1), name
