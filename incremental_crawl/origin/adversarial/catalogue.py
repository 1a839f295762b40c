"""The catalogue: every behaviour, in the order of the kinds."""

from __future__ import annotations

from incremental_crawl.origin.adversarial.behaviour import Behaviour
from incremental_crawl.origin.adversarial.kinds import (
    blocked,
    charset,
    conditions,
    disappearance,
    encoding,
    framing,
    head_method,
    locations,
    network,
    noise,
    not_modified,
    politeness,
    redirects,
    robots,
    urls,
    validators,
)

_KINDS = (
    validators,
    conditions,
    not_modified,
    head_method,
    framing,
    network,
    encoding,
    charset,
    redirects,
    locations,
    robots,
    urls,
    politeness,
    disappearance,
    blocked,
    noise,
)

CATALOGUE: tuple[Behaviour, ...] = tuple(one for kind in _KINDS for one in kind.behaviour.made)
BY_NAME = {one.name: one for one in CATALOGUE}
