"""The HTML pages of the shop, written with holes for what differs on every load (see `noise`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from incremental_crawl.origin.bookshop import catalogue, noise
from incremental_crawl.origin.bookshop.catalogue import slugged
from incremental_crawl.origin.bookshop.style import STYLE_SHEET
from incremental_crawl.origin.bookshop.words import CATEGORIES
from incremental_crawl.origin.bookshop.world import BookState, EventKind, World

SHOP_NAME = "The Tidewater Bookshop"
_WELCOME = "We are a small shop with ten shelves. Prices, stock and the shelves themselves move every few hours."
CATEGORY_PATHS = {f"/category/{slugged(name)}": name for name in CATEGORIES}
_PATH_OF_CATEGORY = {name: path for path, name in CATEGORY_PATHS.items()}


@dataclass(frozen=True, slots=True)
class Head:
    """What a page says about itself in its head; `path` is its own address."""

    title: str
    description: str
    path: str
    linked_data: str = ""


def money(pence: int) -> str:
    """A price as the shop writes it."""
    return f"£{pence // 100}.{pence % 100:02d}"


def document(base_url: str, head: Head, main: str) -> str:
    """A whole page around `main`: head, masthead, rotating lists, newsletter form and footer."""
    return (
        f'<!doctype html>\n<html lang="en-GB">\n{_head(base_url, head)}\n<body>\n<!-- request {noise.REQUEST_ID} -->\n'
        f'{_masthead()}\n<div class="wrap">\n<main>\n{main}\n</main>\n{_rotating_lists()}\n{_newsletter()}\n</div>\n'
        f"{_footer()}\n</body>\n</html>\n"
    )


def _head(base_url: str, head: Head) -> str:
    title, description = escape(head.title), escape(head.description)
    return (
        f'<head>\n<meta charset="utf-8">\n<title>{title} | {SHOP_NAME}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="description" content="{description}">\n<meta name="csrf-token" content="{noise.CSRF}">\n'
        f'<meta property="og:site_name" content="{SHOP_NAME}">\n<meta property="og:title" content="{title}">\n'
        f'<link rel="canonical" href="{base_url}{head.path}">\n'
        '<link rel="alternate" type="application/atom+xml" title="New and changed" href="/feed.atom">\n'
        f'<link rel="icon" type="image/svg+xml" href="/static/logo.svg?v={noise.CACHE_BUSTER}">\n'
        f'<style nonce="{noise.NONCE}">{STYLE_SHEET}</style>\n{head.linked_data}</head>'
    )


def _masthead() -> str:
    shelves = "".join(f'<li><a href="{path}">{name}</a></li>' for path, name in CATEGORY_PATHS.items())
    return (
        '<header class="masthead"><div class="wrap"><a class="brand" href="/">'
        f'<img src="/static/logo.svg?v={noise.CACHE_BUSTER}" alt="" width="40" height="40">'
        f"<span>{SHOP_NAME}<small>Two hundred books, chosen by hand</small></span></a>"
        '<a class="basket" href="/basket">Basket (0)</a></div></header>\n'
        f'<nav class="shelves"><div class="wrap"><ul>{shelves}</ul></div></nav>'
    )


def _rotating_lists() -> str:
    return (
        f'<section class="related"><h2>You may also like</h2><ul class="grid">{noise.RELATED}</ul></section>\n'
        f'<section class="opened"><h2>Other readers opened</h2><ul>{noise.ALSO_OPENED}</ul></section>'
    )


def _newsletter() -> str:
    return (
        '<form class="newsletter" method="post" action="/newsletter"><p>One letter a month, no more.</p>'
        f'<input type="hidden" name="csrf" value="{noise.CSRF}">'
        '<input type="email" name="email" placeholder="you@example.org" aria-label="Email">'
        " <button>Subscribe</button></form>"
    )


def _footer() -> str:
    return (
        f'<footer class="foot"><div class="wrap"><ul><li><a href="/about?_={noise.CACHE_BUSTER}">About us</a></li>'
        f'<li><a href="/delivery?_={noise.CACHE_BUSTER}">Delivery</a></li><li><a href="/feed.atom">Feed</a></li></ul>'
        f"<p>A demo shop on your own machine. Nothing here is for sale.</p>"
        f"<p>Page generated in {noise.GENERATED_IN}</p></div></footer>\n"
        f'<script nonce="{noise.NONCE}">window.shop={{token:"{noise.CSRF}",page:"{noise.REQUEST_ID}"}};</script>'
    )


def book_page(base_url: str, state: BookState) -> str:
    """The page of one book."""
    facts = state.facts
    head = Head(
        f"{facts.title} by {facts.author}",
        catalogue.description(state.number, 0)[0],
        state.path,
        _linked_data(base_url, state),
    )
    main = (
        f'{_crumbs(state.category)}\n<article class="product" itemscope itemtype="https://schema.org/Book">\n'
        f'<div><img class="cover" itemprop="image" src="/covers/{facts.sku}.svg" alt="Cover of {escape(facts.title)}"'
        ' width="240" height="360"></div>\n'
        f"<div>{_buy_box(state)}</div>\n</article>\n{_about_the_book(state)}"
    )
    return document(base_url, head, main)


def _crumbs(category: str) -> str:
    return f'<p class="crumbs"><a href="/">Home</a> / <a href="{_PATH_OF_CATEGORY[category]}">{category}</a></p>'


def _buy_box(state: BookState) -> str:
    facts = state.facts
    disabled = "" if state.stock else " disabled"
    tags = "".join(f'<li class="tag">{escape(tag)}</li>' for tag in facts.tags)
    return (
        f'<h1 itemprop="name">{escape(facts.title)}</h1>\n'
        f'<p class="author" itemprop="author">{escape(facts.author)}</p>\n'
        f'<p class="price" itemprop="price">{money(state.price)}</p>\n{_availability(state.stock)}\n'
        f'<form method="post" action="/basket"><input type="hidden" name="csrf" value="{noise.CSRF}">'
        f'<input type="hidden" name="sku" value="{facts.sku}">'
        f"<button{disabled}>Add to basket</button></form>\n"
        f'<ul class="tags">{tags}</ul>\n<p class="pulse">Viewed {noise.VIEWS} times</p>'
        f'<p class="pulse">{noise.WATCHING} people are looking at this now</p><p class="pulse">{noise.LAST_VISITOR}</p>'
    )


def _availability(stock: int) -> str:
    if stock == 0:
        return '<p class="availability sold-out">Sold out (<span class="stock">0</span> available)</p>'
    return f'<p class="availability in-stock">In stock (<span class="stock">{stock}</span> available)</p>'


def _about_the_book(state: BookState) -> str:
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in catalogue.description(state.number, state.revision))
    reviews = "".join(_review(*review) for review in catalogue.reviews(state.number))
    return (
        f'<h2>About this book</h2>\n<div class="description" itemprop="description">{paragraphs}</div>\n'
        f"<h2>Details</h2>\n{_details(state)}\n<h2>What readers say</h2>\n{reviews}"
    )


def _details(state: BookState) -> str:
    facts = state.facts
    published = f'<time class="published" datetime="{facts.published}">{facts.published:%-d %B %Y}</time>'
    rows = (
        ("Article", f'<span class="sku">{facts.sku}</span>'),
        ("Publisher", escape(facts.publisher)),
        ("Published", published),
        ("Pages", str(facts.pages)),
    )
    cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
    return f'<table class="details">{cells}</table>'


def _review(name: str, stars: int, sentence: str) -> str:
    return (
        f'<blockquote class="review"><span class="stars">{"★" * stars}</span> {escape(sentence)}'
        f"<footer>{escape(name)}</footer></blockquote>"
    )


def _linked_data(base_url: str, state: BookState) -> str:
    facts = state.facts
    available = "InStock" if state.stock else "OutOfStock"
    offer = {
        "@type": "Offer",
        "price": f"{state.price / 100:.2f}",
        "priceCurrency": "GBP",
        "availability": f"https://schema.org/{available}",
    }
    data = {
        "@context": "https://schema.org",
        "@type": "Book",
        "name": facts.title,
        "author": facts.author,
        "sku": facts.sku,
        "url": base_url + state.path,
        "offers": offer,
    }
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/ld+json" nonce="{noise.NONCE}">{text}</script>\n'


def category_page(base_url: str, world: World, path: str) -> str:
    """The list of one category: title, author and price of each of its books."""
    name = CATEGORY_PATHS[path]
    states = world.shelf(name)
    main = (
        f'<p class="crumbs"><a href="/">Home</a> / {name}</p>\n<h1>{name}</h1>\n'
        f'<p class="lede">{len(states)} books on this shelf.</p>\n{_grid(states)}\n'
        f'<p class="pulse">{noise.LAST_VISITOR}</p>'
    )
    return document(base_url, Head(name, f"All {name.lower()} books of {SHOP_NAME}", path), main)


def _grid(states: Iterable[BookState]) -> str:
    return f'<ul class="grid books">{"".join(_card(state) for state in states)}</ul>'


def _card(state: BookState) -> str:
    facts = state.facts
    return (
        f'<li class="card"><a href="{state.path}"><img src="/covers/{facts.sku}.svg" alt="" width="120" height="180"'
        ' loading="lazy">'
        f'<span class="name">{escape(facts.title)}</span></a><span class="by">{escape(facts.author)}</span>'
        f'<span class="amount">{money(state.price)}</span></li>\n'
    )


def home_page(base_url: str, world: World) -> str:
    """The front page: the latest arrivals and the prices that have just changed."""
    changed = [world.books[event.number] for event in world.events if event.kind is EventKind.PRICE]
    repriced = f"<h2>New prices</h2>\n{_grid(changed)}" if changed else ""
    main = (
        f'<h1>Good morning</h1>\n<p class="lede">{_WELCOME}</p>\n'
        f"<h2>Just arrived</h2>\n{_grid(world.newest(6))}\n{repriced}\n"
        f'<p class="pulse">{noise.WATCHING} people are in the shop now</p>'
    )
    return document(base_url, Head("Home", "A small bookshop with ten shelves", "/"), main)


def text_page(base_url: str, path: str, title: str, paragraphs: Iterable[str]) -> str:
    """A page of plain paragraphs."""
    body = "".join(f"<p>{escape(text)}</p>" for text in paragraphs)
    main = (
        f'<p class="crumbs"><a href="/">Home</a> / {title}</p>\n<h1>{title}</h1>\n<div class="description">{body}</div>'
    )
    return document(base_url, Head(title, f"{title}: {SHOP_NAME}", path), main)
