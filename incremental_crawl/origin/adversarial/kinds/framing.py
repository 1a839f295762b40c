"""Where an answer ends: lengths, chunks, heads (RFC 9112)."""

from __future__ import annotations

from collections.abc import Iterator

from incremental_crawl.origin.adversarial.asked import Asked, End, Script, Step
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import bounded, earned
from incremental_crawl.origin.adversarial.say import HTML, chunked, head, holds, honest, html, ok, tag_of

behaviour = Declaring(Kind.FRAMING)
_TWO = {"/page": "v1 v1 v1 v2", "/next": "v1 v1 v1 v2"}
_KEPT = "The old page stands; tried again in the next round; the edit once."


def _outcomes(second: str) -> str:
    return f"new {second} not_modified changed not_modified not_modified"


def _body(asked: Asked) -> bytes:
    return html(asked).encode()


def _tagged(asked: Asked) -> str:
    return f"ETag: {tag_of(asked)}"


@behaviour(_KEPT, "RFC 9112 §8", None, earned(2),
           outcomes=_outcomes("incomplete"))  # fmt: skip
def length_too_short(asked: Asked) -> Script:
    """Closes in the middle of a body with Content-Length."""
    if asked.round != 1:
        return honest(asked)
    body = _body(asked)
    return head(asked, 200, HTML, 'ETag: "half"', f"Content-Length: {len(body)}") + body[: len(body) // 2], End.CLOSE


@behaviour(_KEPT, "RFC 9112 §8, §7.1", None, earned(2),
           outcomes=_outcomes("incomplete"))  # fmt: skip
def last_chunk_missing(asked: Asked) -> Script:
    """Closes before the last chunk."""
    if asked.round != 1:
        return honest(asked)
    whole = head(asked, 200, HTML, 'ETag: "half"', "Transfer-Encoding: chunked") + chunked(_body(asked))
    return whole[:-5], End.CLOSE


@behaviour(_KEPT, "RFC 9112 §8, §7.1", None, earned(2),
           outcomes=_outcomes("incomplete"))  # fmt: skip
def chunk_cut_off(asked: Asked) -> Script:
    """Closes in the middle of a chunk."""
    if asked.round != 1:
        return honest(asked)
    whole = head(asked, 200, HTML, 'ETag: "half"', "Transfer-Encoding: chunked") + chunked(_body(asked))
    return whole[: len(whole) // 2], End.CLOSE


@behaviour(_KEPT, "RFC 9112 §7.1", None, earned(2),
           outcomes=_outcomes("error|incomplete"))  # fmt: skip
def chunk_size_is_no_number(asked: Asked) -> Script:
    """Sends a chunk size that is no number."""
    if asked.round != 1:
        return honest(asked)
    return head(asked, 200, HTML, "Transfer-Encoding: chunked") + b"xyz\r\n" + _body(asked)[
        :400
    ] + b"\r\n0\r\n\r\n", End.CLOSE


@behaviour(_KEPT, "RFC 9112 §8; RFC 9293 §3.5.2", None, earned(2),
           outcomes=_outcomes("incomplete"))  # fmt: skip
def reset_in_the_body(asked: Asked) -> Script:
    """Resets the connection in the middle of the body."""
    if asked.round != 1:
        return honest(asked)
    body = _body(asked)
    return head(asked, 200, HTML, f"Content-Length: {len(body)}") + body[: len(body) // 2], 0.05, End.RESET


@behaviour("A whole page; the edit once.", "RFC 9112 §6.3 (8)",
           None, earned(1, 2))  # fmt: skip
def ends_by_closing(asked: Asked) -> Script:
    """Speaks HTTP/1.0 and ends each body by closing."""
    if holds(asked, tag_of(asked), None):
        return head(asked, 304, _tagged(asked), version="1.0"), End.CLOSE
    return head(asked, 200, HTML, _tagged(asked), version="1.0") + _body(asked), End.CLOSE


@behaviour("Nobody can tell the first answer from a whole page: two equal ones are needed before it is a change.",
           "RFC 9112 §8", None, outcomes="new retry_later not_modified changed not_modified not_modified")  # fmt: skip
def cut_off_unseen(asked: Asked) -> Script:
    """Ends each body by closing, once in the middle of the page; the next request gets all of it."""
    if asked.round == 1:
        body = _body(asked)
        cut = body[: len(body) // 2] if asked.nth == 1 else body
        return head(asked, 200, HTML, f'ETag: "load-{asked.nth}"', version="1.0") + cut, End.CLOSE
    if holds(asked, tag_of(asked), None):
        return head(asked, 304, _tagged(asked), version="1.0"), End.CLOSE
    return head(asked, 200, HTML, _tagged(asked), version="1.0") + _body(asked), End.CLOSE


@behaviour("The page ends where it said; no later answer is made of the rest.", "RFC 9112 §6.3, §11.2", _TWO)  # fmt: skip
def more_than_the_length(asked: Asked) -> Script:
    """Sends more bytes than Content-Length says, on a connection that stays open."""
    if holds(asked, tag_of(asked), None):
        return head(asked, 304, _tagged(asked))
    return ok(asked, _tagged(asked)) + b"HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n<p>An answer nobody needs.</p>"


@behaviour("The framing is invalid: an error; the old page stands.",
           "RFC 9112 §6.3 (5)", None, earned(2), outcomes=_outcomes("error"))  # fmt: skip
def two_lengths(asked: Asked) -> Script:
    """Sends two different Content-Length lines."""
    if asked.round != 1:
        return honest(asked)
    body = _body(asked)
    return head(asked, 200, HTML, f"Content-Length: {len(body) // 2}", f"Content-Length: {len(body)}") + body, End.CLOSE


@behaviour("The framing is invalid: an error; the old page stands.",
           "RFC 9112 §6.3 (5)", None, earned(2), outcomes=_outcomes("error"))  # fmt: skip
def length_below_zero(asked: Asked) -> Script:
    """Sends `Content-Length: -1`."""
    if asked.round != 1:
        return honest(asked)
    return head(asked, 200, HTML, "Content-Length: -1") + b"<p>This is no page.</p>", End.CLOSE


@behaviour("Not even begun, or given up; the old page stands.",
           "RFC 9110 §8.6; limits of the client", None, earned(2), outcomes=_outcomes("error"))  # fmt: skip
def length_beyond_reason(asked: Asked) -> Script:
    """Announces a body of 99 TB and sends the first kilobyte."""
    if asked.round != 1:
        return honest(asked)
    return head(asked, 200, HTML, "Content-Length: 99999999999999") + b"<p>x</p>" * 128, End.CLOSE


@behaviour("The chunks decide, or it is an error; never the 20 bytes.", "RFC 9112 §6.3 (3)", None, earned(2),
           outcomes=_outcomes("same_hash|error"))  # fmt: skip
def length_beside_chunks(asked: Asked) -> Script:
    """Sends a wrong Content-Length beside a chunked body."""
    if asked.round != 1:
        return honest(asked)
    lines = HTML, _tagged(asked), "Content-Length: 20", "Transfer-Encoding: chunked"
    return head(asked, 200, *lines) + chunked(_body(asked)), End.CLOSE


@behaviour("The page without them; a trailer's ETag is no validator.",
           "RFC 9112 §7.1.1, §7.1.2; RFC 9110 §6.5", None, earned(1, 2))  # fmt: skip
def chunk_extensions(asked: Asked) -> Script:
    """Uses chunk extensions and trailer fields."""
    if holds(asked, tag_of(asked), None):
        return head(asked, 304, _tagged(asked))
    body = _body(asked)
    chunks = b'%x;name=value\r\n%b\r\n0;last\r\nETag: "trailer"\r\nX-Sum: 1\r\n\r\n' % (len(body), body)
    return head(asked, 200, HTML, _tagged(asked), "Transfer-Encoding: chunked", "Trailer: X-Sum") + chunks


@behaviour("Only the final answer counts.", "RFC 8297; RFC 9110 §15.2", None, earned(1, 2))  # fmt: skip
def early_hints(asked: Asked) -> Script:
    """Sends 103 Early Hints with an ETag and a Link before the answer."""
    hints = b'HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nETag: "hint"\r\n\r\n'
    return b"HTTP/1.1 100 Continue\r\n\r\n" + hints + honest(asked)


@behaviour(_KEPT, "RFC 9110 §15.2.2, §7.8", None, earned(2),
           outcomes=_outcomes("error"))  # fmt: skip
def protocol_switched(asked: Asked) -> Script:
    """Switches to a protocol that nobody asked for (101)."""
    if asked.round != 1:
        return honest(asked)
    return head(asked, 101, "Upgrade: something", "Connection: Upgrade") + b"\0\1\2", End.CLOSE


@behaviour("The fold is a space; the page is read.", "RFC 9112 §5.2", None,
           earned(1, 2))  # fmt: skip
def folded_header(asked: Asked) -> Script:
    """Folds a header line over two lines."""
    return honest(asked, "X-Folded: one\r\n two")


@behaviour("Given up at a limit of the client; the old page stands.",
           "RFC 9110 §5.4; limits of the client", None, earned(2), outcomes=_outcomes("error"))  # fmt: skip
def header_flood(asked: Asked) -> Script:
    """Sends 3,000 header lines of 900 bytes."""
    return _flood(asked) if asked.round == 1 else honest(asked)


def _flood(asked: Asked) -> Iterator[Step]:
    yield head(asked, 200, HTML)[:-2]
    for number in range(3_000):
        yield b"X-Flood-%d: %b\r\n" % (number, b"f" * 900)
    body = _body(asked)
    yield b"Content-Length: %d\r\n\r\n" % len(body) + body


@behaviour(_KEPT, "RFC 9112 §4", None, earned(2), outcomes=_outcomes("error"))
def garbage_status_line(asked: Asked) -> Script:
    """Sends a status line that is none."""
    return (
        (b"ICY 200 Hello\r\nContent-Type: text/html\r\n\r\n<p>Not HTTP.</p>", End.CLOSE)
        if asked.round == 1
        else honest(asked)
    )


@behaviour(_KEPT, "RFC 9112 §4", None, earned(2),
           outcomes=_outcomes("error"))  # fmt: skip
def no_head_at_all(asked: Asked) -> Script:
    """Sends the page alone, without any head, as in HTTP/0.9."""
    return (_body(asked), End.CLOSE) if asked.round == 1 else honest(asked)


@behaviour("Given up at a limit of the client; the old page stands.",
           "RFC 9112 §7.1; limits of the client", None, earned(2), bounded(1), outcomes=_outcomes("error"))  # fmt: skip
def endless_body(asked: Asked) -> Script:
    """Sends a body that never ends."""
    return _endless(asked) if asked.round == 1 else honest(asked)


def _endless(asked: Asked) -> Iterator[Step]:
    yield head(asked, 200, HTML, 'ETag: "endless"', "Transfer-Encoding: chunked")
    piece = b"<p>More and more of the same page.</p>\n" * 500
    while asked.served():
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
        yield 0.002


@behaviour("Confirmed all the same.", "RFC 9110 §6.6.1, §15.4.5", None, earned(1, 2))
def no_date_line(asked: Asked) -> Script:
    """Leaves out the Date line."""
    sent = honest(asked)
    begin = sent.index(b"\r\nDate:")
    return sent[:begin] + sent[sent.index(b"\r\n", begin + 2) :]
