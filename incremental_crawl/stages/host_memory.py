"""What is carried from stage to stage and from visit to visit about hosts, and the way to them."""

from __future__ import annotations

from incremental_crawl.semantics.robots import RobotsRules
from incremental_crawl.semantics.validators import Validators
from incremental_crawl.stages.fingerprints import Fingerprints
from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import host_notes
from incremental_crawl.storage.host_notes import RobotsNote
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit
from incremental_crawl.transport.addresses import AddressGuard
from incremental_crawl.transport.client import AiohttpTransport, authorities
from incremental_crawl.transport.exchange import Exchange
from incremental_crawl.transport.memory import Memory
from incremental_crawl.transport.proxy import Proxy
from incremental_crawl.transport.robots_lookup import HeldRobots, KnownRobots


def transport_of(run: SiteRun) -> AiohttpTransport:
    """The site's way to the network: guarded, with its own authorities, through its proxy."""
    own = run.site.politeness
    guard = AddressGuard.for_site(run.site.allow_private_hosts, run.site.start_urls)
    proxy = None if own.proxy is None else Proxy.of(own.proxy)
    return AiohttpTransport(guard, tls=authorities(own.ca_file), proxy=proxy)


def remembered(state: State, visit: Visit, prints: Fingerprints) -> Memory:
    """What this visit and earlier ones know of hosts."""
    return Memory(_known_robots(state, visit, prints), host_notes.strains(state))


def remember(exchange: Exchange, state: State, visit: Visit, prints: Fingerprints) -> None:
    """Keep what the exchange has learnt of hosts, for later stages and visits."""
    host_notes.keep_robots(state, _robots_notes(exchange, visit, prints))
    host_notes.keep_strains(state, exchange.strains())


def _known_robots(state: State, visit: Visit, prints: Fingerprints) -> dict[str, KnownRobots]:
    """What this visit has read is in force; what earlier ones read is revalidated, if the same headers are sent."""
    known: dict[str, KnownRobots] = {}
    for note in host_notes.robots(state):
        if note.visit == visit.visit:
            known[note.origin] = RobotsRules.parse(note.body)
            continue
        same = note.representation == prints.of(_robots_url(note.origin))
        own = Validators(note.etag, note.last_modified) if same else Validators()
        known[note.origin] = HeldRobots(note.body, own, note.read_at)
    return known


def _robots_notes(exchange: Exchange, visit: Visit, prints: Fingerprints) -> list[RobotsNote]:
    return [
        RobotsNote(
            origin,
            visit.visit,
            own.body,
            own.validators.etag,
            own.validators.last_modified,
            own.read_at,
            prints.of(_robots_url(origin)),
        )
        for origin, own in exchange.robots_received.items()
    ]


def _robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"
