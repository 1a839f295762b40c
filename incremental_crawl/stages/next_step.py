"""What to do where a first visit found nothing but the pages it began with."""

from __future__ import annotations

from incremental_crawl.stages.site_run import SiteRun
from incremental_crawl.storage import discovery, known_urls
from incremental_crawl.storage.state import State
from incremental_crawl.storage.visits import Visit


def next_step(run: SiteRun, visit: Visit, state: State) -> str | None:
    """A sentence for a site's first visit whose sources list nothing and whose pages link to nothing, else None.

    A site that looks for nothing else by its own file is as it wants to be.
    """
    site = run.site
    looks = site.sitemaps != "none" or bool(site.feeds) or bool(site.follow_links)
    if visit.visit > 1 or visit.only_urls or not looks or known_urls.count(state) > len(site.start_urls):
        return None
    listed = sum(source.entries for source in discovery.read_in(state, visit.visit))
    tried = ["no sitemap or feed lists another page" if not listed else "sitemaps and feeds list these pages alone"]
    tried += ["no link leads to one within scope"] if site.follow_links else ["links are not followed (follow_links)"]
    pages = "the start page" if len(site.start_urls) == 1 else "the start pages"
    return (
        f"nothing was found but {pages}: {' and '.join(tried)}. Next: name the site's sitemaps or feeds in "
        f"{site.name}.yaml (sitemaps, feeds), look whether scope leaves its pages out, or list pages as start_urls; "
        "the links of a page that is built by scripts cannot be seen"
    )
