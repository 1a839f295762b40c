"""What differs on every load of a page although nothing has changed: the reason why bytes prove nothing.

A page is written once with holes, and every load fills the holes anew. A hole is its name between two NUL characters,
which no page contains otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from html import escape

from incremental_crawl.origin.bookshop.words import FIRST_NAMES, PLACES
from incremental_crawl.origin.bookshop.world import BookState, World


def hole(name: str) -> str:
    """The mark that stands for a value of `values`."""
    return f"\0{name}\0"


NONCE = hole("nonce")
CSRF = hole("csrf")
CACHE_BUSTER = hole("buster")
REQUEST_ID = hole("request")
VIEWS = hole("views")
WATCHING = hole("watching")
LAST_VISITOR = hole("visitor")
GENERATED_IN = hole("generated")
RELATED = hole("related")
ALSO_OPENED = hole("opened")


def fill(page: str, chosen: Mapping[str, str]) -> str:
    """The page with every hole filled from `chosen`."""
    pieces = page.split("\0")
    pieces[1::2] = [chosen[name] for name in pieces[1::2]]
    return "".join(pieces)


def values(chance: random.Random, world: World) -> Mapping[str, str]:
    """One load's values for all holes; the two lists of books are drawn from the whole shop."""
    drawn = chance.sample(world.live, 10)
    return {
        "nonce": _token(chance),
        "csrf": _token(chance) + _token(chance),
        "buster": f"{chance.getrandbits(40):010x}",
        "request": _token(chance),
        "views": f"{chance.randrange(1_000, 90_000):,}",
        "watching": str(chance.randrange(2, 40)),
        "visitor": _last_visitor(chance),
        "generated": f"{chance.randrange(40, 990) / 10:.1f} ms by web-{chance.randrange(1, 7)}",
        "related": "".join(_related_card(state) for state in drawn[:6]),
        "opened": "".join(f'<li><a href="{s.path}">{escape(s.facts.title)}</a></li>' for s in drawn[6:]),
    }


def _token(chance: random.Random) -> str:
    return f"{chance.getrandbits(96):024x}"


def _last_visitor(chance: random.Random) -> str:
    name, place = chance.choice(FIRST_NAMES), chance.choice(PLACES)
    return f"{name} from {place} looked at this page {chance.randrange(2, 59)} minutes ago"


def _related_card(state: BookState) -> str:
    facts = state.facts
    return (
        f'<li class="card"><a href="{state.path}"><img src="/covers/{facts.sku}.svg" alt="" width="120" height="180">'
        f'<span class="name">{escape(facts.title)}</span></a><span class="by">{escape(facts.author)}</span></li>'
    )
