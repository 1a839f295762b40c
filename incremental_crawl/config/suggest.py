"""What a misspelt key or word was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CUTOFF = 0.7


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` most likely misspells, or None. Case, `-` and spaces do not count."""
    by_form = {_form(candidate): candidate for candidate in sorted(candidates)}
    found = get_close_matches(_form(word), by_form, n=1, cutoff=_CUTOFF)
    return by_form[found[0]] if found else None


def _form(word: str) -> str:
    return word.lower().replace("-", "_").replace(" ", "_")
