"""Connections that close, stay silent or drip (RFC 9112 §9)."""

from __future__ import annotations

from collections.abc import Iterator

from incremental_crawl.origin.adversarial.asked import Asked, End, Script, Step
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import bounded, earned
from incremental_crawl.origin.adversarial.say import HTML, head, honest, html

behaviour = Declaring(Kind.NETWORK)
_KEPT = "The old page stands; tried again in the next round; the edit once."
_LATER = "new retry_later not_modified changed not_modified not_modified"
_SEVERAL = {f"/page{number}": "v1 v1 v1 v2" for number in range(1, 5)}


@behaviour("Asked once more on a new connection: every page is there in every round.",
           "RFC 9112 §9.3.1; RFC 9110 §9.2.2", _SEVERAL, *(earned(1, 2, page=page) for page in _SEVERAL))  # fmt: skip
def closes_at_second_request(asked: Asked) -> Script:
    """Keeps each connection open and closes it without a word at the second request."""
    return (End.CLOSE,) if asked.on_connection > 1 else honest(asked, "Connection: keep-alive")


@behaviour("Asked once more on a new connection: every page is there in every round.",
           "RFC 9112 §9.3.1; RFC 9110 §9.2.2", _SEVERAL, *(earned(1, 2, page=page) for page in _SEVERAL))  # fmt: skip
def resets_at_second_request(asked: Asked) -> Script:
    """Resets each connection at its second request."""
    return (End.RESET,) if asked.on_connection > 1 else honest(asked, "Connection: keep-alive")


@behaviour("That 408 answers no request: the page is asked on a new connection.",
           "RFC 9110 §15.5.9; RFC 9112 §9.5", _SEVERAL)  # fmt: skip
def timeout_told_on_idle(asked: Asked) -> Script:
    """Writes a 408 on the idle connection and closes it, as proxies do."""
    late = head(asked, 408, "Content-Length: 0", "Connection: close")
    return honest(asked, "Connection: keep-alive"), 0.02, late, End.CLOSE


@behaviour(_KEPT, "RFC 9112 §9.5; RFC 9110 §9.2.2",
           None, outcomes="new retry_later retry_later changed not_modified not_modified")  # fmt: skip
def closes_at_once(asked: Asked) -> Script:
    """Closes before any byte, at every request of two rounds."""
    return (End.CLOSE,) if asked.round in (1, 2) else honest(asked)


@behaviour(_KEPT, "RFC 9293 §3.5.2", None, earned(2), outcomes=_LATER)
def resets_at_once(asked: Asked) -> Script:
    """Resets before any byte."""
    return (End.RESET,) if asked.round == 1 else honest(asked)


@behaviour("Given up in time; the old page stands.",
           "RFC 9112 §9.5; limits of the client", None, earned(2), bounded(1), outcomes=_LATER)  # fmt: skip
def silence(asked: Asked) -> Script:
    """Accepts the request and stays silent."""
    return (60.0,) if asked.round == 1 else honest(asked)


@behaviour("Given up in time: a deadline for the whole answer.",
           "RFC 9112 §9.5; limits of the client", None, earned(2), bounded(1), outcomes=_LATER)  # fmt: skip
def head_drips(asked: Asked) -> Script:
    """Sends its header section at five bytes a second."""
    return _drip(head(asked, 200, HTML) + b"x" * 1_000) if asked.round == 1 else honest(asked)


@behaviour("Given up in time: a deadline for the whole answer.",
           "RFC 9112 §9.5; limits of the client", None, earned(2), bounded(1),
           outcomes="new retry_later|incomplete not_modified changed not_modified not_modified")  # fmt: skip
def body_drips(asked: Asked) -> Script:
    """Sends its body at five bytes a second."""
    if asked.round != 1:
        return honest(asked)
    body = html(asked).encode()
    return _dripping_body(head(asked, 200, HTML, f"Content-Length: {len(body)}"), body)


def _dripping_body(start: bytes, body: bytes) -> Iterator[Step]:
    yield start
    yield from _drip(body)


def _drip(data: bytes) -> Iterator[Step]:
    for at in range(len(data)):
        yield data[at : at + 1]
        yield 0.2


@behaviour("A slow answer is an answer.",
           "RFC 9112 §9.5", None, earned(1, 2))  # fmt: skip
def body_comes_late(asked: Asked) -> Script:
    """Sends the head at once, and the body after a second's pause."""
    sent = honest(asked)
    end = sent.index(b"\r\n\r\n") + 4
    return sent[:end], 0.4, sent[end:]
