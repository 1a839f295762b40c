"""The look of the shop: one style sheet, embedded in every page, and the drawings that stand in for book covers."""

from __future__ import annotations

import random
from html import escape

from incremental_crawl.origin.bookshop.catalogue import Book

STYLE_SHEET = """
:root{--ink:#22252b;--soft:#6b7280;--line:#e6e1d8;--paper:#fbf9f5;--card:#fff;--accent:#9a3b26;--good:#2f6f4f;--bad:#a33a3a}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 Georgia,'Iowan Old Style','Times New Roman',serif}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
.wrap{max-width:1080px;margin:0 auto;padding:0 20px}
.masthead{background:var(--card);border-bottom:1px solid var(--line)}
.masthead .wrap{display:flex;align-items:center;gap:24px;min-height:76px;flex-wrap:wrap}
.brand{display:flex;align-items:center;gap:12px;font-size:22px;font-weight:bold;color:var(--ink)}
.brand small{display:block;font-size:12px;font-weight:normal;color:var(--soft);letter-spacing:.04em}
.basket{margin-left:auto;font-size:14px}
.shelves{border-bottom:1px solid var(--line);background:var(--card);font-size:14px}
.shelves ul{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;margin:0;padding:10px 0}
.crumbs{font-size:13px;color:var(--soft);padding:18px 0 0}
h1{font-size:34px;line-height:1.2;margin:8px 0 4px;padding-top:8px}h2{font-size:21px;margin:36px 0 12px}
.product{display:grid;grid-template-columns:minmax(200px,300px) 1fr;gap:40px;padding:12px 0 8px}
.product .cover{width:100%;height:auto;border-radius:4px;box-shadow:0 8px 26px rgba(0,0,0,.18)}
.author{color:var(--soft);font-size:18px;margin:0 0 14px}
.price{font-size:30px;color:var(--accent);margin:0}
.availability{margin:2px 0 16px;font-size:15px}.in-stock{color:var(--good)}.sold-out{color:var(--bad)}
button{font:inherit;font-size:15px;background:var(--accent);color:#fff;border:0;border-radius:4px;
 padding:9px 20px;cursor:pointer}
button[disabled]{background:#b9b2a6;cursor:not-allowed}
.tags{list-style:none;display:flex;flex-wrap:wrap;gap:8px;padding:0;margin:18px 0 0}
.tag{background:#f0ebe1;border-radius:20px;padding:2px 12px;font-size:13px}
.pulse{font-size:13px;color:var(--soft);margin:14px 0 0}
.description{max-width:68ch}.details{border-collapse:collapse;font-size:15px}
.details th{text-align:left;font-weight:normal;color:var(--soft);padding:4px 28px 4px 0}.details td{padding:4px 0}
.review{border-left:3px solid var(--line);padding:2px 16px;margin:0 0 12px}
.review footer{font-size:13px;color:var(--soft)}
.stars{color:#c7922b;letter-spacing:2px}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:26px 20px;
 list-style:none;margin:0;padding:0}
.card img{width:100%;height:auto;border-radius:3px;box-shadow:0 3px 12px rgba(0,0,0,.14);display:block;
 margin-bottom:8px}
.card .name{display:block;color:var(--ink);font-weight:bold;font-size:15px;line-height:1.3}
.card .by{display:block;font-size:13px;color:var(--soft)}.card .amount{display:block;font-size:15px;color:var(--accent)}
.lede{color:var(--soft);max-width:60ch;margin:0 0 20px}
.opened ul{columns:2;padding-left:18px;margin:0}
.newsletter{background:#f3eee4;border-radius:6px;padding:20px 24px;margin:44px 0 0}
.newsletter input[type=email]{font:inherit;font-size:15px;padding:8px 12px;
 border:1px solid var(--line);border-radius:4px}
.foot{border-top:1px solid var(--line);margin-top:44px;padding:20px 0 40px;font-size:13px;color:var(--soft)}
.foot ul{list-style:none;display:flex;gap:20px;padding:0;margin:0 0 8px;flex-wrap:wrap}
@media(max-width:640px){.product{grid-template-columns:1fr}.opened ul{columns:1}}
"""

LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" width="40" height="40">'
    '<rect width="40" height="40" rx="8" fill="#9a3b26"/>'
    '<path d="M8 11c5-2 9-1 12 2 3-3 7-4 12-2v18c-5-2-9-1-12 2-3-3-7-4-12-2z" fill="#fbf9f5"/>'
    '<path d="M20 13v18" stroke="#9a3b26" stroke-width="1.6"/></svg>'
)

_INKS = (
    ("#24425c", "#e8dcc3"),
    ("#6b2d3a", "#f2e3d0"),
    ("#2f5d50", "#efe7d3"),
    ("#8a5a2b", "#fbf1de"),
    ("#40365f", "#e9dff0"),
    ("#3c3c3c", "#f0e6d2"),
)


def cover(facts: Book) -> str:
    """The cover of a book as SVG: an abstract drawing, the title and the author."""
    chance = random.Random(f"cover {facts.number}")
    ground, ink = chance.choice(_INKS)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 360" width="240" height="360">'
        f'<rect width="240" height="360" fill="{ground}"/>{_shapes(chance, ink)}'
        f'<g fill="{ink}" font-family="Georgia,serif" text-anchor="middle">{_title_lines(facts.title)}'
        f'<text x="120" y="330" font-size="14">{escape(facts.author)}</text></g></svg>'
    )


def _shapes(chance: random.Random, ink: str) -> str:
    circles = (
        f'<circle cx="{chance.randrange(20, 220)}" cy="{chance.randrange(150, 290)}" r="{chance.randrange(12, 70)}" '
        f'fill="{ink}" opacity=".{chance.randrange(12, 34)}"/>'
        for _ in range(5)
    )
    return "".join(circles) + f'<path d="M24 140H216" stroke="{ink}" stroke-width="2"/>'


def _title_lines(title: str) -> str:
    lines = [""]
    for word in title.split():
        joined = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= 14 else [*lines, word]
    lines = [line for line in lines if line]
    top = 76 - 13 * (len(lines) - 1)
    return "".join(
        f'<text x="120" y="{top + 28 * n}" font-size="24">{escape(line)}</text>' for n, line in enumerate(lines)
    )
