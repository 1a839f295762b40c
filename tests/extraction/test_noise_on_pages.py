"""Changes are found on pages that differ at every load: none invented, none missed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import pytest
from selectolax.lexbor import LexborHTMLParser

from incremental_crawl.extraction.canonical_lines import PlacedLines, html_lines
from incremental_crawl.semantics.noise import Mask, apply, learn, shared
from tests.extraction.noisy_page import Furniture, Wrap, as_paragraphs, as_pre, as_sections, prose

Load: TypeAlias = Callable[[], PlacedLines]

WRAPS = (as_pre, as_paragraphs, as_sections)
NAMES = tuple(f"page {number}" for number in range(24))
FURTHER_FETCHES = 3


def lines_of(body: bytes) -> PlacedLines:
    return html_lines(LexborHTMLParser(body))


def equal_under(mask: Mask, old: PlacedLines, new: PlacedLines) -> bool:
    return apply(mask, old.lines, old.paths) == apply(mask, new.lines, new.paths)


def learnt(known: Mask, first: PlacedLines, second: PlacedLines) -> Mask:
    return learn(first.lines, first.paths, second.lines, second.paths, known=known)


def judged(old: PlacedLines, new: PlacedLines, mask: Mask, load: Load, further: int) -> tuple[bool, Mask]:
    """Whether the page changed, and its mask: one second fetch, then `further` ones while it still looks changed."""
    loads = [new]
    while not equal_under(mask, old, new):
        if len(loads) > further + 1:
            return True, mask
        another = load()
        for earlier in loads:
            mask = learnt(mask, earlier, another)
        loads.append(another)
    return False, mask


def edits(text: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """The text with one small edit of each kind."""
    lines = text.split("\n")
    at = draw.choice([index for index, line in enumerate(lines) if len(line.split()) > 3])
    words = lines[at].split()
    words[draw.randrange(len(words))] = "zebra"
    yield "word", "\n".join([*lines[:at], " ".join(words), *lines[at + 1 :]])
    number = draw.choice(list(re.finditer(r"\d+", text)))
    yield "number", f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"
    yield "inserted line", "\n".join([*lines[:at], "one line more", *lines[at:]])
    yield "deleted line", "\n".join([*lines[:at], *lines[at + 1 :]])
    yield "appended paragraph", f"{text}\n\nA paragraph was appended."


@pytest.mark.parametrize("wrap", WRAPS)
def test_noise_alone_is_no_change(wrap: Wrap) -> None:
    for name in NAMES:
        draw = random.Random(name)
        load = partial(_load, Furniture(name, wrap), prose(name), draw)
        changed, _ = judged(load(), load(), Mask(), load, FURTHER_FETCHES)
        assert not changed, name


@pytest.mark.parametrize("wrap", WRAPS)
def test_every_small_edit_is_a_change_with_a_fresh_mask_and_with_an_old_one(wrap: Wrap) -> None:
    for name in NAMES:
        draw = random.Random(name)
        furniture, text = Furniture(name, wrap), prose(name)
        old, again = (_load(furniture, text, draw) for _ in range(2))
        mask = learnt(Mask(), old, again)
        for kind, edited in edits(text, draw):
            load = partial(_load, furniture, edited, draw)
            assert not equal_under(mask, old, load()), (name, kind)
            assert judged(old, load(), mask, load, FURTHER_FETCHES)[0], (name, kind)


def test_one_second_fetch_settles_all_but_loads_that_agree_by_chance() -> None:
    invented = sum(_looks_changed(name, Mask(), further=0) for name in NAMES)
    assert invented <= len(NAMES) // 4
    assert sum(_looks_changed(name, Mask(), further=FURTHER_FETCHES) for name in NAMES) == 0


def test_masks_of_other_pages_spare_further_fetches() -> None:
    masks = []
    for name in (f"other {number}" for number in range(12)):
        load = partial(_load, Furniture(name, as_paragraphs), prose(name), random.Random(name))
        masks.append(learnt(Mask(), load(), load()))
    alone = sum(_looks_changed(name, Mask(), further=0) for name in NAMES)
    helped = sum(_looks_changed(name, shared(masks), further=0) for name in NAMES)
    assert helped < alone


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_season_of_visits_finds_exactly_the_edits(wrap: Wrap) -> None:
    draw = random.Random("season")
    texts = {name: prose(name) for name in NAMES}
    pages = {name: Furniture(name, wrap) for name in NAMES}
    held = {name: (_load(pages[name], texts[name], draw), Mask()) for name in NAMES}
    for _ in range(6):
        edited = set(draw.sample(NAMES, 2))
        for name in edited:
            texts[name] = draw.choice(list(edits(texts[name], draw)))[1]
        found = set()
        for name in NAMES:
            old, mask = held[name]
            load = partial(_load, pages[name], texts[name], draw)
            new = load()
            changed, mask = judged(old, new, mask, load, FURTHER_FETCHES)
            held[name] = new, mask
            found |= {name} if changed else set()
        assert found == edited


def _looks_changed(name: str, known: Mask, further: int) -> bool:
    load = partial(_load, Furniture(name, as_paragraphs), prose(name), random.Random(f"chance {name}"))
    return judged(load(), load(), known, load, further)[0]


def _load(furniture: Furniture, text: str, draw: random.Random) -> PlacedLines:
    return lines_of(furniture.load(text, draw))
