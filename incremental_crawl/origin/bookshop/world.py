"""The state of the shop at a step, as a pure function: step 0 is the opening, every later step is one busy morning.

Each step changes six prices, one description and three stocks, takes away two books (one address answers 404, one 410
for ever), renames one address for good and adds one new book; from step 2 on the book that vanished with a 404 one step
earlier comes back. All but the comeback happen on four shelves of ten, each to another book, so that about two hundred
books stay and the rest of the shop is quiet.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property, lru_cache

from incremental_crawl.origin.bookshop import catalogue, words

OPENED_AT = datetime(2019, 1, 7, 6, 0, tzinfo=UTC)
STEP_LENGTH = timedelta(hours=6)
BUSY_SHELVES = 4
PRICE_CHANGES = 6
STOCK_CHANGES = 3


class EventKind(StrEnum):
    """What can happen to a book."""

    PRICE = "price"
    DESCRIPTION = "description"
    STOCK = "stock"
    VANISHED = "vanished"
    WITHDRAWN = "withdrawn"
    RETURNED = "returned"
    RENAMED = "renamed"
    ARRIVED = "arrived"


# What a category page does not show does not change it.
UNLISTED_CHANGES = frozenset({EventKind.DESCRIPTION, EventKind.STOCK})


@dataclass(frozen=True, slots=True)
class BookState:
    """A book in the shop at some step. `price` is in pence; `gone` is None, 404 or 410."""

    number: int
    category: str
    price: int
    stock: int
    revision: int = 0
    edition: int = 0
    changed_at: int = 0
    gone: int | None = None

    @property
    def facts(self) -> catalogue.Book:
        """What never changes about the book."""
        return catalogue.book(self.number)

    @property
    def path(self) -> str:
        """The address of its page."""
        return f"/book/{self.facts.slug(self.edition)}"

    @property
    def former_paths(self) -> tuple[str, ...]:
        """Addresses that it once had, oldest first."""
        return tuple(f"/book/{self.facts.slug(edition)}" for edition in range(self.edition))

    @property
    def last_modified(self) -> datetime:
        """When its page last changed, by the shop's own calendar."""
        if self.changed_at == 0:
            return OPENED_AT - timedelta(days=self.number * 37 % 300 + 1, minutes=self.number * 7 % 540)
        return moment(self.changed_at)


@dataclass(frozen=True, slots=True)
class Event:
    """What a step did to one book. `path` is the address after the step, `old_path` the one before it."""

    kind: EventKind
    number: int
    category: str
    path: str
    old_path: str


@dataclass(frozen=True)
class World:
    """The whole shop at one step: `books` by number, gone ones included; `events` of this step alone."""

    step: int
    books: Mapping[int, BookState]
    events: tuple[Event, ...] = ()
    shelf_changed_at: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def at(cls, step: int) -> World:
        """The world at a step; ValueError below 0."""
        if step < 0:
            raise ValueError(f"the bookshop opens at step 0, there is no step {step}")
        return _world_at(step)

    @cached_property
    def live(self) -> tuple[BookState, ...]:
        """The books that have a page, by number."""
        return tuple(state for state in self.books.values() if state.gone is None)

    @cached_property
    def by_path(self) -> Mapping[str, BookState]:
        """Every book by its address, gone ones included."""
        return {state.path: state for state in self.books.values()}

    @cached_property
    def renamed(self) -> Mapping[str, BookState]:
        """Former addresses of the books that were renamed."""
        return {path: state for state in self.books.values() for path in state.former_paths}

    @property
    def at_moment(self) -> datetime:
        """The moment of this step by the shop's calendar."""
        return moment(self.step)

    def shelf(self, category: str) -> tuple[BookState, ...]:
        """The live books of one category, by title."""
        return tuple(sorted((state for state in self.live if state.category == category), key=lambda s: s.facts.title))

    def newest(self, count: int) -> tuple[BookState, ...]:
        """The latest arrivals, newest first."""
        return tuple(reversed(self.live[-count:]))

    def recently_changed(self, count: int) -> tuple[BookState, ...]:
        """The live books whose pages changed last, newest first."""
        return tuple(sorted(self.live, key=lambda s: (s.last_modified, s.number), reverse=True)[:count])


def moment(step: int) -> datetime:
    """The shop's calendar: a step is six hours, all of them long ago."""
    return OPENED_AT + step * STEP_LENGTH


@lru_cache(maxsize=64)
def _world_at(step: int) -> World:
    world = _opening()
    for number in range(1, step + 1):
        world = _next(world, number)
    return world


@lru_cache(maxsize=1)
def _opening() -> World:
    return World(
        0, {number: _fresh(number, catalogue.opening_category(number), 0) for number in range(catalogue.OPENING_STOCK)}
    )


def _fresh(number: int, category: str, step: int) -> BookState:
    price, copies = catalogue.book(number).list_price, catalogue.opening_copies(number)
    return BookState(number, category, price, copies, changed_at=step)


def _next(before: World, step: int) -> World:
    morning = _Morning(before, step)
    returning = [state for state in before.books.values() if state.gone == 404]
    morning.change_prices(morning.take(PRICE_CHANGES))
    morning.edit_description(morning.take_one())
    morning.change_stocks(morning.take(STOCK_CHANGES))
    morning.rename(morning.take_one())
    morning.remove(morning.take_one(), 404)
    withdrawn = morning.remove(morning.take_one(), 410)
    morning.welcome_back(returning)
    morning.arrive(max(before.books) + 1, withdrawn.category)
    return morning.over()


class _Morning:
    """One step under way: draws books that nothing has happened to yet and collects what becomes of them."""

    def __init__(self, before: World, step: int) -> None:
        self._before = before
        self._step = step
        self._chance = random.Random(f"step {step}")
        shelves = set(self._chance.sample(words.CATEGORIES, BUSY_SHELVES))
        self._untouched = [state for state in before.live if state.category in shelves]
        self._chance.shuffle(self._untouched)
        self._books = dict(before.books)
        self._shelves = dict(before.shelf_changed_at)
        self._events: list[Event] = []

    def take(self, count: int) -> list[BookState]:
        taken, self._untouched = self._untouched[:count], self._untouched[count:]
        return taken

    def take_one(self) -> BookState:
        return self.take(1)[0]

    def change_prices(self, states: Iterable[BookState]) -> None:
        for state in states:
            price = catalogue.price_after(state.number, state.price, self._chance)
            self._record(EventKind.PRICE, state, replace(state, price=price))

    def edit_description(self, state: BookState) -> None:
        self._record(EventKind.DESCRIPTION, state, replace(state, revision=state.revision + 1))

    def change_stocks(self, states: Iterable[BookState]) -> None:
        for position, state in enumerate(states):
            sells_out = position == 0 and state.stock > 0
            stock = 0 if sells_out else self._chance.choice([n for n in range(1, 25) if n != state.stock])
            self._record(EventKind.STOCK, state, replace(state, stock=stock))

    def rename(self, state: BookState) -> None:
        self._record(EventKind.RENAMED, state, replace(state, edition=state.edition + 1))

    def remove(self, state: BookState, status: int) -> BookState:
        kind = EventKind.VANISHED if status == 404 else EventKind.WITHDRAWN
        self._record(kind, state, replace(state, gone=status))
        return state

    def welcome_back(self, states: Iterable[BookState]) -> None:
        for state in states:
            self._record(EventKind.RETURNED, state, replace(state, gone=None))

    def arrive(self, number: int, category: str) -> None:
        fresh = _fresh(number, category, self._step)
        self._record(EventKind.ARRIVED, fresh, fresh)

    def _record(self, kind: EventKind, before: BookState, after: BookState) -> None:
        self._books[after.number] = replace(after, changed_at=self._step)
        self._events.append(Event(kind, after.number, after.category, after.path, before.path))
        if kind not in UNLISTED_CHANGES:
            self._shelves[after.category] = self._step

    def over(self) -> World:
        return World(self._step, self._books, tuple(self._events), self._shelves)
