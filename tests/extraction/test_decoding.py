"""Bytes become text as in browsers, and the same bytes always the same text."""

from __future__ import annotations

import codecs
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.extraction.decoding import decode

TEXT = "café \u2014 € “q”"
HTML = "text/html"
LATIN = "text/html; charset=ISO-8859-1"


def meta(charset: str) -> bytes:
    return f'<meta charset="{charset}">'.encode()


@pytest.mark.parametrize(
    ("body", "content_type", "charset", "source"),
    [
        pytest.param(codecs.BOM_UTF8 + TEXT.encode(), LATIN, "utf-8", "bom", id="bom before header"),
        pytest.param(codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), HTML, "utf-16le", "bom", id="UTF-16LE bom"),
        pytest.param(codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), LATIN, "utf-16be", "bom", id="UTF-16BE bom"),
        pytest.param(TEXT.encode("cp1252"), LATIN, "windows-1252", "header", id="latin-1 means windows-1252"),
        pytest.param(TEXT.encode("cp1252"), 'text/html;CHARSET="latin1"', "windows-1252", "header", id="quoted label"),
        pytest.param(
            meta("gbk") + TEXT.encode(), "text/html; charset=utf8", "utf-8", "header", id="header before meta"
        ),
        pytest.param(meta("utf-8") + TEXT.encode(), "text/html; charset=nonsense", "utf-8", "meta", id="unknown label"),
        pytest.param(meta("gb2312") + "你好世界".encode("gb18030"), HTML, "gbk", "meta", id="gb2312 is gbk"),
        pytest.param(meta("x-sjis") + "テスト①".encode("cp932"), None, "shift_jis", "meta", id="x-sjis"),
        pytest.param(meta("utf-16") + TEXT.encode(), HTML, "utf-8", "meta", id="meta utf-16 is utf-8"),
        pytest.param(b"<!-- " + meta("gbk") + b" -->" + TEXT.encode(), HTML, "utf-8", "utf-8", id="meta in a comment"),
        pytest.param(
            b"<p>" + b" " * 1_100 + meta("koi8-r") + "Привет".encode("koi8-r"), HTML, "koi8-r", "meta", id="late"
        ),
        pytest.param(TEXT.encode(), HTML, "utf-8", "utf-8", id="undeclared UTF-8"),
        pytest.param(b"plain", None, "utf-8", "utf-8", id="ASCII"),
        pytest.param(TEXT.encode("cp1252"), HTML, "windows-1252", "fallback", id="undeclared and not UTF-8"),
    ],
)
def test_where_the_charset_comes_from(body: bytes, content_type: str | None, charset: str, source: str) -> None:
    decoded = decode(body, content_type)
    assert (decoded.charset, decoded.source) == (charset, source)
    assert "\ufffd" not in decoded.text
    assert not decoded.text.startswith("\ufeff")


def test_texts_come_out_right() -> None:
    assert decode(TEXT.encode("cp1252"), LATIN).text == TEXT
    assert decode(meta("gb2312") + "你好世界".encode("gb18030"), HTML).text.endswith("你好世界")
    assert decode(meta("x-sjis") + "テスト①".encode("cp932"), HTML).text.endswith("テスト①")


@pytest.mark.parametrize(
    "declaration",
    [
        b"<meta http-equiv='Content-Type' content='text/html; charset=iso-8859-15'>",
        b"<META CONTENT=text/html;charset=iso-8859-15 HTTP-EQUIV=content-type>",
        b"<script charset='utf-8'></script><meta http-equiv=Content-Type content='text/html; charset=ISO-8859-15'>",
        b"<meta name=x content='charset=gbk'><meta charset=iso-8859-15 />",
        b"<a title='<meta charset=gbk>'><meta charset=iso-8859-15>",
        b"<!doctype html><?x <meta?><meta\ncharset = 'iso-8859-15'>",
        b"<!--><meta charset=iso-8859-15>",
    ],
)
def test_forms_of_a_declaration(declaration: bytes) -> None:
    decoded = decode(declaration + b"\xa4", HTML)
    assert (decoded.charset, decoded.text[-1]) == ("iso-8859-15", "€")


@pytest.mark.parametrize(
    ("body", "content_type", "charset", "source"),
    [
        pytest.param(TEXT.encode(), "text/plain; charset=utf-8", "utf-8", "header", id="text: header"),
        pytest.param(meta("gbk") + TEXT.encode(), "text/plain", "utf-8", "utf-8", id="text: markup declares nothing"),
        pytest.param(TEXT.encode("cp1252"), "text/css", "windows-1252", "fallback", id="text: not UTF-8"),
        pytest.param(
            b"<?xml version='1.0' encoding='koi8-r'?><p>" + "тест".encode("koi8-r"),
            "application/xml",
            "koi8-r",
            "xml",
            id="XML declaration",
        ),
        pytest.param(
            b'<?xml version="1.0" encoding="koi8-r"?>' + TEXT.encode(),
            "application/rss+xml; charset=UTF-8",
            "utf-8",
            "header",
            id="XML: header first",
        ),
        pytest.param(b"<x/>" + meta("gbk") + TEXT.encode(), "text/xml", "utf-8", "utf-8", id="XML: no meta"),
        pytest.param(
            b'<?xml version="1.0" encoding="utf-16"?>' + TEXT.encode(), "text/xml", "utf-8", "xml", id="XML in ASCII"
        ),
        pytest.param(
            codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "text/xml", "utf-32le", "bom", id="XML: UTF-32 mark"
        ),
        pytest.param(
            b"<?xml version='1.0' encoding='iso-8859-15'?><!doctype html>" + "é€".encode("iso-8859-15"),
            HTML,
            "iso-8859-15",
            "xml",
            id="HTML with an XML declaration",
        ),
        pytest.param(
            b"<?xml version='1.0' encoding='gbk'?>" + meta("utf-8") + TEXT.encode(),
            HTML,
            "utf-8",
            "meta",
            id="HTML: meta before the XML declaration",
        ),
        pytest.param(f'"{TEXT}"'.encode(), "application/json", "utf-8", "utf-8", id="JSON"),
        pytest.param(
            f'"{TEXT}"'.encode(), "application/json; charset=latin1", "utf-8", "utf-8", id="JSON: no parameter"
        ),
        pytest.param(
            f'"{TEXT}"'.encode("cp1252"),
            "application/ld+json; charset=latin1",
            "windows-1252",
            "header",
            id="JSON: odd",
        ),
        pytest.param(codecs.BOM_UTF8 + f'"{TEXT}"'.encode(), "application/json", "utf-8", "bom", id="JSON: UTF-8 mark"),
        pytest.param(
            f'["{TEXT}"]'.encode("utf-16-le"), "application/json", "utf-16le", "zeros", id="JSON: UTF-16 by its zeros"
        ),
        pytest.param(
            f'["{TEXT}"]'.encode("utf-32-be"), "application/json", "utf-32be", "zeros", id="JSON: UTF-32 by its zeros"
        ),
        pytest.param(
            codecs.BOM_UTF32_BE + f'"{TEXT}"'.encode("utf-32-be"),
            "text/json",
            "utf-32be",
            "bom",
            id="JSON: UTF-32 mark",
        ),
    ],
)
def test_text_xml_and_json_have_rules_of_their_own(body: bytes, content_type: str, charset: str, source: str) -> None:
    decoded = decode(body, content_type)
    assert (decoded.charset, decoded.source) == (charset, source)
    assert "\ufffd" not in decoded.text
    assert not decoded.text.startswith("\ufeff")
    assert "€" in decoded.text or "тест" in decoded.text


def test_xml_that_is_no_utf8_and_says_nothing_is_not_guessed() -> None:
    decoded = decode(TEXT.encode("cp1252"), "application/xml")
    assert (decoded.charset, decoded.source) == ("utf-8", "utf-8")
    assert "\ufffd" in decoded.text


def test_an_xml_header_that_contradicts_the_declaration_wins_and_is_told() -> None:
    decoded = decode(b'<?xml version="1.0" encoding="koi8-r"?>' + TEXT.encode(), "text/xml; charset=utf-8")
    assert (decoded.charset, decoded.conflict) == ("utf-8", "koi8-r")


def test_a_header_that_contradicts_the_page_wins_and_is_told() -> None:
    decoded = decode(meta("utf-8") + TEXT.encode(), LATIN)
    assert (decoded.charset, decoded.conflict) == ("windows-1252", "utf-8")
    assert decode(meta("utf-8") + TEXT.encode(), "text/html; charset=UTF-8").conflict is None


def test_the_known_charset_counts_where_nothing_is_declared_and_it_fits() -> None:
    body = "тест".encode("koi8-r")
    assert decode(body, HTML, "koi8-r").text == "тест"
    assert decode(body, HTML, "koi8-r").source == "known"
    assert decode(meta("utf-8") + TEXT.encode(), HTML, "koi8-r").charset == "utf-8"
    assert decode("日本".encode() + b"!", HTML, "euc-jp").source == "utf-8"


def test_a_character_cut_off_at_the_end_does_not_make_it_another_charset() -> None:
    decoded = decode(TEXT.encode()[:-1], HTML)
    assert (decoded.charset, decoded.text[-1]) == ("utf-8", "\ufffd")


@given(st.binary(max_size=300), st.sampled_from([None, HTML, LATIN, "text/html; charset=big5", "x; charset=utf-16"]))
def test_any_bytes_decode_to_text_that_can_be_encoded(body: bytes, content_type: Any) -> None:
    decode(body, content_type).text.encode("utf-8", "surrogatepass")
    assert decode(body, content_type) == decode(body, content_type)


@given(
    st.lists(
        st.sampled_from(
            [b"<", b"meta", b" ", b"charset", b"=", b'"', b"'", b"utf-8", b">", b"<!--", b"-->", b"/", b"<a "]
        )
    )
)
def test_any_scraps_of_markup_are_scanned(scraps: list[bytes]) -> None:
    assert decode(b"".join(scraps) + b"\x80", HTML).source in ("meta", "fallback")
