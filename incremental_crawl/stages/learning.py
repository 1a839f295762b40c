"""What a visit teaches about its hosts: its answers go into the ledger, the ledger into `hosts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from incremental_crawl.semantics.server_software import NOTHING_SAID, HostSigns
from incremental_crawl.semantics.trust import Ledger, TrustMode, learn
from incremental_crawl.semantics.trust_verdict import host_mode, host_verdict
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import host_notes, ledger
from incremental_crawl.storage.ledger import HostRow
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit


def learn_hosts(run: SiteRun, visit: Visit, state: State) -> tuple[list[Ledger], list[HostRow]]:
    """The ledgers after the visit, and what `hosts` will say; nothing is written."""
    seen = ledger.evidence(state, visit.visit)
    known = {(own.host, own.path_group): own for own in ledger.all_groups(state)}
    groups = [
        learn(known.get(key) or Ledger(*key), seen[key], run.clock(), run.site.revalidation.min_304_ratio)
        if key in seen
        else known[key]
        for key in sorted({*known, *seen})
    ]
    by_host: dict[str, list[Ledger]] = defaultdict(list)
    for own in groups:
        by_host[own.host].append(own)
    signs = host_notes.signs(state)
    return groups, [host_row(host, own, signs.get(host, NOTHING_SAID)) for host, own in by_host.items()]


def host_row(host: str, groups: Sequence[Ledger], signs: HostSigns) -> HostRow:
    """A host's path groups rolled up, with what its answers say of its software."""
    modes = {own.mode for own in groups}
    return HostRow(
        host=host,
        mode=host_mode(groups).value,
        conditional_requests=sum(own.conditional for own in groups),
        not_modified=sum(own.not_modified for own in groups),
        same_hash=sum(own.same_record for own in groups),
        audits=sum(own.audits for own in groups),
        etag_trusted=modes.isdisjoint({TrustMode.DATE_ONLY, TrustMode.HASH_ONLY}),
        last_modified_trusted=modes.isdisjoint({TrustMode.TAG_ONLY, TrustMode.HASH_ONLY}),
        head_trusted=any(own.head_trusted for own in groups),
        verdict=host_verdict(groups, signs),
    )
