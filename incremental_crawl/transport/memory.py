"""What an exchange is told of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from incremental_crawl.semantics.strain import HostStrain
from incremental_crawl.transport.robots_lookup import KnownRobots


@dataclass(frozen=True, slots=True)
class Memory:
    """By origin, rules in force or a robots.txt to be revalidated; by host (`host:port`), how strained it was."""

    robots: Mapping[str, KnownRobots] = field(default_factory=dict)
    strains: Mapping[str, HostStrain] = field(default_factory=dict)


NO_MEMORY = Memory()
