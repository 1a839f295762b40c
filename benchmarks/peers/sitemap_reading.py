"""One reading of a site's sitemaps by ultimate-sitemap-parser, in a process of its own: a line of JSON out.

`python -m benchmarks.peers.sitemap_reading BASE` runs in the peers' environment, so it imports nothing of the product.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import time


def main(base: str) -> None:
    """Read all pages that the site at `base` lists and say how many there are and what it took."""
    from usp.tree import sitemap_tree_for_homepage  # type: ignore[import-not-found]

    logging.disable(logging.CRITICAL)
    cpu, wall = time.process_time(), time.perf_counter()
    tree = sitemap_tree_for_homepage(base, use_known_paths=False)
    pages = sum(1 for page in tree.all_pages() if page.url)
    cost = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    cost["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"pages": pages, **cost}))


if __name__ == "__main__":
    main(sys.argv[1])
