"""Which new links are left out: traps, and more pages with parameters than a visit may add to a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from incremental_crawl.semantics.traps import Combinations, stem_of, trap_of
from incremental_crawl.semantics.urls import host_of
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import growth, link_notes
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit


class LinkTraps:
    """Judges the new links of one visit; what is known of parameters is loaded when the first link has some."""

    def __init__(self, run: SiteRun, visit: Visit, state: State) -> None:
        self._skips = run.site.scope.skip_traps
        self._most = run.site.scope.max_new_per_visit
        self._visit = visit
        self._state = state
        self._combinations: Combinations | None = None
        self._added: Counter[str] = Counter()

    def reasons(self, sources: Mapping[str, str]) -> Callable[[str], str | None]:
        """How to judge these new URLs (with the page that each was found on), one by one: why one is left out, or None.

        A URL that is judged None counts as known from then on.
        """
        with_parameters = {url: host_of(url) for url in sources if stem_of(url) != url}
        combinations = self._load(with_parameters) if with_parameters else Combinations()

        def reason(url: str) -> str | None:
            trap = trap_of(url, sources[url], self._visit.day) if self._skips else None
            host = with_parameters.get(url)
            if trap is not None or host is None:
                return trap
            if self._skips and (trap := combinations.trap(host, url)) is not None:
                return trap
            if self._most is not None and self._added[host] >= self._most:
                return growth.MAX_NEW
            self._added[host] += 1
            combinations.add(host, url)
            return None

        return reason

    def _load(self, hosts: Mapping[str, str]) -> Combinations:
        if self._combinations is None:
            self._combinations = Combinations(link_notes.without_effect(self._state))
            self._added.update(link_notes.new_with_parameters(self._state, self._visit.opened_at))
        known = self._combinations
        wanted = {stem_of(url): host for url, host in hosts.items() if known.concerns(host, url)}
        missing = [stem for stem in wanted if not known.is_loaded(stem)]
        if missing and self._skips:
            found = link_notes.with_stems(self._state, missing)
            for stem in missing:
                known.load(wanted[stem], stem, found.get(stem, []))
        return known
