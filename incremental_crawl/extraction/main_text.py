"""The main content of a page as text for readers. Never hashed: an upgrade of the library changes it."""

from __future__ import annotations

from resiliparse.extract.html2text import extract_plain_text

from incremental_crawl.semantics.digest import well_formed


def main_text(html: str) -> str | None:
    """The main content with its paragraphs on lines of their own; None where there is none."""
    text = extract_plain_text(
        html, main_content=True, preserve_formatting=True, list_bullets=False, alt_texts=False, links=False
    )
    return well_formed(text.strip()) or None
