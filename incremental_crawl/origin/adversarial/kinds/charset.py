"""Header, meta, byte order mark and bytes that disagree (WHATWG Encoding; HTML, determining the character encoding)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from incremental_crawl.origin.adversarial.asked import Asked, Script
from incremental_crawl.origin.adversarial.behaviour import Declaring, Kind
from incremental_crawl.origin.adversarial.say import answer, html

behaviour = Declaring(Kind.CHARSET)
_TEXT = "café – € “q”"
_HASHED = "new same_hash same_hash changed same_hash same_hash"
_HTML_STANDARD = "HTML Standard, determining the character encoding"


@dataclass(frozen=True, slots=True)
class _Coded:
    """How the page is written: its charset, what Content-Type and head say, and the text it must come out as."""

    codec: str
    content_type: str
    meta: str = ""
    text: str = _TEXT
    bom: bytes = b""
    shown: str | None = None

    def respond(self, asked: Asked) -> Script:
        page = html(asked, inside=f"<p>{self.text}</p>", head=self.meta)
        return answer(asked, 200, self.bom + page.encode(self.codec), f"Content-Type: {self.content_type}")


def _charset(name: str, summary: str, right: str, coded: _Coded, authority: str = _HTML_STANDARD) -> None:
    says = {"/page": coded.shown or coded.text}
    behaviour.add(name, coded.respond, summary, right, authority, None, says=says, outcomes=_HASHED)


_PLAIN = "text/html"
_LATIN = "text/html; charset=iso-8859-1"
_charset("header-against-bytes", "The header says iso-8859-1, bytes and meta are UTF-8.",
         "The header wins, as in browsers: the page is windows-1252, mojibake and all.",
         _Coded("utf-8", _LATIN, "<meta charset=utf-8>", shown=_TEXT.encode().decode("cp1252", "replace")[:5]))  # fmt: skip
_charset("bom-against-header", "A UTF-8 byte order mark under a header that says iso-8859-1.",
         "The mark wins, and is no part of the text.", _Coded("utf-8", _LATIN, bom=codecs.BOM_UTF8),
         "WHATWG Encoding, BOM sniff")  # fmt: skip
_charset("latin-1-is-windows-1252", "The header says iso-8859-1, the bytes 93, 94 and 80 are quotes and euro.",
         "The label iso-8859-1 means windows-1252.", _Coded("cp1252", _LATIN), "WHATWG Encoding, names and labels")  # fmt: skip
_SCRIPT_THEN_META = '<script charset="utf-8" src="/s.js"></script><meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-15">'
_charset("meta-after-script", "No charset in the header; a script's charset before the meta of the page.",
         "The meta counts, the script's does not.", _Coded("iso8859-15", _PLAIN, _SCRIPT_THEN_META, "café €"))  # fmt: skip
_charset("utf-16-with-bom", "UTF-16 by its byte order mark alone.", "The mark decides.",
         _Coded("utf-16-le", _PLAIN, bom=codecs.BOM_UTF16_LE))  # fmt: skip
_charset("utf-16-by-header", "UTF-16 by the header alone.", "The header decides.",
         _Coded("utf-16-be", "text/html; charset=utf-16be"))  # fmt: skip
_charset("undeclared-utf-8", "UTF-8 that nothing declares.", "Valid UTF-8 is UTF-8.", _Coded("utf-8", _PLAIN))
_charset("undeclared-windows-1252", "windows-1252 that nothing declares.", "What is no UTF-8 is windows-1252.",
         _Coded("cp1252", _PLAIN))  # fmt: skip
_charset("unknown-label", "The header's charset is `utf8mb4`, the meta says utf-8.", "An unknown label is none.",
         _Coded("utf-8", "text/html; charset=utf8mb4", "<meta charset=utf-8>"), "WHATWG Encoding, get an encoding")  # fmt: skip
_charset("shift-jis", "Shift_JIS, quoted in the header.", "Decoded by its label.",
         _Coded("cp932", 'text/html; charset="Shift_JIS"', text="日本語 ①"))  # fmt: skip


@behaviour("The bytes are the page's: no event before the edit.", "RFC 9110 §8.3; HTML Standard", None,
           outcomes=_HASHED)  # fmt: skip
def charset_takes_turns(asked: Asked) -> Script:
    """Sends the same bytes with `charset=utf-8` and `charset=iso-8859-1` in turn."""
    label = "iso-8859-1" if asked.round in (1, 2) and asked.round % 2 else "utf-8"
    return answer(asked, 200, html(asked, inside=f"<p>{_TEXT}</p>"), f"Content-Type: text/html; charset={label}")


@behaviour("HTML by its bytes.", "RFC 9110 §8.3; WHATWG MIME Sniffing", None,
           outcomes=_HASHED)  # fmt: skip
def no_content_type(asked: Asked) -> Script:
    """Sends no Content-Type at all."""
    return answer(asked, 200, html(asked)).replace(b"Content-Type: text/html; charset=utf-8\r\n", b"")


@behaviour("The text behind them is read, and its edit found.", "HTML Standard §13.2.5", {"/page": "v1 v1 v1 v2"},
           outcomes=_HASHED)  # fmt: skip
def nul_in_text(asked: Asked) -> Script:
    """Has NUL bytes, control characters and references to surrogates in its text; the edit is behind them."""
    page = html(asked).encode()
    odd = b"<p>before</p><p>x \0 y \x0b &#0; &#xD83D; \xef\xbf\xbe</p>"
    return answer(asked, 200, page.replace(b"<main>", b"<main>" + odd))


@behaviour("They become U+FFFD; the page stands.",
           "WHATWG Encoding, UTF-8 decoder", None, outcomes=_HASHED)  # fmt: skip
def broken_utf_8(asked: Asked) -> Script:
    """Has bytes in the middle of its UTF-8 that are none."""
    return answer(asked, 200, html(asked).encode().replace(b"<main>", b"<main><p>caf\xe9 \xff\xfe \xc3</p>"))
