"""A progress bar while a visit runs; nothing where stderr is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from incremental_crawl.defs.progress import heard_by
from incremental_crawl.stages.site_run import no_progress

_WORDS = {
    "sitemap_urls": "reading sitemaps",
    "revalidation_sweep": "asking what changed",
    "body_snapshots": "fetching and reading",
    "tombstones": "confirming what is gone",
    "page_diffs": "comparing records",
    "reparse": "reading kept bodies",
}


@contextmanager
def progress_bar(site: str) -> Iterator[None]:
    """Show one line per stage of the visit inside the block."""
    console = Console(stderr=True)
    if not console.is_terminal:
        with heard_by(no_progress):
            yield
        return
    columns = (TextColumn(f"{site}  {{task.description:<23}}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}
        tasks[""] = bar.add_task("starting", total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                bar.update(tasks[""], visible=False)
                tasks[stage] = bar.add_task(_WORDS.get(stage, stage), total=total)
            bar.update(tasks[stage], completed=done, total=total)

        with heard_by(show):
            yield
