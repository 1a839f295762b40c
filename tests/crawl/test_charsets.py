"""A charset is read from where it stands, stored with the record, and a label that moves alone is no change."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import Answer, PagesOrigin, Scene, page, sending

TEXT = "café \u2013 € “q”"
MANGLED = TEXT.encode().decode("cp1252", "replace")


def typed(body: bytes, content_type: str, etag: str | None = None) -> Answer:
    """A body with this Content-Type."""
    return sending(body, etag, None, ("Content-Type", content_type))


def markup(text: str, head: str = "") -> str:
    """A page of one paragraph in a file without a declaration of its own."""
    return f"<!doctype html>{head}<title>x</title><p>{text}</p>"


PAGES: dict[str, tuple[Answer, str, str, str]] = {
    "/header-wins": (
        typed(markup(TEXT, "<meta charset=utf-8>").encode(), "text/html; charset=iso-8859-1"),
        MANGLED,
        "windows-1252",
        "header (the page says utf-8)",
    ),
    "/bom": (
        typed(codecs.BOM_UTF8 + markup(TEXT).encode(), "text/html; charset=iso-8859-1"),
        TEXT,
        "utf-8",
        "bom",
    ),
    "/latin-1": (
        typed(markup(TEXT).encode("cp1252"), "text/html; charset=iso-8859-1"),
        TEXT,
        "windows-1252",
        "header",
    ),
    "/meta": (
        typed(
            markup(
                "café € q",
                '<script charset="utf-8" src=x></script>'
                '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-15">',
            ).encode("iso-8859-15"),
            "text/html",
        ),
        "café € q",
        "iso-8859-15",
        "meta",
    ),
    "/utf-16": (typed(codecs.BOM_UTF16_LE + markup(TEXT).encode("utf-16-le"), "text/html"), TEXT, "utf-16le", "bom"),
    "/undeclared": (typed(markup(TEXT).encode(), "text/html"), TEXT, "utf-8", "utf-8"),
    "/fallback": (typed(markup(TEXT).encode("cp1252"), "text/html"), TEXT, "windows-1252", "fallback"),
    "/json": (typed(f'"{TEXT}"'.encode("utf-16-le"), "application/json"), f'"{TEXT}"', "utf-16le", "zeros"),
    "/xml": (
        typed(f'<?xml version="1.0" encoding="windows-1252"?>\n{TEXT}'.encode("cp1252"), "application/xml"),
        TEXT,
        "windows-1252",
        "xml",
    ),
    "/text": (typed(f"{TEXT}\n<meta charset=gbk>".encode(), "text/plain"), TEXT, "utf-8", "utf-8"),
}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


def test_text_charset_and_its_source_are_stored_with_the_record(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {path: answer for path, (answer, *_) in PAGES.items()}
    scene = Scene(tmp_path, origin)
    scene.visit()
    rows, texts = scene.rows(), scene.texts()
    bodies = scene.site.query("SELECT url, charset FROM {body_snapshots}")
    charsets = {url.removeprefix(origin.base_url): charset for url, charset in bodies}
    for path, (_, text, charset, source) in PAGES.items():
        assert text in texts[path], path
        assert (rows[path]["charset"], rows[path]["charset_source"]) == (charset, source), path
        assert charsets[path] == charset, path


def test_a_label_that_moves_while_the_bytes_stay_is_no_change(tmp_path: Path, origin: PagesOrigin) -> None:
    labels = iter(("utf-8", "iso-8859-1", "utf-8"))
    label = next(labels)
    tokens = iter(range(100))

    def same(_: Request) -> Reply:
        return Reply(200, (("Content-Type", f"text/html; charset={label}"),), markup(TEXT).encode())

    def with_token(_: Request) -> Reply:
        body = markup(TEXT, f"<meta name=csrf content={next(tokens)}>").encode()
        return Reply(200, (("Content-Type", f"text/html; charset={label}"),), body)

    origin.pages |= {"/same": same, "/token": with_token}
    scene = Scene(tmp_path, origin)
    scene.visit()
    for visit in (2, 3):
        label = next(labels)
        scene.visit()
        assert scene.events(visit) == []
    for path in ("/same", "/token"):
        assert scene.texts()[path] == TEXT
        assert (scene.row(path)["charset"], scene.row(path)["charset_source"]) == ("utf-8", "header")
        assert [scene.observed(path, visit)[-1] for visit in (2, 3)] == ["same_hash", "same_hash"]
        assert scene.observed(path, 2, "error")[-1] == (
            "charset drift: the answer is labelled windows-1252, the record is the same when read as utf-8"
        )
        assert scene.observed(path, 3, "error")[-1] is None


def test_an_edit_is_told_also_where_the_label_moves(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/a"] = typed(markup("cafe").encode(), "text/html; charset=utf-8")
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/a"] = typed(markup("café").encode("cp1252"), "text/html; charset=iso-8859-1")
    scene.visit()
    assert scene.events(2) == [("changed", "/a")]
    assert "+café" in scene.event("/a", 2)["diff"]
    assert scene.row("/a")["charset"] == "windows-1252"


ODD: dict[str, tuple[bytes, str]] = {
    "/nul": (b"<p>before</p><p>x\x00y</p><p>after</p>", "before"),
    "/references": (b"<p>a&#0;b&#xD83D;c</p>", "\ufffd"),
    "/json-ld": (b'<script type="application/ld+json">{"name": "\\ud83d"}</script><p>shown</p>', "shown"),
    "/controls": (b"<p>one\x0btwo \xef\xbf\xbe</p>", "one"),
    "/title": (b"<title>" + b"t" * 1_000_000 + b"</title><p>short</p>", "short"),
}
NOTHING = {"/none": b"", "/blank": b" \n\t ", "/one-nul": b"\0"}


def test_odd_characters_never_take_a_batch_with_them(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/good/{n:03}": page(f"Good {n}", '"1"') for n in range(100)}
    origin.pages |= {path: typed(body, "text/html; charset=utf-8", '"1"') for path, (body, _) in ODD.items()}
    origin.pages |= {path: typed(body, "text/html", '"1"') for path, body in NOTHING.items()}
    scene = Scene(tmp_path, origin, gate={"failed": 1.0, "confirm_gone_after": "0s"})
    scene.visit()
    texts = scene.texts()
    assert texts.keys() == {"/", *(f"/good/{n:03}" for n in range(100)), *ODD}
    for path, (_, text) in ODD.items():
        assert text in texts[path], path
    assert "after" in texts["/nul"]
    assert {path: scene.observed(path, 1)[-1] for path in NOTHING} == dict.fromkeys(NOTHING, "empty")
    assert scene.site.query(f"SELECT body FROM {{body_snapshots}} WHERE url = '{scene.url('/nul')}'") == [
        (ODD["/nul"][0],)
    ]
    origin.pages["/nul"] = typed(ODD["/nul"][0].replace(b"after", b"later"), "text/html", '"2"')
    scene.visit()
    assert scene.events(2) == [("changed", "/nul")]
    assert "+later" in scene.event("/nul", 2)["diff"]
