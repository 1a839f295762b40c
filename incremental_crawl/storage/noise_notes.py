"""What further loads taught about the noise of a page type, kept between visits."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from incremental_crawl.semantics.noise import Mask
from incremental_crawl.semantics.site_noise import PathEvidence, SiteNoise
from incremental_crawl.storage.state import State

MOST_MASKS = 500
_EVERY_PATH = 0


@dataclass(frozen=True, slots=True)
class _Row:
    page_type: str
    path: int
    stable: int
    moved: int


def load(state: State, page_type: str) -> SiteNoise:
    """The evidence of a page type: the masks of the pages that learnt last, and the paths seen in further loads."""
    masks = state.rows(
        "SELECT mask FROM current_urls WHERE mask IS NOT NULL AND page_type = ? ORDER BY last_checked DESC LIMIT ?",
        [page_type, MOST_MASKS],
    )
    rows = state.rows("SELECT path, stable, moved FROM noise_evidence WHERE page_type = ?", [page_type])
    evidence = {path: PathEvidence(stable, moved) for path, stable, moved in rows if path != _EVERY_PATH}
    pages = next((stable for path, stable, _ in rows if path == _EVERY_PATH), 0)
    return SiteNoise([Mask.from_json(row[0]) for row in masks], evidence, pages)


def keep(state: State, page_type: str, noise: SiteNoise) -> None:
    """Replace the page type's path evidence; the masks are kept with their pages. To be called in a transaction."""
    rows = [_Row(page_type, path, known.stable, known.moved) for path, known in noise.evidence.items()]
    rows.append(_Row(page_type, _EVERY_PATH, noise.pages, 0))
    state.run("DELETE FROM noise_evidence WHERE page_type = ?", [page_type])
    table: pa.Table = state.to_arrow("noise_evidence", rows)
    state.append("noise_evidence", table)
