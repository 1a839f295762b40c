"""What answers say about the software of their hosts, gathered while a stage asks and kept for the verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from incremental_crawl.semantics.answers import Answer, Ask, Purpose
from incremental_crawl.semantics.server_software import NOTHING_SAID, HostSigns, signs
from incremental_crawl.semantics.urls import host_of
from incremental_crawl.storage import host_notes
from incremental_crawl.storage.state import State

ENOUGH_HEARD = 200
"""A host's first answers about pages speak for it: so many in a stage."""
_NO_PAGES = frozenset({Purpose.ROBOTS, Purpose.SITEMAP})


class SoftwareWatch:
    """Hears answers about pages; of several servers of one host the one that answers most counts."""

    def __init__(self) -> None:
        self._heard: dict[str, list[HostSigns]] = defaultdict(list)

    def heard(self, ask: Ask, answer: Answer) -> None:
        """Take an answer in."""
        if ask.purpose in _NO_PAGES:
            return
        heard = self._heard[host_of(ask.url)]
        if len(heard) < ENOUGH_HEARD and (told := signs(ask, answer)) is not None:
            heard.append(told)

    def keep(self, state: State) -> None:
        """Keep what is new of the hosts that answered."""
        said = {host: _summed(heard) for host, heard in self._heard.items()}
        if all(own == NOTHING_SAID for own in said.values()):
            return
        known = host_notes.signs(state)
        found = {host: known.get(host, NOTHING_SAID).after(own) for host, own in said.items()}
        host_notes.keep_signs(state, {host: own for host, own in found.items() if own != known.get(host)})


def _summed(heard: Sequence[HostSigns]) -> HostSigns:
    """The most frequent server and cache, the first by name where several are, and every sign."""
    servers = Counter(own.server for own in heard if own.server is not None)
    caches = Counter(own.cache for own in heard if own.cache is not None)
    return HostSigns(
        min(servers, key=lambda own: (-servers[own], own), default=None),
        min(caches, key=lambda own: (-caches[own], own), default=None),
        frozenset(sign for own in heard for sign in own.seen),
    )
