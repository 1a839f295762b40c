"""Plain or reStructuredText-like text inside the furniture of a real page, part of which differs on every load."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.])\1{2,}$")
_CITIES = ("Bergen", "Gdansk", "Izmir", "Leeds", "Porto", "Quito", "Turku", "Zagreb")


@dataclass(frozen=True, slots=True)
class Furniture:
    """What surrounds a text on one load."""

    nonce: str
    csrf: str
    buster: str
    views: str
    minutes: int
    city: str
    generated_ms: str
    related: tuple[str, ...]


QUIET = Furniture("0" * 24, "0" * 32, "0" * 8, "1,000", 5, "Leeds", "12.0", ())


def draw(chance: random.Random, pages: Sequence[str]) -> Furniture:
    """Furniture for one load; the related links come from all pages."""
    return Furniture(
        nonce=f"{chance.getrandbits(96):024x}",
        csrf=f"{chance.getrandbits(128):032x}",
        buster=f"{chance.getrandbits(32):08x}",
        views=f"{chance.randrange(1_000, 99_000):,}",
        minutes=chance.randrange(2, 59),
        city=chance.choice(_CITIES),
        generated_ms=f"{chance.randrange(40, 990) / 10:.1f}",
        related=tuple(chance.sample(pages, min(5, len(pages)))),
    )


def wrap(title: str, article: str, around: Furniture) -> bytes:
    """A whole page in UTF-8 around an article in HTML."""
    related = "".join(f'<li><a href="/pages/{page}">{page}</a></li>' for page in around.related)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<link rel="stylesheet" href="/static/page.css?v={around.buster}">'
        f'<meta name="csrf-token" content="{around.csrf}">\n'
        f'<script nonce="{around.nonce}">window.page={{token:"{around.csrf}"}}</script></head>\n<body>\n'
        f'<header><a href="/?_={around.buster}">Documents</a>'
        '<nav><ul><li><a href="/">Contents</a></li><li><a href="/help">Help</a></li></ul></nav></header>\n'
        f'<p class="visitors">Viewed {around.views} times. Someone from {around.city} was here '
        f"{around.minutes} minutes ago.</p>\n<main><article>\n{article}\n</article></main>\n"
        f'<section class="next"><h3>Other pages</h3><ul>{related}</ul></section>\n'
        f'<form method="post" action="/feedback"><input type="hidden" name="csrf" value="{around.csrf}">'
        "<button>This page helped me</button></form>\n"
        f"<footer>Page generated in {around.generated_ms} ms</footer>\n</body></html>\n"
    ).encode()


def article(title: str, text: str) -> str:
    """The text as HTML: all of it is visible but white space and the lines under headings."""
    blocks = [block for block in re.split(r"\n\s*\n", text.strip("\n")) if block.strip()]
    return "\n".join([f"<h1>{escape(title)}</h1>", *(_block(block) for block in blocks)])


def _block(block: str) -> str:
    lines = block.split("\n")
    if len(lines) == 2 and _UNDERLINE.match(lines[1].strip()):
        return f"<h2>{escape(lines[0])}</h2>"
    if all(line.startswith((" ", "\t")) for line in lines):
        return f"<pre>{escape(block)}</pre>"
    if all(re.match(r"[A-Z][\w-]*: |\s", line) for line in lines):
        return "<p>" + "<br>\n".join(escape(line) for line in lines) + "</p>"
    return f"<p>{escape(block)}</p>"
