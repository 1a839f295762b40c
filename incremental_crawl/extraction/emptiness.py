"""What is said of a page without text."""

from __future__ import annotations

NO_TEXT = "empty: the page has no visible text"
_ADVICE = (
    "the page's text is made by scripts, which are not run: crawl the address that its data comes from, or a version "
    "of the page for readers without scripts"
)


def no_text(scripts: bool) -> str:
    """The fault of a page without visible text; one that has scripts gets advice."""
    return f"{NO_TEXT}; {_ADVICE}" if scripts else NO_TEXT
