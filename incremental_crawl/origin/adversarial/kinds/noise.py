"""Pages whose bytes differ at every request while the page does not."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import verbatim
from incremental_crawl.origin.adversarial.say import answer, html

behaviour = Declaring(Kind.NOISE)
_HASHED = "new same_hash same_hash changed same_hash same_hash"
_QUIET = "No event before the edit, and the edit once."
_SEVERAL = {f"/page{number}": "v1 v1 v1 v2" for number in range(1, 4)}


@behaviour(_QUIET,
           "Hash what is extracted, not the bytes", None, outcomes=_HASHED)  # fmt: skip
def tokens_and_nonces(asked: Asked) -> Script:
    """Has tokens, nonces, stamped asset addresses and comments that are new with every load."""
    token = f"{asked.random.getrandbits(64):016x}"
    parts = (
        f'<form action=/s><input type=hidden name=csrf value="{token}"><input name=q></form>'
        f'<script nonce="{token}">var state = {{"now": "{token}"}}</script><!-- node {token[:4]} in {token[4:6]} ms -->'
        f'<img src="/logo.png?v={token[:8]}" alt="">'
    )
    page = html(asked, inside=parts, head=f'<meta name=csrf-token content="{token}">')
    return answer(asked, 200, page, f'ETag: "{token}"', f"Set-Cookie: session={token}")


@behaviour(_QUIET,
           "Hash what is extracted, not the bytes", _SEVERAL, outcomes=_HASHED)  # fmt: skip
def counters_and_clocks(asked: Asked) -> Script:
    """Shows the number of views, the time of the request and how long ago things were."""
    number = asked.random.randrange(1_000, 9_000)
    parts = f"<p>Views: {number}</p><p>Updated {number % 50 + 2} minutes ago</p>"
    page = html(asked, inside=parts).replace(
        "</body>", f"<footer><p>Generated at {number % 24:02}:{number % 60:02} in 0.{number} s</p></footer></body>"
    )
    return answer(asked, 200, page)


@behaviour(_QUIET,
           "Two loads of one moment tell noise from change", _SEVERAL, outcomes=_HASHED)  # fmt: skip
def quotation_of_the_load(asked: Asked) -> Script:
    """Shows another quotation and another advertisement with every load."""
    words = "lantern violet anchor feather maple copper walnut saffron".split()
    quote = " ".join(asked.random.choice(words) for _ in range(7))
    parts = f"<aside class=ad><p>Buy {asked.random.choice(words)} now</p></aside><blockquote>{quote}</blockquote>"
    return answer(asked, 200, html(asked, inside=parts))


@behaviour(_QUIET,
           "HTML Standard: attribute order and line ends mean nothing", None, verbatim(), outcomes=_HASHED)  # fmt: skip
def markup_is_reshuffled(asked: Asked) -> Script:
    """Writes attributes in another order and line ends in another form with every load."""
    pairs = ['href="/a"', 'class="x y"', "title='see'", "rel=next"]
    asked.random.shuffle(pairs)
    page = html(asked, inside=f"<a {' '.join(pairs)}>onwards</a>")
    return answer(asked, 200, page.replace("\n", "\r\n") if asked.random.random() < 0.5 else page)
