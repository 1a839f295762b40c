"""Fetched pages that are none: told by their words, and by what was seen elsewhere, before anything is decided."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from incremental_crawl.extraction.emptiness import NO_TEXT
from incremental_crawl.extraction.glance import glance_at
from incremental_crawl.semantics.block_signs import BlockSign, has_lost_most, shared_sign, text_sign
from incremental_crawl.semantics.urls import host_of
from incremental_crawl.stages.block_watch import BlockWatch
from incremental_crawl.stages.cases import Case
from incremental_crawl.storage import shared_pages
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

_FEW_IN_A_BATCH = 3
"""Fewer pages of a batch with one body are no reason to count it in the whole visit."""


class BlockedPages:
    """Tells which cases of a visit are no pages; what it finds is kept by the watch."""

    def __init__(self, visit: Visit, state: State, watch: BlockWatch) -> None:
        self._visit = visit.visit
        self._state = state
        self._watch = watch

    def sift(self, cases: Sequence[Case]) -> None:
        """Mark the cases that are blocked; of each other one its host is told that it answers."""
        shared = self._shared(cases)
        for case in cases:
            case.blocked = self._sign(case, shared)
            if case.blocked is not None:
                self._note(case, case.blocked)
            if case.found is None or case.found.record is not None or case.blocked is not None:
                self._watch.settled(case.page.url, case.blocked, case.at)

    def _note(self, case: Case, sign: BlockSign) -> None:
        content = case.found.content_sha256 if case.found is not None else None
        self._watch.blocked_page(case.row.url, sign, case.at, case.row.body_sha256, content)
        self._watch.sample(case.row.url, sign, case.at, case.row.status, case.headers, case.body)

    def _shared(self, cases: Sequence[Case]) -> dict[str, BlockSign]:
        """By URL: the sign of those whose body the visit has met in the place of many pages."""
        bodies = Counter(case.row.body_sha256 for case in cases if case.held is not None and case.found is not None)
        if not bodies or max(bodies.values()) < _FEW_IN_A_BATCH:
            return {}
        found = shared_pages.shared_bodies(self._state, self._visit)
        return {own.url: shared_sign(own.pages) for own in found}

    def _sign(self, case: Case, shared: dict[str, BlockSign]) -> BlockSign | None:
        if case.found is None or (case.held is not None and case.held.content_sha256 == case.found.content_sha256):
            return None
        if case.found.fault is not None and case.found.fault.startswith(NO_TEXT):
            return None
        host = host_of(case.row.url)
        digests = (case.row.body_sha256, case.found.content_sha256)
        if any((host, digest) in self._watch.bodies.stay for digest in digests):
            return None
        known = next((sign for digest in digests if (sign := self._watch.bodies.sign(host, digest))), None)
        return known or shared.get(case.row.url) or _of_words(case)


def _of_words(case: Case) -> BlockSign | None:
    """A weak sign: a page that has lost most of what is held of it, and says why."""
    if case.held is None or case.found is None or not _lost_most(case):
        return None
    before = "\n".join(case.held.lines) or case.held.record
    return text_sign(glance_at(case.body, case.content_type), before)


def _lost_most(case: Case) -> bool:
    """Lines are compared by their length; of declared fields one has to be missing that was there."""
    if case.held is None or case.found is None:
        return False
    if case.held.lines or case.found.lines:
        return has_lost_most(sum(map(len, case.found.lines)), sum(map(len, case.held.lines)))
    if case.found.record is None:
        return True
    before, now = json.loads(case.held.record), json.loads(case.found.record)
    return any(value not in (None, "", []) and now.get(name) in (None, "", []) for name, value in before.items())
