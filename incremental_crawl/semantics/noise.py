"""The noise mask of a page without declared fields: `learn` it from two loads of one moment, `apply` it to compare."""

from __future__ import annotations

from incremental_crawl.semantics.noise_learning import learn
from incremental_crawl.semantics.noise_mask import Mask, apply, shared

__all__ = ["Mask", "apply", "learn", "shared"]
