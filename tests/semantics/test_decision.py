"""Whether a page changed: what is held against what was found, with as few further fetches as that takes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.semantics.decision import (
    MOST_PAIRS,
    Baseline,
    Content,
    Evidence,
    Judgement,
    first_sight,
    judge_content,
    teach,
    under_mask,
)
from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.noise import Mask, learn
from incremental_crawl.semantics.outcome import Outcome
from incremental_crawl.semantics.site_noise import CONTENT_SUPPORT, FEW_PAGES, SiteNoise

TITLE, BODY, SIDE, LIST, CARD, MENU = (container << 32 | container for container in (1, 2, 3, 4, 5, 6))
TEXT = "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()

Placed = list[tuple[str, int]]


def content(placed: Placed) -> Content:
    lines, paths = tuple(line for line, _ in placed), tuple(path for _, path in placed)
    record = canonical_json(list(lines))
    return Content(record, sha256_text(record), lines, paths)


def article(*changes: tuple[int, str], visitor: int = 7) -> Content:
    words = list(TEXT)
    for place, word in changes:
        words[place] = word
    return content([("The title", TITLE), *((f"the {word} line", BODY) for word in words), (f"Visit {visitor}", SIDE)])


def held(found: Content, mask: str | None = None, unpaired: bool = False) -> Baseline:
    return Baseline(found, under_mask(mask, found).content_sha256, mask, unpaired)


def fields(record: dict[str, object], tracked: str = "price") -> Content:
    return Content(canonical_json(record), sha256_text(canonical_json(record.get(tracked))))


@dataclass
class Site:
    """Pages of one type over several visits, as body_snapshots decides them."""

    noise: SiteNoise = field(default_factory=SiteNoise)
    fetches: int = 0

    def visit(self, baseline: Baseline, load: Callable[[], Content]) -> tuple[Judgement, Baseline]:
        """The judgement after as many further loads as it asks for, and the baseline of the next visit."""
        found = load()
        pairs: list[Content] = []
        judgement = judge_content(baseline, found, Evidence(self.noise, pairs))
        while judgement.needs_pair:
            pairs.append(load())
            self.fetches += 1
            teach(self.noise, baseline, found, pairs)
            judgement = judge_content(baseline, found, Evidence(self.noise, pairs))
        if judgement.outcome is Outcome.RETRY_LATER:
            return judgement, baseline
        now = found if judgement.outcome is Outcome.CHANGED else baseline.content
        return judgement, Baseline(now, judgement.compare_sha256, judgement.mask, judgement.unpaired)


# Declared fields


def test_equal_fields_are_the_same_record() -> None:
    found = fields({"price": 12, "title": "A"})
    assert judge_content(held(found), found, Evidence()) == Judgement(
        Outcome.SAME_HASH, found.content_sha256, found.content_sha256
    )


def test_a_tracked_field_that_differs_is_a_change_without_a_further_fetch() -> None:
    found = fields({"price": 13})
    judgement = judge_content(held(fields({"price": 12})), found, Evidence())
    assert judgement == Judgement(Outcome.CHANGED, found.content_sha256, found.content_sha256, None, found.record)


def test_an_untracked_field_that_differs_refreshes_the_record_and_is_no_change() -> None:
    found = fields({"price": 12, "seen": 2})
    judgement = judge_content(held(fields({"price": 12, "seen": 1})), found, Evidence())
    assert (judgement.outcome, judgement.record) == (Outcome.SAME_HASH, found.record)
    assert judgement.content_sha256 == found.content_sha256


# Lines


def test_a_page_without_a_baseline_is_new_as_it_stands() -> None:
    found = article()
    assert first_sight(found) == Judgement(Outcome.NEW, found.content_sha256, found.content_sha256, None, found.record)


def test_equal_lines_are_the_same_record_and_keep_digest_and_mask() -> None:
    mask = Site().visit(held(article()), loads(article(visitor=8), article(visitor=9), article(visitor=10)))[0].mask
    assert mask
    baseline = held(article(), mask)
    judgement = judge_content(baseline, article(visitor=77), Evidence())
    assert judgement == Judgement(Outcome.SAME_HASH, baseline.compare_sha256, baseline.content.content_sha256, mask)


def loads(*contents: Content) -> Callable[[], Content]:
    """Each load in turn; the last one for good."""
    left = list(contents)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_a_difference_in_an_unknown_place_asks_for_a_second_load() -> None:
    judgement = judge_content(held(article()), article((3, "DELTA")), Evidence())
    assert judgement.needs_pair


def test_what_differs_within_a_pair_is_noise_and_says_nothing_from_then_on() -> None:
    site = Site()
    visitors = [article(visitor=visitor) for visitor in (2, 3, 4)]
    judgement, baseline = site.visit(held(article(visitor=1)), loads(*visitors))
    assert (judgement.outcome, judgement.record, site.fetches) == (Outcome.SAME_HASH, None, 2)
    assert judgement.content_sha256 == article(visitor=1).content_sha256
    judgement, _ = site.visit(baseline, loads(article(visitor=5)))
    assert (judgement.outcome, site.fetches) == (Outcome.SAME_HASH, 2)


def test_a_diff_shows_the_change_and_no_noise() -> None:
    edited = [article((3, "DELTA"), visitor=visitor) for visitor in (2, 3, 4)]
    judgement, _ = Site().visit(held(article(visitor=1)), loads(*edited))
    assert judgement.outcome is Outcome.CHANGED
    assert judgement.old_record is not None
    assert judgement.record == judgement.old_record.replace("delta", "DELTA")
    assert judgement.content_sha256 == sha256_text(judgement.record or "")
    assert not {"Visit 1", "Visit 2"} & {judgement.record, judgement.old_record}


def test_a_mask_is_never_learnt_across_visits() -> None:
    """Both loads of the second visit agree: what differs from the first visit is an edit, whatever it looks like."""
    site = Site()
    judgement, baseline = site.visit(held(article(visitor=1)), loads(article(visitor=2)))
    assert (judgement.outcome, judgement.mask) == (Outcome.CHANGED, None)
    judgement, _ = site.visit(baseline, loads(article(visitor=3)))
    assert judgement.outcome is Outcome.CHANGED


@pytest.mark.parametrize(("known", "further"), [(0, 2), (FEW_PAGES - 1, 2), (FEW_PAGES, 1)])
def test_while_little_is_known_of_a_page_type_a_change_takes_one_more_load(known: int, further: int) -> None:
    site = Site(SiteNoise(pages=known))
    judgement, _ = site.visit(held(article()), loads(article((3, "DELTA"))))
    assert (judgement.outcome, site.fetches) == (Outcome.CHANGED, further)
    assert (FEW_PAGES, MOST_PAIRS) == (3, 2)


def test_two_loads_that_agree_by_chance_are_found_out_by_a_third() -> None:
    site = Site()
    judgement, _ = site.visit(
        held(article(visitor=1)), loads(article(visitor=2), article(visitor=2), article(visitor=3))
    )
    assert (judgement.outcome, site.fetches) == (Outcome.RETRY_LATER, 2)


def test_noise_is_learnt_from_three_loads_in_which_it_moves_twice() -> None:
    site = Site()
    judgement, _ = site.visit(
        held(article(visitor=1)), loads(article(visitor=2), article(visitor=3), article(visitor=4))
    )
    assert (judgement.outcome, site.fetches) == (Outcome.SAME_HASH, 2)


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        pytest.param("DELTA", "delta", "DELTA", id="a back end lags behind"),
        pytest.param("ALPHA", "BETA", "BETA", id="edited between two loads"),
        pytest.param("DELTA", "DELTA", "delta", id="the old page comes back"),
    ],
)
def test_an_edit_in_the_middle_of_the_loads_is_never_learnt_as_noise(first: str, second: str, third: str) -> None:
    site = Site()
    baseline = held(article((3, "delta")))
    judgement, _ = site.visit(baseline, loads(*(article((3, word)) for word in (first, second, third))))
    assert judgement.outcome is Outcome.RETRY_LATER
    assert not site.noise.masks
    settled, _ = site.visit(baseline, loads(article((3, third))))
    assert settled.outcome is (Outcome.SAME_HASH if third == "delta" else Outcome.CHANGED)


def test_content_under_a_mask_is_what_the_mask_leaves() -> None:
    mask = Mask(paths=frozenset({SIDE})).to_json()
    masked = under_mask(mask, article(visitor=1))
    assert masked.content_sha256 == under_mask(mask, article(visitor=2)).content_sha256
    assert masked.content_sha256 == sha256_text(masked.record)
    assert masked.record == canonical_json(["The title", *(f"the {word} line" for word in TEXT)])
    assert under_mask(None, article()).record == article().record


def test_declared_fields_are_the_same_under_any_mask() -> None:
    found = fields({"price": 12})
    assert under_mask(Mask(paths=frozenset({SIDE})).to_json(), found) == found


# What other pages have taught


def taught(pairs: int) -> Site:
    """A page type of which `pairs` pages have had a pair with a moving counter."""
    site = Site()
    for visitor in range(pairs):
        first, second = article(visitor=100 + visitor), article(visitor=200 + visitor)
        mask = learn(first.lines, first.paths, second.lines, second.paths)
        site.noise.add_loads([first.placed, second.placed], mask)
    return site


def test_a_page_teaches_its_type_all_the_noise_it_knows() -> None:
    site, known = Site(), Mask(paths=frozenset({CARD}))
    teach(site.noise, held(article(), known.to_json()), article(visitor=1), [article(visitor=2), article(visitor=3)])
    assert [mask.paths for mask in site.noise.masks] == [known.paths]
    assert site.noise.masks[0].templates


def test_shared_noise_spares_the_second_load() -> None:
    site = taught(3)
    baseline = held(article(visitor=1))
    judgement, after = site.visit(baseline, loads(article(visitor=2)))
    assert (judgement.outcome, site.fetches) == (Outcome.SAME_HASH, 0)
    assert (judgement.compare_sha256, judgement.mask) == (baseline.compare_sha256, None)
    assert after == baseline


def test_shared_noise_of_too_few_pages_spares_nothing() -> None:
    site = taught(2)
    site.visit(held(article(visitor=1)), loads(article(visitor=2), article(visitor=3), article(visitor=4)))
    assert site.fetches == 2


def test_a_change_where_pages_proved_to_be_content_needs_no_second_load() -> None:
    site = taught(CONTENT_SUPPORT)
    judgement, after = site.visit(held(article(visitor=1)), loads(article((3, "DELTA"), visitor=2)))
    assert (judgement.outcome, judgement.unpaired, site.fetches) == (Outcome.CHANGED, True, 0)
    assert judgement.old_record is not None
    assert judgement.record == judgement.old_record.replace("delta", "DELTA")
    assert after.unpaired_change
    assert after.mask is None
    assert after.compare_sha256 == after.content.content_sha256


def test_a_change_beside_proven_content_is_not_enough() -> None:
    site = taught(CONTENT_SUPPORT - 1)
    site.visit(held(article(visitor=1)), loads(article((3, "DELTA"), visitor=2), article((3, "DELTA"), visitor=3)))
    assert site.fetches == 1
    site = taught(CONTENT_SUPPORT)
    found = content([*article((3, "DELTA")).placed, ("a new place", CARD)])
    site.visit(held(article(visitor=1)), loads(found))
    assert site.fetches == 1
    site = taught(CONTENT_SUPPORT)
    site.visit(held(content([*article().placed, ("a lost place", CARD)])), loads(article((3, "DELTA"))))
    assert site.fetches == 1


def test_a_second_change_in_a_row_is_proved_by_a_second_load() -> None:
    site = taught(CONTENT_SUPPORT)
    _, after = site.visit(held(article()), loads(article((3, "DELTA"))))
    judgement, after = site.visit(after, loads(article((3, "DEEP"))))
    assert (judgement.outcome, judgement.unpaired, site.fetches) == (Outcome.CHANGED, False, 1)
    judgement, after = site.visit(after, loads(article((3, "DARK"))))
    assert (judgement.outcome, judgement.unpaired, site.fetches) == (Outcome.CHANGED, True, 1)


def test_a_quiet_visit_in_between_makes_the_next_change_the_first_again() -> None:
    site = taught(CONTENT_SUPPORT)
    _, after = site.visit(held(article()), loads(article((3, "DELTA"))))
    judgement, after = site.visit(after, loads(article((3, "DELTA"))))
    assert (judgement.outcome, after.unpaired_change) == (Outcome.SAME_HASH, False)
    site.visit(after, loads(article((3, "DEEP"))))
    assert site.fetches == 0


def test_noise_where_pages_proved_to_be_content_is_found_out_at_the_second_change() -> None:
    site = taught(CONTENT_SUPPORT)
    draws = iter(range(99))

    def load() -> Content:
        return article((3, f"quote {next(draws)}"))

    _, after = site.visit(held(load()), load)
    assert (after.unpaired_change, site.fetches) == (True, 0)
    judgement, after = site.visit(after, load)
    assert (judgement.outcome, site.fetches) == (Outcome.SAME_HASH, 2)
    assert not site.noise.is_content([BODY])


def test_lines_that_only_changed_their_order_need_all_places_to_be_content() -> None:
    swapped = content([("b", BODY), ("a", BODY), ("menu", MENU)])
    baseline = held(content([("a", BODY), ("b", BODY), ("menu", MENU)]))
    site = Site()
    for _ in range(CONTENT_SUPPORT):
        site.noise.add_loads([[("a", BODY)], [("a", BODY)]], Mask())
    assert judge_content(baseline, swapped, Evidence(site.noise)).needs_pair
    for _ in range(CONTENT_SUPPORT):
        site.noise.add_loads([[("menu", MENU)], [("menu", MENU)]], Mask())
    assert judge_content(baseline, swapped, Evidence(site.noise)).unpaired


# Generated pages


WORDS = (
    "amber bridge candle desert ember forest garden harbour island jungle kettle lantern meadow needle orchard".split()
)


class GeneratedPage:
    """A page of a type: its own text, and furniture that differs at every load."""

    def __init__(self, template: random.Random, own: random.Random) -> None:
        self.text = [
            (f"{' '.join(own.choices(WORDS, k=own.randrange(2, 7)))} {own.randrange(100)}", path)
            for path in sorted(template.choices((TITLE, BODY, BODY, BODY, MENU), k=template.randrange(3, 12)))
        ]
        self._pool = [f"{own.choice(WORDS)} entry {chr(97 + n)}" for n in range(20)]
        kinds = (self._counter, self._rotating, self._links, self._quote, self._shuffled, self._banner, self._nonce)
        self._furniture = template.sample(kinds, template.randrange(1, len(kinds)))
        self._quote_place = template.randrange(len(self.text) + 1)

    def load(self, draw: random.Random, text: Placed | None = None) -> Content:
        placed = list(self.text if text is None else text)
        for furniture in self._furniture:
            furniture(placed, draw)
        return content(placed)

    def edited(self, draw: random.Random) -> Placed:
        """The text with one word replaced by another, anywhere."""
        place = draw.randrange(len(self.text))
        line, path = self.text[place]
        words = line.split()
        at = draw.randrange(len(words))
        words[at] = draw.choice([word for word in (*WORDS, "edited", "12", "345") if word != words[at]])
        return [*self.text[:place], (" ".join(words), path), *self.text[place + 1 :]]

    def _counter(self, placed: Placed, draw: random.Random) -> None:
        placed.append((f"Visitor {draw.randrange(10**6)} of today", SIDE))

    def _rotating(self, placed: Placed, draw: random.Random) -> None:
        placed.extend((entry, LIST) for entry in draw.sample(self._pool, 5))

    def _links(self, placed: Placed, draw: random.Random) -> None:
        for entry in draw.sample(self._pool, 4):
            placed.extend([(entry, CARD), (f"a </{entry.replace(' ', '-')}>", CARD)])

    def _quote(self, placed: Placed, draw: random.Random) -> None:
        place = min(self._quote_place, len(placed))
        placed.insert(place, (f"quote of {' '.join(draw.choices(WORDS, k=5))}", BODY))

    def _shuffled(self, placed: Placed, draw: random.Random) -> None:
        placed.extend((word, LIST + 1) for word in draw.sample(WORDS[:7], 7))

    def _banner(self, placed: Placed, draw: random.Random) -> None:
        if draw.random() < 0.4:
            placed.append(("Our summer sale is on", SIDE + 1))

    def _nonce(self, placed: Placed, draw: random.Random) -> None:
        placed.append((f"img </logo.png?v={draw.getrandbits(64):x}>", SIDE + 2))


def shows_what_was_removed(judgement: Judgement, old: Placed, new: Placed) -> bool:
    """Whether a diff of the judgement's records has the lines that the edit took away."""
    removed = {line for line, _ in old} - {line for line, _ in new}
    return all(canonical_json(line) in (judgement.old_record or "") for line in removed)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 12))
def test_one_word_that_changes_anywhere_outside_noise_is_never_hidden(seed: int, visits: int) -> None:
    """After any number of visits to this and other pages of the type, whatever these have taught."""
    draw, template = random.Random(seed), random.Random(seed)
    shape = template.getstate()
    pages = []
    for number in range(4):
        template.setstate(shape)
        pages.append(GeneratedPage(template, random.Random(f"{seed} {number}")))
    site, baselines = Site(), [held(page.load(draw)) for page in pages]
    for _ in range(visits):
        number = draw.randrange(len(pages))
        _, baseline = site.visit(baselines[number], partial(pages[number].load, draw))
        assert baseline.compare_sha256 == under_mask(baseline.mask, baseline.content).content_sha256
        baselines[number] = baseline
    edited = pages[0].edited(draw)
    # Loads that contradict each other put the answer off, they do not hide it.
    answers = (site.visit(baselines[0], partial(pages[0].load, draw, edited))[0] for _ in range(20))
    judgement = next(answer for answer in answers if answer.outcome is not Outcome.RETRY_LATER)
    assert judgement.outcome is Outcome.CHANGED
    assert shows_what_was_removed(judgement, pages[0].text, edited)
