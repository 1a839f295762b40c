"""Links that pages hold: what they lead to joins the frontier, and the plan as far as the visit may ask more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from incremental_crawl.config.site import SiteConfig
from incremental_crawl.extraction.extract import Extract
from incremental_crawl.semantics.answers import Headers
from incremental_crawl.semantics.digest import canonical_json, sha256_text
from incremental_crawl.semantics.tracking_params import TRACKING_FINGERPRINT
from incremental_crawl.semantics.traps import Trap, sentence
from incremental_crawl.stages.link_addresses import Address, LinkAddresses
from incremental_crawl.stages.link_traps import LinkTraps
from incremental_crawl.stages.page_wishes import PageWishes
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import discovery, growth, known_urls, link_notes, plan
from incremental_crawl.storage.growth import LeftOut
from incremental_crawl.storage.rows import PlanRow, PlanState, Reason
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit

_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page whose links are to be taken in; `canonical` is the page that it stands back for."""

    url: str
    depth: int
    at: datetime
    extract: Extract
    headers: Headers
    canonical: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    address: Address
    page: ReadPage
    source: str
    depth: int


def follows_links(run: SiteRun, state: State) -> bool:
    """`auto` follows links while sitemaps and feeds have never yielded anything beyond the start."""
    if run.site.follow_links == "auto":
        return not discovery.has_yielded(state, run.site.start_urls)
    return run.site.follow_links


def links_rule(run: SiteRun) -> str:
    """A fingerprint of what decides which links of a page are taken in."""
    scope, rules = run.site.scope, run.site.scope_rules
    patterns = [[pattern.text for pattern in patterns] for patterns in (rules.include, rules.exclude)]
    tracking = TRACKING_FINGERPRINT if scope.strip_tracking else ""
    heeded = scope.meta_robots != "ignore"
    parts = [sorted(rules.hosts), *patterns, list(scope.strip_params), tracking, scope.skip_traps, heeded]
    return sha256_text(canonical_json(parts))[:16]


def cut_rule(run: SiteRun) -> str:
    """What stands in the place of `links_rule` for a page of which a limit of the site file left links out."""
    scope = run.site.scope
    return f"{links_rule(run)} max_pages={scope.max_pages} max_new_per_visit={scope.max_new_per_visit}"


def left_out_note(row: LeftOut, site: SiteConfig) -> str:
    """What was left out of the links of a visit and what to do, in words."""
    such = f"such as {row.example}" if row.example else ""
    if row.reason == growth.MAX_PAGES:
        return (
            f"{row.left_count} URLs, {such}, do not fit under scope.max_pages ({site.scope.max_pages}) and were left "
            "out: raise it, or narrow the scope with scope.include and scope.exclude"
        )
    if row.reason == growth.MAX_NEW:
        return (
            f"{row.left_count} URLs with parameters, {such}, are more than one visit adds to a host "
            f"(scope.max_new_per_visit: {site.scope.max_new_per_visit}) and were left out; the next visits go on with "
            "them. Where a parameter makes no other page, name it in scope.strip_params"
        )
    return sentence(Trap(row.reason), row.left_count, row.example or "")


class LinkPlanner:
    """Plans the links of the visit's pages; `sequence` numbers plan rows."""

    def __init__(self, run: SiteRun, visit: Visit, state: State, wishes: PageWishes, sequence: Iterator[int]) -> None:
        self._run = run
        self._visit = visit
        self._state = state
        self._wishes = wishes
        self._sequence = sequence
        self._addresses = LinkAddresses(run)
        self._traps = LinkTraps(run, visit, state)
        self._told: set[int] = set()
        self._rule, self._cut_rule = links_rule(run), cut_rule(run)

    def plan(self, pages: Sequence[ReadPage]) -> bool:
        """Take in what nobody knew; to be called in the transaction that keeps the decisions.

        Returns whether a limit of the site file left something out.
        """
        deepest = self._run.site.scope.max_depth
        read = [page for page in pages if page.depth < deepest]
        found = [each for page in pages for each in self._found_on(page, deepest)]
        known = link_notes.known_among(
            self._state, (url for each in found for url in (each.address.written, each.address.short))
        )
        new: dict[str, _Found] = {}
        silent: dict[str, None] = {}
        for each in found:
            # A known page keeps the name it has: no second one joins beside it.
            name = each.address.written if each.address.written in known else each.address.short
            if name not in known:
                new.setdefault(name, each)
            elif known[name]:
                silent[name] = None
        link_notes.name_again(
            self._state, list(silent), max((page.at for page in pages), default=self._visit.opened_at)
        )
        cut = self._take_in(new) if new else set()
        cut_pages = {each.page.url for each in found if each.address.short in cut}
        link_notes.mark_read(
            self._state, {page.url: self._cut_rule if page.url in cut_pages else self._rule for page in read}
        )
        return bool(cut)

    def _found_on(self, page: ReadPage, deepest: int) -> Iterator[_Found]:
        if page.canonical is not None:
            yield _Found(Address(page.canonical, page.canonical), page, f"canonical:{page.url}", page.depth)
        if page.depth >= deepest:
            return
        for link in self._wishes.links(page.extract, page.headers):
            address = self._addresses.of(link, page.url)
            if address is not None:
                yield _Found(address, page, f"link:{page.url}", page.depth + 1)

    def _take_in(self, new: dict[str, _Found]) -> set[str]:
        """Make new URLs known and plan them; returns those that a limit left out."""
        room = self._run.site.scope.max_pages - known_urls.count(self._state)
        reasons = self._traps.reasons({url: each.page.url for url, each in new.items()})
        taken: list[_Found] = []
        left: dict[str, str] = {}
        for url, each in new.items():
            reason = reasons(url) if len(taken) < room else growth.MAX_PAGES
            if reason is None:
                taken.append(each)
            else:
                left[url] = reason
        known_urls.add_links(
            self._state, [(each.address.short, each.source, each.depth, each.page.at) for each in taken]
        )
        plan.append(self._state, [self._planned(each) for each in taken[: self._askable(room)]])
        self._note(left)
        return {url for url, reason in left.items() if reason in (growth.MAX_PAGES, growth.MAX_NEW)}

    def _note(self, left: dict[str, str]) -> None:
        """Count what was left out, each URL once a visit as far as that can be remembered."""
        fresh = {url: reason for url, reason in left.items() if hash(url) not in self._told}
        if len(self._told) < _REMEMBERED:
            self._told.update(map(hash, fresh))
        examples = {reason: url for url, reason in fresh.items()}
        rows = [
            LeftOut(growth.LINKS, reason, count, examples[reason]) for reason, count in Counter(fresh.values()).items()
        ]
        growth.note_left_out(self._state, self._visit.visit, rows)

    def _askable(self, room: int) -> int:
        """How many found pages this visit may still ask; a page that stays unasked is due in the next one."""
        if self._visit.only_urls:
            return 0
        if self._visit.page_limit is None:
            return max(0, room)
        return max(0, min(room, self._visit.page_limit - plan.planned(self._state, self._visit.visit)))

    def _planned(self, found: _Found) -> PlanRow:
        url, seq = found.address.short, next(self._sequence)
        return PlanRow(self._visit.visit, seq, url, Reason.NEW, PlanState.TODO, found.depth, found.source)
