"""Expected failures as one sentence on stderr and an exit status; anything else is a defect and keeps its traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.config.project import DATA_DIR
from incremental_crawl.storage.lock import SiteLocked
from incremental_crawl.storage.readers import DatasetsUnreadable
from incremental_crawl.storage.state import StateTooNew, StateUnusable
from incremental_crawl.storage.visits import VisitRefused

_INSTANCE = "DAGSTER_HOME"
FAILED = 1
WRONG = 2
REFUSALS = (SiteLocked, StateTooNew, StateUnusable, VisitRefused, DatasetsUnreadable)


class Stopped(click.ClickException):
    """Ends the program with a sentence and exit status 1."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        """The sentence alone."""
        click.echo(self.message, file=file, err=file is None)


class Misconfigured(Stopped):
    """Ends the program with a sentence and exit status 2."""

    exit_code = WRONG


@contextmanager
def told() -> Iterator[None]:
    """Turn the expected failures of the block into `Stopped`."""
    try:
        yield
    except ConfigError as error:
        raise Misconfigured(str(error)) from None
    except REFUSALS as refusal:
        raise Stopped(str(refusal)) from None
    except KeyboardInterrupt:
        raise Stopped("\nstopped") from None
    except OSError as error:
        if error.filename is None or isinstance(error, BrokenPipeError):
            raise
        raise Stopped(file_sentence(error)) from None


def file_sentence(error: OSError) -> str:
    """Which file or folder could not be used, why, and what to do."""
    reason = (error.strerror or type(error).__name__).lower()
    home = os.environ.get(_INSTANCE)
    variable = _INSTANCE if home and str(error.filename).startswith(home) else DATA_DIR
    return f"{error.filename}: {reason}; make it usable, or choose another folder with {variable}"


class ToldGroup(click.Group):
    """A group of commands whose expected failures are told."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with told():
            return super().invoke(ctx)
