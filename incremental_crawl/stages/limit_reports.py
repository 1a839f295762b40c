"""What the check `page_limit_reached` says: URLs that a limit left out, whose sources, and what to do."""

from __future__ import annotations

from incremental_crawl.stages.gates import GateReport
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import discovery, growth, visits
from incremental_crawl.storage.growth import LeftOut

_MOST_SOURCES = 5


def page_limit_report(run: SiteRun) -> GateReport:
    """Whether the day's visit took in every URL it found and asked every page that was due."""
    with run.state("check of the limits") as state:
        visit = visits.open_on(state, run.day) or visits.latest_on(state, run.day)
        if visit is None:
            return GateReport(True, "no visit of this day", {})
        rows = [row for row in growth.left_out(state, visit.visit) if row.reason in (growth.MAX_PAGES, growth.MAX_NEW)]
        listed = any(row.found_in == growth.LISTINGS for row in rows)
        sources = discovery.unknown_by_source(state) if listed else []
    unasked = max(0, (visit.due or 0) - visit.page_limit) if visit.page_limit is not None else 0
    numbers: dict[str, int | float] = {
        "left out": sum(row.left_count for row in rows),
        "left out of listings": sum(row.left_count for row in rows if row.found_in == growth.LISTINGS),
        "not asked": unasked,
    }
    told = [_sentence(row, sources, run) for row in rows]
    if unasked:
        limit = f"the visit's limit of {visit.page_limit} pages"
        told.append(f"{unasked} due pages were not asked by {limit}: they come first in the next visit")
    return GateReport(not told, "\n".join(told) or "nothing was left out", numbers)


def _sentence(row: LeftOut, sources: list[tuple[str, int]], run: SiteRun) -> str:
    scope = run.site.scope
    example = f" (for example {row.example})" if row.example else ""
    if row.reason == growth.MAX_NEW:
        return (
            f"{row.left_count} linked URLs{example} were left out by scope.max_new_per_visit "
            f"({scope.max_new_per_visit}): the next visits go on with them; raise it, or leave floods out by "
            "scope.exclude or scope.strip_params"
        )
    what = "listed" if row.found_in == growth.LISTINGS else "linked"
    by = ", ".join(f"{count} of {url}" for url, count in sources[:_MOST_SOURCES]) if what == "listed" else ""
    more = f" and {len(sources) - _MOST_SOURCES} more sources" if len(sources) > _MOST_SOURCES and by else ""
    return (
        f"{row.left_count} {what} URLs{example} were left out{': ' if by else ''}{by}{more}, for scope.max_pages "
        f"({scope.max_pages}) is reached: raise it, or narrow the site by scope.include and scope.exclude"
    )
