"""A page whose furniture differs at every load while its text stays: eighteen kinds of noise, all from one seed."""

from __future__ import annotations

import html
import json
import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

Wrap: TypeAlias = Callable[[str], str]

_WORDS = (
    "quiet river amber signal northern garden copper lantern willow harbour meadow orchard granite velvet thunder"
    " paper window marble forest silver summer winter hollow bridge market castle island valley mirror candle"
).split()
_POOL = 20


def as_pre(text: str) -> str:
    """The whole text in one `pre`."""
    return f"<pre>{html.escape(text)}</pre>"


def as_paragraphs(text: str) -> str:
    """One paragraph for each block of lines, all of them in one element without a class."""
    return "".join(f"<p>{html.escape(block)}</p>\n" for block in text.split("\n\n"))


def as_sections(text: str) -> str:
    """A section for every third block, with a heading, lines joined by `br` and a list."""
    blocks = text.split("\n\n")
    parts = []
    for start in range(0, len(blocks), 3):
        head, *rest = blocks[start : start + 3]
        lines = "".join(f"<li>{html.escape(line)}</li>" for block in rest for line in block.split("\n"))
        parts.append(f'<section><h2>{html.escape(head)}</h2><ul class="plain">{lines}</ul></section>')
    return "\n".join(parts)


def prose(name: str) -> str:
    """A text of some paragraphs with numbers in it, the same for the same name."""
    draw = random.Random(f"prose {name}")
    return "\n\n".join(
        "\n".join(_line(draw) for _ in range(draw.randrange(2, 7))) for _ in range(draw.randrange(4, 20))
    )


def _line(draw: random.Random) -> str:
    words = draw.choices(_WORDS, k=draw.randrange(5, 12))
    return f"{' '.join(words).capitalize()} {draw.randrange(2, 2000)}"


class Furniture:
    """The surroundings of one page; `load` gives the page as one request would see it."""

    def __init__(self, name: str, wrap: Wrap) -> None:
        self._name = name
        self._wrap = wrap
        fixed = random.Random(name)
        self._pool = [f"{fixed.choice(_WORDS)} {fixed.choice(_WORDS)} {number}" for number in range(_POOL)]
        self._titles = [" ".join(fixed.sample(_WORDS, 4)) for _ in range(_POOL)]
        self._quotes = [" ".join(fixed.choices(_WORDS, k=9 + fixed.randrange(4))) + "." for _ in range(40)]

    def load(self, text: str, draw: random.Random) -> bytes:
        """The page around `text`, its noise taken from `draw`."""
        parts = [
            self._head(draw),
            f"<!-- served by web-{draw.randrange(90)} -->",
            f'<body class="page n{draw.randrange(10**6)}">',
            self._navigation(draw),
            f"<h1>{html.escape(self._name)}</h1>",
            self._byline(draw),
            f"<main>{self._wrap(text)}{self._share(draw)}</main>",
            self._advice(draw),
            self._related(draw),
            self._footer(draw),
            "</body></html>",
        ]
        return "\n".join(parts).encode()

    def _head(self, draw: random.Random) -> str:
        state = json.dumps({"now": draw.random(), "user": _hex(draw)})
        scripts = "".join(f'<script nonce="{_hex(draw)}">var x = {draw.random()};</script>' for _ in range(3))
        return (
            f'<html><head><title>{html.escape(self._name)}</title><meta name="csrf-token" content="{_hex(draw)}">'
            f'<link rel="stylesheet" href="/site.css?v={_hex(draw)}">{scripts}'
            f'<script type="application/json" id="state">{state}</script></head>'
        )

    def _navigation(self, draw: random.Random) -> str:
        entries = [f'<li><a href="/{word}/">{word.title()}</a></li>' for word in _WORDS[:9]]
        draw.shuffle(entries)
        return f"<nav><ul>{''.join(entries)}</ul></nav>"

    def _byline(self, draw: random.Random) -> str:
        return (
            f'<form><input type="hidden" name="csrf" value="{_hex(draw)}"></form>'
            f"<p>Views: {draw.randrange(10**6):,}</p><p>{draw.randrange(1, 60)} minutes ago</p>"
            f"<div>Visitor number <b>{draw.randrange(10**6)}</b> of today</div>"
            f'<div class="mail"><a data-cfemail="{_hex(draw)}" href="/mail#{_hex(draw)}">[email]</a></div>'
        )

    def _share(self, draw: random.Random) -> str:
        return (
            f'<p><a href="/print?page=1&amp;_={draw.randrange(10**9)}">Print</a>'
            f'<a href="/login?next=/&amp;state={_hex(draw)}">Log in</a>'
            f'<img src="/logo.png?v={_hex(draw)}"></p>'
        )

    def _advice(self, draw: random.Random) -> str:
        return f"<div><p>{draw.choice(self._quotes)}</p></div><p>{draw.choice(self._quotes)}</p>"

    def _related(self, draw: random.Random) -> str:
        telling = self._links(draw.sample(self._pool, 5))
        silent = self._links(draw.sample(self._pool, 5))
        cards = "".join(
            f'<div><h3>{title}</h3><p>About {title}</p><a href="/c/{title.replace(" ", "-")}">more</a></div>'
            for title in draw.sample(self._titles, 5)
        )
        shuffled = [f"<li>{word}</li>" for word in _WORDS[10:17]]
        draw.shuffle(shuffled)
        return (
            f'<div class="related"><h3>Related</h3><ul>{telling}</ul></div>'
            f"<div><h3>See these</h3><ul>{silent}</ul></div><div>{cards}</div><ol>{''.join(shuffled)}</ol>"
        )

    def _links(self, names: Sequence[str]) -> str:
        return "".join(f'<li><a href="/{name.replace(" ", "/")}">{name}</a></li>' for name in names)

    def _footer(self, draw: random.Random) -> str:
        banner = "<div><p>Our summer sale is on</p></div>" if draw.random() < 0.3 else ""
        return (
            f"{banner}<footer><p>Generated in {draw.randrange(5, 90)} ms</p>"
            f"<p>It is {draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}"
            f" at web{draw.randrange(9)}</p>"
            f"<p>© The site</p></footer>"
        )


def _hex(draw: random.Random) -> str:
    return f"{draw.getrandbits(64):016x}"
