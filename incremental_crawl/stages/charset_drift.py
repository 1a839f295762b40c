"""Charset drift: the server names another charset for text that is the same. That is told, and is no change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incremental_crawl.extraction.decoding import declared
from incremental_crawl.extraction.extract import Page
from incremental_crawl.semantics.decision import under_mask
from incremental_crawl.stages.cases import Case, Cases, content_of

MARK = "charset drift"
"""How the sentence begins that an observation gets."""


def settle(cases: Sequence[Case], extractor: Cases) -> None:
    """Read pages whose charset is another one than their record's by the record's too.

    Where the record is the same then, the new label explains all that seemed to differ; the record keeps its charset.
    """
    drifting = [case for case in cases if case.held is not None and case.page.held and _other_charset(case)]
    again = [case for case in drifting if case.found is not None]
    pages = (Page(case.row.url, case.body, _labelled(case), case.page.charset) for case in again)
    for case, extract in zip(again, extractor.extracted(pages, False), strict=True):
        if extract.record is None or case.held is None or extract.charset != case.page.charset:
            continue
        content = under_mask(case.page.mask, content_of(extract))
        if content.content_sha256 in (case.page.compare_sha256, case.held.content_sha256):
            case.drift = _sentence(case)
            case.found = replace(extract, charset_source=case.page.charset_source, charset_conflict=None)
    for case in drifting:
        if case.found is None:
            case.drift = _sentence(case)


def _other_charset(case: Case) -> bool:
    return case.page.charset is not None and _charset(case) not in (None, case.page.charset)


def _charset(case: Case) -> str | None:
    """By which charset the body is read now; of the very bytes that are held only a declared one is known."""
    if case.found is not None:
        return case.found.charset
    found = declared(case.body, case.content_type)
    return found.charset if found is not None else None


def _labelled(case: Case) -> str:
    media_type = (case.content_type or "text/html").partition(";")[0].strip()
    return f"{media_type}; charset={case.page.charset}"


def _sentence(case: Case) -> str:
    return f"{MARK}: the answer is labelled {_charset(case)}, the record is the same when read as {case.page.charset}"
