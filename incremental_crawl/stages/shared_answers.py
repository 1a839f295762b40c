"""Many pages, one answer: pages that were different and suddenly share a body, a record or a redirect are blocked.

No single page shows it, so that it is looked for once all are there: before a gate counts them, and before any record
becomes current. Their records, validators and places stay as they were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from incremental_crawl.semantics import lifecycle
from incremental_crawl.semantics.block_signs import BlockSign, shared_redirect_sign, shared_sign
from incremental_crawl.semantics.host_rest import HostBlocks
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import blocks, known_urls, plan, shared_pages
from incremental_crawl.storage.blocks import BlockedPage, BlockedSample
from incremental_crawl.storage.rows import Journalled
from incremental_crawl.storage.shared_pages import Shared
from incremental_crawl.storage.spool import read_bodies
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit


def settle_sweep(run: SiteRun, visit: Visit, state: State) -> None:
    """Settle what the sweep fetched; to be called in a transaction, before the journal is folded."""
    _block(run, visit, state, shared_pages.shared_bodies(state, visit.visit), _of_bodies, by_body=True)
    _block_redirects(run, visit, state)


def settle_fetch(run: SiteRun, visit: Visit, state: State) -> None:
    """Settle what was decided; to be called in a transaction, before the journal is folded."""
    _block(run, visit, state, shared_pages.shared_records(state, visit.visit), _of_bodies, by_body=False)
    _block_redirects(run, visit, state)


def _block_redirects(run: SiteRun, visit: Visit, state: State) -> None:
    found = shared_pages.shared_redirects(state, visit.visit)
    _block(run, visit, state, found, _of_redirects, by_body=None)
    shared_pages.drop_targets(state, visit.visit, sorted({own.digest for own in found}))


def _of_bodies(own: Shared) -> BlockSign:
    return shared_sign(own.pages)


def _of_redirects(own: Shared) -> BlockSign:
    return shared_redirect_sign(own.pages, own.digest)


def _block(
    run: SiteRun,
    visit: Visit,
    state: State,
    found: Sequence[Shared],
    sign_of: Callable[[Shared], BlockSign],
    by_body: bool | None,
) -> None:
    """Make failed checks of pages; `by_body` says which digest they share, None where it is an address."""
    if not found:
        return
    stay = blocks.bodies_that_stay(state, visit.visit, run.clock())
    shared = {own.url: own for own in found if (own.host, own.digest) not in stay}
    if not shared:
        return
    signs = {url: sign_of(own) for url, own in shared.items()}
    now, pages = run.clock(), known_urls.by_url(state, list(shared))
    hosts = _counted(visit, state, shared, signs, run)
    seq = plan.next_seq(state, visit.visit)
    journal = []
    for at, page in enumerate(pages.values()):
        not_before = hosts[shared[page.url].host].next_try
        failed = lifecycle.failed(page, run.moment(visit, now), run.cadence, not_before)
        journal.append(Journalled(seq + at, failed))
    samples = _samples(run, visit, state, signs)
    known_urls.journal(state, journal)
    shared_pages.drop_decisions(state, visit.visit, list(shared))
    shared_pages.overrule(state, visit.visit, {url: sign.sentence for url, sign in signs.items()})
    rows = [_row(visit, own, signs[own.url], by_body) for own in shared.values() if own.url in pages]
    blocks.keep_pages(state, [replace(row, seen_at=now) for row in rows])
    blocks.keep_samples(state, samples)
    blocks.keep_hosts(state, hosts.values())


def _counted(
    visit: Visit, state: State, shared: dict[str, Shared], signs: dict[str, BlockSign], run: SiteRun
) -> dict[str, HostBlocks]:
    """The hosts of the pages, with these blocks counted."""
    hosts = blocks.hosts(state)
    counted: dict[str, HostBlocks] = {}
    for url, own in shared.items():
        before = counted.get(own.host) or hosts.get(own.host) or HostBlocks(own.host)
        counted[own.host] = before.blocked(signs[url], run.clock(), visit.visit)
    return counted


def _row(visit: Visit, own: Shared, sign: BlockSign, by_body: bool | None) -> BlockedPage:
    body = own.digest if by_body is True else None
    content = own.digest if by_body is False else None
    return BlockedPage(
        own.url, own.host, visit.visit, visit.opened_at, sign.kind, sign.sentence, sign.strong, body, content
    )


def _samples(run: SiteRun, visit: Visit, state: State, signs: dict[str, BlockSign]) -> list[BlockedSample]:
    spooled = shared_pages.spooled(state, visit.visit, list(signs))
    samples: list[BlockedSample] = []
    taken: dict[str, int] = {}
    for own in spooled:
        taken[own.host] = taken.get(own.host, 0) + 1
        if taken[own.host] > blocks.SAMPLES:
            continue
        (body,) = read_bodies(run.layout.spool, [own.ref])
        sign = signs[own.url]
        kept = body[: blocks.LARGEST_SAMPLE]
        headers = own.headers or json.dumps([])
        samples.append(
            BlockedSample(own.host, own.url, run.clock(), own.status, sign.kind, sign.sentence, headers, kept)
        )
    return samples
