"""Content-codings are removed by what the bytes are, within bounds, and never by half."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.transport.coding_faults import CodingFault, TooLarge, Truncated, Undecodable
from incremental_crawl.transport.content_coding import BodyDecoder
from incremental_crawl.transport.decompressors import PIECE

HTML = b"<!doctype html><title>A page</title>" + b"".join(b"<p>line %d</p>" % number for number in range(400))
LIMIT = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def decode(
    data: bytes, *codings: str, content_type: str | None = "text/html", limit: int = LIMIT, step: int = 0
) -> tuple[bytes, tuple[str, ...], bool]:
    decoder = BodyDecoder(codings, content_type, limit)
    for start in range(0, len(data), step or len(data) or 1):
        decoder.feed(data[start : start + (step or len(data))])
    return decoder.finish(), decoder.warnings, decoder.saw_end


@pytest.mark.parametrize("step", [0, 1, 1000])
@pytest.mark.parametrize("coding", CODERS)
def test_each_coding_is_removed_however_the_bytes_are_split(coding: str, step: int) -> None:
    body, warnings, saw_end = decode(CODERS[coding](HTML), coding, step=step)
    assert body == HTML
    assert warnings == ()
    assert saw_end == (coding != "identity")


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize(
    ("label", "data", "warning"),
    [
        ("gzip", HTML, "labelled gzip but is not"),
        ("x-gzip", gzip.compress(HTML), None),
        ("UTF-8", HTML, "unknown content coding 'utf-8'"),
        ("", gzip.compress(HTML), "without a label"),
        ("gzip", gzip.compress(gzip.compress(HTML)), "without a label"),
        ("deflate", raw_deflate(HTML), None),
        ("deflate", HTML, "labelled deflate but is not"),
        ("br", HTML, "labelled br but is not"),
        ("zstd", HTML, "labelled zstd but is not"),
        ("GZip", gzip.compress(HTML), None),
        ("gzip, gzip", gzip.compress(HTML), "labelled gzip but is not"),
        ("gzip, br", brotli.compress(gzip.compress(HTML)), None),
        ("gzip", gzip.compress(HTML[:99]) + gzip.compress(HTML[99:]), None),
        ("gzip", gzip.compress(HTML) + b"\0" * 512, None),
        ("gzip", gzip.compress(HTML) + b"\x1f", None),
        ("zstd", zstd.compress(HTML[:99]) + zstd.compress(HTML[99:]), None),
    ],
)
def test_a_wrong_label_never_costs_the_page(label: str, data: bytes, warning: str | None, step: int) -> None:
    body, warnings, _ = decode(data, label, step=step)
    assert body == HTML
    assert [warning is not None and warning in each for each in warnings] == ([True] if warning else [])


def test_two_coding_lines_are_one_list() -> None:
    assert decode(brotli.compress(gzip.compress(HTML)), "gzip", "br")[0] == HTML


def test_a_file_that_is_gzip_stays_one_where_nothing_says_it_is_a_page() -> None:
    data = gzip.compress(HTML)
    assert decode(data, content_type="application/gzip")[0] == data
    assert decode(gzip.compress(data), "gzip", content_type="application/x-gzip")[0] == data


def test_a_third_layer_is_not_removed() -> None:
    inner = gzip.compress(HTML)
    assert decode(gzip.compress(gzip.compress(inner)), "gzip")[0] == inner


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("kept", [0.03, 0.5, 0.98])
def test_a_truncated_stream_is_never_a_body(coding: str, kept: float) -> None:
    data = CODERS[coding](HTML)
    with pytest.raises(Truncated, match="part of the page is missing"):
        decode(data[: int(len(data) * kept) + 2], coding)


def test_a_truncated_second_layer_or_member_is_noticed() -> None:
    with pytest.raises(Truncated):
        decode(gzip.compress(gzip.compress(HTML)[:-9]), "gzip")
    with pytest.raises(Truncated):
        decode(gzip.compress(HTML) + gzip.compress(HTML)[:-9], "gzip")


@pytest.mark.parametrize("coding", ["identity", "gzip", "deflate", "br", "zstd"])
def test_an_empty_body_is_empty_under_every_label(coding: str) -> None:
    assert decode(b"", coding)[0] == b""
    assert decode(CODERS[coding](b""), coding)[0] == b""


def bomb(coding: str) -> bytes:
    zeros = b"\0" * 20_000_000
    return CODERS[coding](zeros)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_refused_within_bounded_memory(coding: str) -> None:
    data = bomb(coding)
    tracemalloc.start()
    with pytest.raises(TooLarge, match="1000000 bytes"):
        decode(data, coding)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000


def test_a_bomb_inside_a_bomb_and_a_chain_of_empty_streams_are_refused() -> None:
    with pytest.raises(TooLarge):
        decode(gzip.compress(bomb("gzip")), "gzip")
    with pytest.raises(CodingFault):
        decode(gzip.compress(b"") * 5000, "gzip")


def test_a_zstd_window_larger_than_the_web_allows_is_undecodable() -> None:
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 25})
    with pytest.raises(Undecodable):
        decode(compressor.compress(HTML * 10) + compressor.flush(), "zstd")


@pytest.mark.parametrize("beyond", range(0, 260, 13))
def test_output_that_fills_a_piece_exactly_is_not_lost(beyond: int) -> None:
    data = b"a" * (PIECE + beyond)
    assert decode(raw_deflate(data), "deflate")[0] == data


@pytest.mark.parametrize("step", [0, 7])
@pytest.mark.parametrize("coding", CODERS)
def test_a_page_that_grows_a_thousandfold_is_whole(coding: str, step: int) -> None:
    page = b" " * 3_000_000
    assert (
        decode(CODERS[coding](page), coding, limit=len(page), step=step * 1_000 if coding == "identity" else step)[0]
        == page
    )


def test_the_limit_itself_is_allowed() -> None:
    assert len(decode(gzip.compress(b"a" * LIMIT), "gzip")[0]) == LIMIT
    with pytest.raises(TooLarge):
        decode(gzip.compress(b"a" * (LIMIT + 1)), "gzip")


def test_damaged_streams_and_codings_nobody_asked_for_are_undecodable() -> None:
    data = bytearray(gzip.compress(HTML))
    data[len(data) // 2] ^= 0xFF
    data[-6] ^= 0xFF
    with pytest.raises(Undecodable):
        decode(bytes(data), "gzip")
    with pytest.raises(Undecodable, match="not asked for"):
        decode(b"\x1f\x9d", "compress")
    with pytest.raises(Undecodable, match="3 times"):
        decode(b"", "gzip, gzip, gzip")
    with pytest.raises(Undecodable):
        decode(b"\xff\xfe\xfd" * 100, "deflate")


@given(st.binary(max_size=5000), st.sampled_from(sorted(CODERS)), st.integers(1, 700))
def test_what_was_encoded_comes_back_or_fails_never_something_else(data: bytes, coding: str, step: int) -> None:
    body, _, _ = decode(CODERS[coding](data), coding, content_type="image/png", step=step)
    assert body == data


@given(st.binary(max_size=500), st.sampled_from(["gzip", "deflate", "br", "zstd", "identity", "x"]))
def test_any_bytes_give_a_body_or_a_coding_fault(data: bytes, coding: str) -> None:
    with suppress(CodingFault):
        assert len(decode(data, coding)[0]) <= LIMIT
