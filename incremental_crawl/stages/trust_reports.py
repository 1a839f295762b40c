"""What the checks say about a site's servers: whether audits agree with 304s, and whether validators are of use."""

from __future__ import annotations

from incremental_crawl.semantics.trust import Ledger, TrustMode
from incremental_crawl.semantics.trust_verdict import clean_audits, host_verdict
from incremental_crawl.stages.gates import GateReport
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import ledger, reports, visits
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit, VisitStatus

_MOST_HOSTS = 5


def audit_report(run: SiteRun) -> GateReport:
    """Whether the audits of the day's visit agree with the 304s that they were drawn from."""
    with run.state("check of the audit") as state:
        visit = visits.open_on(state, run.day) or visits.latest_on(state, run.day)
        if visit is None:
            return GateReport(True, "no visit of this day", {})
        numbers = _numbers(state, visit)
        audits, false = int(numbers.get("audits", 0)), int(numbers.get("false 304", 0))
        clean = sum(own.clean_audits for own in ledger.all_groups(state) if not own.false_304)
    told: dict[str, int | float] = {"audits": audits, "false 304": false}
    if false:
        return GateReport(False, f"{false} of {audits} audited pages had changed although they were answered 304", told)
    if not audits and not clean:
        return GateReport(True, "no 304 has been audited", told)
    return GateReport(True, f"{audits} audits in this visit; {clean_audits(max(clean, audits))}", told)


def validators_report(run: SiteRun) -> GateReport:
    """Whether every host's validators are believed as they come."""
    with run.state("check of validators") as state:
        groups = ledger.all_groups(state)
    numbers: dict[str, int | float] = {"path groups": len(groups)}
    doubted = [own for own in groups if own.mode is not TrustMode.BOTH or own.false_304]
    numbers["not trusted"] = len(doubted)
    if not doubted:
        return GateReport(True, "no host's validators are doubted", numbers)
    by_host: dict[str, list[Ledger]] = {}
    for own in doubted:
        by_host.setdefault(own.host, []).append(own)
    told = [f"{host}: {host_verdict(own)}" for host, own in list(by_host.items())[:_MOST_HOSTS]]
    more = f" … and {len(by_host) - _MOST_HOSTS} more hosts" if len(by_host) > _MOST_HOSTS else ""
    return GateReport(False, "\n".join(told) + more, numbers)


def _numbers(state: State, visit: Visit) -> dict[str, int | float]:
    if visit.status in (VisitStatus.OPEN, VisitStatus.WAITING):
        return reports.count_visit(state, visit.visit).numbers()
    return visits.summary(state, visit.visit)
