"""What is printed in a book, as a pure function of its number: number 0 to 199 open the shop, later ones follow."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from incremental_crawl.origin.bookshop import words

OPENING_STOCK = 200
_TITLE_FORMS = 4
_TITLES = _TITLE_FORMS * len(words.ADJECTIVES) * len(words.NOUNS)
_STRIDE = 1237  # coprime to the number of titles, so that neighbours differ and no title comes twice
_FIRST_PUBLISHED = date(1962, 1, 8)


@dataclass(frozen=True, slots=True)
class Book:
    """The facts about a book that never change. `list_price` is in pence."""

    number: int
    title: str
    author: str
    publisher: str
    published: date
    pages: int
    list_price: int
    tags: tuple[str, ...]

    @property
    def sku(self) -> str:
        """The shop's own article number."""
        return f"BK-{10_000 + self.number}"

    def slug(self, edition: int) -> str:
        """The last part of the page's address; each rename takes the next `edition`."""
        if edition == 0:
            return slugged(self.title)
        suffix = "" if edition == 1 else f"-{edition}"
        return slugged(f"{self.title} by {self.author}") + suffix


def slugged(text: str) -> str:
    """Lower-case ASCII words joined by hyphens."""
    plain = unicodedata.normalize("NFKD", text.replace("ø", "o")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


@lru_cache(maxsize=4096)
def book(number: int) -> Book:
    """The book with this number."""
    chance = random.Random(f"book {number}")
    return Book(
        number=number,
        title=title(number),
        author=f"{chance.choice(words.FIRST_NAMES)} {chance.choice(words.LAST_NAMES)}",
        publisher=chance.choice(words.PUBLISHERS),
        published=_FIRST_PUBLISHED + timedelta(days=chance.randrange(20_000)),
        pages=chance.randrange(96, 620),
        list_price=chance.randrange(6, 32) * 100 + chance.choice((49, 95, 99)),
        tags=tuple(chance.sample(words.TAGS, chance.randrange(2, 5))),
    )


def title(number: int) -> str:
    """The title, unlike that of any other book among the first few thousand."""
    rest, form = divmod(number * _STRIDE % _TITLES, _TITLE_FORMS)
    second, first = divmod(rest, len(words.ADJECTIVES))
    adjective, noun, place = words.ADJECTIVES[first], words.NOUNS[second], words.PLACES[first]
    article = "An" if noun[0] in "AEIO" else "A"
    forms = (
        f"The {adjective} {noun}",
        f"{article} {noun} in {place}",
        f"The {noun} of {place}",
        f"{adjective} {noun}, {place}",
    )
    return forms[form]


def opening_category(number: int) -> str:
    """The shelf on which a book of the opening stock stands; twenty books on each."""
    return words.CATEGORIES[number % len(words.CATEGORIES)]


def description(number: int, revision: int) -> tuple[str, ...]:
    """The paragraphs of the blurb; each revision words the note on the edition anew and leaves the rest alone."""
    chance = random.Random(f"blurb {number}")
    opening, closing = chance.choice(words.OPENINGS), chance.choice(words.CLOSINGS)
    middle = " ".join(chance.sample(words.MIDDLES, 3))
    note = words.EDITION_NOTES[(chance.randrange(7) + revision) % len(words.EDITION_NOTES)]
    name, place = chance.choice(words.FIRST_NAMES), chance.choice(words.PLACES)
    return (opening.format(name=name, place=place), middle, f"{closing} {note}".format(name=name, place=place))


def reviews(number: int) -> tuple[tuple[str, int, str], ...]:
    """What readers said: name, stars from 3 to 5, sentence."""
    chance = random.Random(f"reviews {number}")
    sentences = chance.sample(words.REVIEWS, 3)
    return tuple((chance.choice(words.FIRST_NAMES), chance.randrange(3, 6), sentence) for sentence in sentences)


def price_after(number: int, price: int, chance: random.Random) -> int:
    """Another price in pence, always near the list price, so that no number of changes ruins the shop."""
    anchor = book(number).list_price
    choices = [round(anchor * percent / 100) for percent in (75, 80, 85, 90, 95, 100, 105, 110, 115)]
    return chance.choice([choice for choice in choices if choice != price])


def opening_copies(number: int) -> int:
    """Copies on the shelf at first; one book in ten is sold out."""
    chance = random.Random(f"copies {number}")
    return 0 if chance.random() < 0.1 else chance.randrange(1, 25)
