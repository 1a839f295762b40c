"""The secret with which fingerprints of a site's request headers are made."""

from __future__ import annotations

import secrets

from incremental_crawl.storage.state import State

_KEY = "representation_key"


def site_key(state: State) -> bytes:
    """The site's own random key, made at the first use. It never leaves the state file."""
    held = state.meta(_KEY)
    if held is None:
        held = secrets.token_hex(32)
        state.set_meta(_KEY, held)
    return bytes.fromhex(held)
