"""What is said of blocked pages: by the check `not_blocked` after each visit's fetch."""

from __future__ import annotations

from incremental_crawl.semantics.block_signs import BlockKind
from incremental_crawl.stages.gates import GateReport
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import blocks, visits


def blocked_report(run: SiteRun) -> GateReport:
    """What stood in the place of the pages of the day's visit under way, else of its newest.

    Passed where there was nothing but single pages that the server refuses while the rest of the host answers.
    """
    with run.state("check of blocked pages") as state:
        visit = visits.open_on(state, run.day) or visits.latest_on(state, run.day)
        if visit is None:
            return GateReport(True, "no visit of this day", {})
        counts = blocks.counts(state, visit.visit)
        hosts = [host for host in blocks.blocked_hosts(state) if host.last_visit >= visit.visit or host.next_try]
    total = sum(pages for _, pages, _, _ in counts)
    numbers: dict[str, int | float] = {"visit": visit.visit, "blocked": total}
    numbers |= {kind: pages for kind, pages, _, _ in counts}
    told = [f"{pages} × {kind} ({sentence}; for example {url})" for kind, pages, sentence, url in counts]
    sentences = [f"{total} pages are blocked and keep their records: {', '.join(told)}"] if told else []
    for host in hosts:
        until = f"; it is tried again at {host.next_try:%Y-%m-%d %H:%M} UTC" if host.next_try else ""
        sentences.append(f"{host.host} has been blocked since {host.since:%Y-%m-%d %H:%M} UTC{until}")
    passed = not hosts and all(kind == BlockKind.REFUSED for kind, *_ in counts)
    return GateReport(passed, ". ".join(sentences) or "nothing stood in a page's place", numbers)
