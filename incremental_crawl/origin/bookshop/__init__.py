"""The demo bookshop: a shop of about two hundred books whose world is a pure function of a step."""

from incremental_crawl.origin.bookshop.shop import DEFAULT_PORT, Bookshop
from incremental_crawl.origin.bookshop.step_file import StepFile
from incremental_crawl.origin.bookshop.world import Event, EventKind, World

__all__ = ["DEFAULT_PORT", "Bookshop", "Event", "EventKind", "StepFile", "World"]
