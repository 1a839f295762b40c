"""Where on a page a line stands, as numbers that are the same in every process and on every load."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big br button cite code data del dfn em font i img input ins kbd label mark meter output"
    " picture progress q ruby s samp select small span strike strong sub sup time tt u var wbr".split()
)
_ITEMS = frozenset("li p td th dd dt h1 h2 h3 h4 h5 h6 option figcaption pre summary legend caption blockquote".split())
# Names that a build or a load makes up: css-1x2y3z, sc-bdVaJa, Button_root__a1B2c, item-4711.
_MADE_UP = re.compile(r"^(?:css|sc|jss|svelte|astro|emotion)-\w+|__\w{5,}$|[0-9a-f]*\d[\w]*", re.IGNORECASE)


class Place(NamedTuple):
    """An element: the hash of its own path, that of the container its lines belong to, and both as one number.

    `path` goes with a line: 31 bits of container above 32 bits of element, never negative.
    """

    element: int
    container: int
    path: int


def child_place(parent: Place, tag: str, classes: str, identity: str) -> Place:
    """The place of an element under `parent`, from its tag name, class attribute and id ("" where absent).

    Items (list items, cells, paragraphs, headings) belong to their parent, inline elements to their parent's
    container, other elements are a container of their own.
    """
    name = f"{parent.element}>{tag}.{_lasting(classes)}#{_lasting(identity)}"
    element = int.from_bytes(blake2b(name.encode("utf-8", "replace"), digest_size=4).digest(), "big")
    if tag in _INLINE:
        return _place(element, parent.container)
    return _place(element, parent.element if tag in _ITEMS else element)


def _place(element: int, container: int) -> Place:
    container &= 0x7FFFFFFF
    return Place(element, container, container << 32 | element)


def _lasting(names: str) -> str:
    """Class names without the parts that change from load to load, sorted."""
    return " ".join(sorted({_MADE_UP.sub("0", name) for name in names.split()})) if names else ""


BODY = child_place(Place(0, 0, 0), "body", "", "")
