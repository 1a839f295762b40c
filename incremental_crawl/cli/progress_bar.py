"""A progress bar while a visit runs; nothing where stderr is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from incremental_crawl.defs.progress import heard_by


@contextmanager
def progress_bar(site: str) -> Iterator[None]:
    """Show one line per stage of the visit inside the block."""
    console = Console(stderr=True)
    if not console.is_terminal:
        with heard_by(lambda stage, done, total: None):
            yield
        return
    columns = (TextColumn(f"{site}  {{task.description:<20}}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        with heard_by(show):
            yield
