"""Content codings that are mislabelled, cut off or far larger than they look (RFC 9110 §8.4)."""

from __future__ import annotations

import base64
import gzip
import struct
import zlib
from functools import cache

import brotli

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.checks import earned
from incremental_crawl.origin.adversarial.say import answer, holds, honest, html, not_modified, tag_of

behaviour = Declaring(Kind.ENCODING)
_HASHED = "new same_hash same_hash changed same_hash same_hash"
_SAME = "The same text in every round, whatever the bytes; the edit once."
_BOMB_BYTES = 64 * 1024 * 1024


def _zip(asked: Asked, data: bytes) -> bytes:
    """Gzip whose header carries the time, so that the bytes differ while the page does not."""
    return gzip.compress(data, 6, mtime=int(asked.now.timestamp()))


def _page(asked: Asked) -> bytes:
    return html(asked).encode()


@behaviour("The bytes are no gzip: they are the page.", "RFC 9110 §8.4",
           None, outcomes=_HASHED)  # fmt: skip
def plain_labelled_gzip(asked: Asked) -> Script:
    """Labels plain HTML as gzip."""
    return answer(asked, 200, _page(asked), "Content-Encoding: gzip")


@behaviour("x-gzip is gzip.", "RFC 9110 §8.4.1.3", None, outcomes=_HASHED)
def x_gzip(asked: Asked) -> Script:
    """Labels gzip as `x-gzip`."""
    return answer(asked, 200, _zip(asked, _page(asked)), "Content-Encoding: x-gzip")


@behaviour("An unknown label is taken as none.", "RFC 9110 §8.4",
           None, outcomes=_HASHED)  # fmt: skip
def charset_as_coding(asked: Asked) -> Script:
    """Names the charset in Content-Encoding."""
    return answer(asked, 200, _page(asked), "Content-Encoding: UTF-8")


@behaviour(_SAME, "RFC 9110 §8.4; RFC 1952 §2.3.1",
           None, outcomes=_HASHED)  # fmt: skip
def gzip_without_label(asked: Asked) -> Script:
    """Sends gzip as text/html without any label."""
    return answer(asked, 200, _zip(asked, _page(asked)))


@behaviour(_SAME, "RFC 9110 §8.4", None, outcomes=_HASHED)
def gzip_twice(asked: Asked) -> Script:
    """Compresses twice and labels once."""
    return answer(asked, 200, _zip(asked, _zip(asked, _page(asked))), "Content-Encoding: gzip")


@behaviour(_SAME, "RFC 9110 §8.4", None, outcomes=_HASHED)
def two_codings(asked: Asked) -> Script:
    """Labels two codings, `gzip, gzip`, and means it."""
    return answer(asked, 200, _zip(asked, _zip(asked, _page(asked))), "Content-Encoding: gzip, gzip")


@behaviour("Both belong to the page.", "RFC 1952 §2.2", None, outcomes=_HASHED)
def gzip_in_members(asked: Asked) -> Script:
    """Sends gzip in two members."""
    body = _page(asked)
    half = len(body) // 2
    return answer(asked, 200, _zip(asked, body[:half]) + _zip(asked, body[half:]), "Content-Encoding: gzip")


@behaviour("What follows the last member is no page.", "RFC 1952 §2.2",
           None, outcomes=_HASHED)  # fmt: skip
def gzip_with_padding(asked: Asked) -> Script:
    """Pads its gzip with zeros."""
    return answer(asked, 200, _zip(asked, _page(asked)) + b"\0" * 64, "Content-Encoding: gzip")


@behaviour("The end of the stream is missing: incomplete, never half a page.", "RFC 9110 §8.4.1.3; RFC 1952 §2.3.1",
           None, earned(2), outcomes="new incomplete not_modified changed not_modified not_modified")  # fmt: skip
def gzip_cut_off(asked: Asked) -> Script:
    """Cuts its gzip off, with a Content-Length that fits what is sent."""
    if asked.round != 1:
        return honest(asked)
    whole = _zip(asked, _page(asked) + b"<!-- " + asked.random.randbytes(2_000).hex().encode() + b" -->")
    return answer(asked, 200, whole[: len(whole) * 3 // 4], "Content-Encoding: gzip", 'ETag: "half"')


@behaviour("Damaged: the old page stands.", "RFC 1952 §2.3.1", None, earned(2),
           outcomes="new error|incomplete not_modified changed not_modified not_modified")  # fmt: skip
def gzip_damaged(asked: Asked) -> Script:
    """Sends gzip whose checksum is wrong."""
    if asked.round != 1:
        return honest(asked)
    whole = bytearray(_zip(asked, html(asked, "v9").encode()))
    whole[-8] ^= 0xFF
    return answer(asked, 200, bytes(whole), "Content-Encoding: gzip")


@behaviour("Both are in use: both are the page.",
           "RFC 9110 §8.4.1.2", {"/wrapped": "v1 v1 v1 v2", "/bare": "v1 v1 v1 v2"}, outcomes=_HASHED)  # fmt: skip
def deflate_both_ways(asked: Asked) -> Script:
    """Sends deflate in its zlib wrapper to one page and bare to another."""
    maker = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS if asked.path == "/wrapped" else -zlib.MAX_WBITS)
    return answer(asked, 200, maker.compress(_page(asked)) + maker.flush(), "Content-Encoding: deflate")


@behaviour("Decoded, or nothing is held; never the bytes as text.",
           "RFC 9110 §12.5.3; RFC 7932", {"/page": "v1|- v1|- v1|- v2|-"}, outcomes=_HASHED)  # fmt: skip
def brotli_unasked(asked: Asked) -> Script:
    """Sends brotli, whatever Accept-Encoding says."""
    return answer(asked, 200, brotli.compress(_page(asked), quality=4), "Content-Encoding: br")


@behaviour("Decoded, or nothing is held; never the bytes as text.",
           "RFC 9110 §12.5.3; RFC 8878", {"/page": "v1|- v1|- v1|- v2|-"}, outcomes=_HASHED)  # fmt: skip
def zstd_unasked(asked: Asked) -> Script:
    """Sends zstd, whatever Accept-Encoding says."""
    return answer(asked, 200, zstd_frame(_page(asked)), "Content-Encoding: zstd")


@behaviour("One page: other bytes on the wire are no change.", "RFC 9110 §8.8.3.3",
           {"/page": "v1 v1 v1 v2"}, outcomes=_HASHED)  # fmt: skip
def coding_changes(asked: Asked) -> Script:
    """Sends the page as gzip, plain and brotli in turn, each with a tag of its own."""
    turn = asked.round % 2
    body = _zip(asked, _page(asked)) if turn else _page(asked)
    own = tag_of(asked)[:-1] + ('-gz"' if turn else '"')
    if holds(asked, own, None):
        return not_modified(asked, f"ETag: {own}")
    return answer(asked, 200, body, f"ETag: {own}", *(["Content-Encoding: gzip"] if turn else []))


@behaviour("No coding; the page as it is.", "RFC 9110 §8.4.1, §12.5.3", None,
           earned(1, 2))  # fmt: skip
def identity_named(asked: Asked) -> Script:
    """Says `Content-Encoding: identity`."""
    return honest(asked, "Content-Encoding: identity")


def _bomb(coding: str, what: str) -> None:
    def respond(asked: Asked) -> Script:
        if asked.round != 1:
            return honest(asked)
        return answer(asked, 200, bomb(coding), f"Content-Encoding: {coding}", 'ETag: "bomb"')

    behaviour.add(
        f"{'brotli' if coding == 'br' else coding}-bomb",
        respond,
        f"Sends a {what} stream of a few kilobytes that becomes {_BOMB_BYTES >> 20} MB.",
        "Decoding stops at a limit of the client; the old page stands.",
        "RFC 9110 §8.4; limits of the client",
        None,
        earned(2),
        outcomes="new error not_modified changed not_modified not_modified",
    )


for _coding, _what in (("gzip", "gzip"), ("br", "brotli"), ("zstd", "zstd")):
    _bomb(_coding, _what)


@behaviour("Never the bytes as text; the old page stands.", "RFC 9110 §8.4.1.1", None, earned(2),
           outcomes="new error not_modified changed not_modified not_modified")  # fmt: skip
def coding_unknown(asked: Asked) -> Script:
    """Sends bytes under the label `compress`, a coding that nobody knows any more."""
    if asked.round != 1:
        return honest(asked)
    return answer(asked, 200, b"\x1f\x9d\x90" + asked.random.randbytes(600), "Content-Encoding: compress")


@cache
def bomb(coding: str) -> bytes:
    """A stream that becomes 64 MB of spaces; made in no time, since others wait meanwhile."""
    match coding:
        case "gzip":
            return _gzip_bomb()
        case "br":
            return base64.b64decode(_BROTLI_BOMB)
    block = _block(1, 128 * 1024) + b" "
    return _ZSTD_HEAD + block * (_BOMB_BYTES // (128 * 1024)) + _block(0, 0, last=True)


# brotli.compress(b" " * 64 MB, quality=5)
_BROTLI_BOMB = (
    "y///PwAkQOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje"
    "//H//w8ACYA4LADd+z/+//8BIAEQhwWge/83"
)


def _gzip_bomb() -> bytes:
    """A megabyte, flushed so that it depends on nothing before it, as often as is needed (RFC 1951 §3.2.3)."""
    megabyte, times = b" " * (1 << 20), _BOMB_BYTES >> 20
    maker = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = maker.compress(megabyte) + maker.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(times):
        check = zlib.crc32(megabyte, check)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + once * times + maker.flush() + struct.pack("<LL", check, _BOMB_BYTES)


def zstd_frame(data: bytes) -> bytes:
    """`data` as a zstd frame of raw blocks (RFC 8878 §3.1.1)."""
    pieces = [data[at : at + 100_000] for at in range(0, len(data), 100_000)]
    return _ZSTD_HEAD + b"".join(_block(0, len(piece)) + piece for piece in pieces) + _block(0, 0, last=True)


# Magic number, no content size, no checksum, a window of 256 KB.
_ZSTD_HEAD = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([8 << 3])


def _block(kind: int, size: int, last: bool = False) -> bytes:
    return (size << 3 | kind << 1 | last).to_bytes(3, "little")
