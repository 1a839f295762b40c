"""Addresses that need no work, recognised by regular expressions that Python and RE2 read alike.

Nearly all addresses that sites list are canonical already, on one of the site's hosts, and carry no mark to remove. A
set-based engine tells these apart a hundred times faster than each can be parsed; the others are parsed.
"""

from __future__ import annotations

from collections.abc import Iterable

from incremental_crawl.semantics.urls import InvalidUrl, canonical_url

_ESCAPED = "%(?:2[0-9A-DF]|[013-9A-F][0-9A-F])"  # not %2E, a dot: two of them are a segment that is resolved
_FIRST, _FURTHER = "A-Za-z0-9_~!$&'()*+,;=:@-", "A-Za-z0-9_~!$&'()*+,;=:@.-"
_SEGMENT = f"(?:[{_FIRST}]|{_ESCAPED})[{_FURTHER}]*(?:{_ESCAPED}[{_FURTHER}]*)*"
_NAME, _VALUE = "A-Za-z0-9_.~!$()*,;:@/?-", "A-Za-z0-9_.~!$()*,;:@/?=+-"
_PARAMETER = f"[{_NAME}]*(?:=[{_VALUE}]*(?:%[0-9A-F]{{2}}[{_VALUE}]*)*)?"
_TARGET = rf"(?:/(?:{_SEGMENT})?)+(?:\?{_PARAMETER}(?:&{_PARAMETER})*)?"
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def plain_on(hosts: Iterable[str]) -> str | None:
    """What the whole of an address matches only if it is canonical and on one of `hosts` (`host:port`).

    None where no host can be recognised: those that are no canonical `host:port` under both schemes cannot.
    """
    known = [_literal(host) for host in sorted(hosts) if _is_canonical(host)]
    return rf"^https?://(?:{'|'.join(known)}){_TARGET}$" if known else None


def marked(names: Iterable[str], ignore_case: bool) -> str | None:
    """What is found in every plain address from which parameters of these names could be removed, `*` any characters.

    None without names. A path that has parameters or brackets, where session ids stand too, is found as well.
    """
    expressions = ["[^=&]*".join(map(_literal, name.split("*"))) for name in names]
    if not expressions:
        return None
    return rf"{'(?i)' if ignore_case else ''}^[^?]*[;(]|[?&](?:{'|'.join(expressions)})(?:[=&]|$)"


def _is_canonical(host: str) -> bool:
    try:
        return all(canonical_url(f"{scheme}://{host}/") == f"{scheme}://{host}/" for scheme in ("http", "https"))
    except InvalidUrl:
        return False


def _literal(text: str) -> str:
    """An expression that matches the text and, of addresses, which are ASCII, no other."""
    return "".join(letter if letter in _WORD else f"\\x{min(ord(letter), 127):02x}" for letter in text)
