"""What a line says about the moment of loading is taken out: relative times, load clocks, counters, timings.

Narrow on purpose: only short lines, and only where the words are the whole line or the whole of a part of it between
separators. No rule for dates or hexadecimal numbers: those were measured to hide content.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_LONGEST = 160
_SIGN = "…"
_KEYS = (
    "ago", "just now", "view", "like", "comment", "share", "visit", "hit", "reader", "online", "watching", "download",
    "generated", "rendered", "served", "loaded", "processed", "built", "took", "time", "vor ", "il y a", "hace ",
)  # fmt: skip

_SEPARATORS = re.compile(r"([·•|;()\u2014\u2013]|[,.](?=\s|$))")
_DID = (
    r"(?:(?:last\s+)?(?:updated|posted|published|edited|modified|changed|answered|asked|commented|seen|active|viewed"
    r"|submitted|opened|closed|on)|by\s+[\w.@-]+)[:\s]+"
)
_UNIT = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?)"
_ABOUT = r"(?:(?:about|around|over|almost|nearly|less\s+than|more\s+than)\s+)?"
_COUNTED = (
    r"(?:(?:page\s*)?(?:views?|likes?|comments?|shares?|visits?|visitors?|hits?|readers?|downloads?)|users?\s+online"
    r"|(?:(?:people|users)\s+)?(?:are\s+)?(?:watching|viewing|reading)(?:\s+(?:this|now|page)){0,3}|online(?:\s+now)?)"
)
_NUMBER = r"\d[\d.,\u00a0\u202f]*\s?[kKmM]?"
_CLOCK = r"(?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s*[ap]\.?m\.?)?(?:\s*(?:UTC|GMT|Z))?"
_LOADED = r"(?:(?:this|the)\s+)?(?:(?:page|request|content|site)\s+)?(?:was\s+)?(?:generated|rendered|served|loaded"
_PASSING = re.compile(
    rf"(?P<kept>\s*(?:{_DID})*)(?:{_ABOUT}(?:\d+|an?|one|a\s+few)\s*{_UNIT}\s+ago|just\s+now"
    r"|(?:vor|il\s+y\s+a|hace)\s+\d+\s+\w+)\s*"
    rf"|\s*(?:{_NUMBER}\s*{_COUNTED}|{_COUNTED}\s*[:=]?\s*{_NUMBER})\s*"
    rf"|\s*{_LOADED}|processed|built|took)(?:\s+in)?[:\s]+\d[\d.,]*\s*(?:ms|s|secs?|seconds?|milliseconds?|µs)\s*"
    rf"|\s*(?:(?:(?:current|local|server|page)\s+)?time(?:\s+is)?(?:\s+now)?|{_LOADED})(?:\s+(?:at|on))?)"
    rf"\s*[:=]?\s*{_CLOCK}\s*",
    re.IGNORECASE,
)
_ADDRESSES = ("a <", "img")
_DIGIT = re.compile(r"\d").search


def scrub(lines: list[str], verbatim: Collection[int]) -> None:
    """Replaces in place what passes by itself in short lines; `verbatim` lines, by index, are left alone."""
    candidates = [
        index
        for index, line in enumerate(lines)
        if (_DIGIT(line) or "ago" in line or "now" in line) and len(line) < _LONGEST and line[:3] not in _ADDRESSES
    ]
    page = "\n".join([lines[index] for index in candidates]).lower()
    keys = [key for key in _KEYS if key in page]
    if not keys:
        return
    for index in candidates:
        lowered = lines[index].lower()
        if index not in verbatim and any(key in lowered for key in keys):
            lines[index] = "".join(map(_scrubbed, _SEPARATORS.split(lines[index])))


def _scrubbed(part: str) -> str:
    passing = _PASSING.fullmatch(part)
    return part if passing is None else (passing["kept"] or "") + _SIGN
