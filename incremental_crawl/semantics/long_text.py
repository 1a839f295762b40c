"""Long texts cut so that the place where two of them differ is still in view."""

from __future__ import annotations

CUT = "…"
_BEFORE_CHARACTERS = 200


def shortened(text: str, limit: int) -> str:
    """The first `limit` characters, with `…` where there were more."""
    return text if len(text) <= limit else text[:limit] + CUT


def shortened_pair(old: str, new: str, limit: int) -> tuple[str, str]:
    """Both texts as they are if neither is longer than `limit`; else `limit` characters of each.

    What is shown begins up to 200 characters before the first difference, `…` stands for what is left out.
    """
    if max(len(old), len(new)) <= limit:
        return old, new
    start = max(_common_prefix(old, new) - _BEFORE_CHARACTERS, 0)
    head = CUT if start else ""
    return head + shortened(old[start:], limit), head + shortened(new[start:], limit)


def _common_prefix(old: str, new: str) -> int:
    """The length of the equal start, by halving: comparing slices is far faster than comparing characters."""
    equal, end = 0, min(len(old), len(new))
    while equal < end:
        middle = (equal + end + 1) // 2
        if old[equal:middle] == new[equal:middle]:
            equal = middle
        else:
            end = middle - 1
    return equal
