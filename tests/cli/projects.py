"""A project in a folder of its own, and the command line used in it: as processes of their own, or in one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from incremental_crawl.cli import cli
from tests.crawl.visiting import local_site

REPOSITORY = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "incremental_crawl"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a command wrote and how it ended."""

    status: int
    out: str
    err: str

    def objects(self) -> list[Any]:
        """Its stdout as lines of JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class CommandLine:
    """The command line in the project of `folder`; every process gets the same environment."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sites.mkdir(parents=True, exist_ok=True)

    @property
    def sites(self) -> Path:
        """The folder of the site files."""
        return self.folder / "sites"

    @property
    def data(self) -> Path:
        """The data root."""
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """What distinguishes this project's processes from those of any other."""
        own = {
            "INCREMENTAL_CRAWL_SITES": str(self.sites),
            "INCREMENTAL_CRAWL_DATA": str(self.data),
            "DAGSTER_HOME": str(self.folder / "dagster"),
            "PYTHONPATH": str(REPOSITORY),
            "COLUMNS": "100",
        }
        return own | self.settings

    def site(self, name: str, start: str = "http://127.0.0.1:9/", **settings: Any) -> Path:
        """Write a site file for an origin on loopback."""
        return self.write(name, yaml.safe_dump(local_site(start, **settings)))

    def write(self, name: str, text: str) -> Path:
        """Write a site file as it is."""
        path = self.sites / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def here(self, *arguments: str, **environment: str) -> Said:
        """Run a command that does not need Dagster in this process."""
        names = {**self.environment, **environment}
        result = CliRunner().invoke(cli, arguments, env=names, prog_name="incremental-crawl")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Said(result.exit_code, result.stdout, result.stderr)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """Start the program as a process."""
        return subprocess.Popen(
            [*PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=os.environ | self.environment,
            cwd=self.folder,
            **options,
        )

    def run(self, *arguments: str) -> Said:
        """Run the program as a process, to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=100)
        return Said(process.returncode, out, err)


class Shell(AbstractContextManager["Shell"]):
    """A process that runs one command after the other; `before` are words to start it with."""

    def __init__(self, project: CommandLine, before: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            [*before, sys.executable, "-m", "tests.cli.shell"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | project.environment,
            cwd=project.folder,
        )

    def __call__(self, *arguments: str) -> Said:
        """Run a command."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(arguments) + "\n")
        stdin.flush()
        return Said(**json.loads(stdout.readline()))

    def __exit__(self, *exc: object) -> None:
        self._process.communicate(timeout=60)


def on_a_terminal(project: CommandLine, *arguments: str, typed: str = "", **environment: str) -> str:
    """What the program writes to a terminal on which `typed` is typed once it asks for something."""
    ours, theirs = pty.openpty()
    own = os.environ | project.environment | {"TERM": "xterm-256color"} | environment
    with subprocess.Popen([*PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=own) as process:
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 65536):
                written += piece
                if typed and written.endswith(b"> "):
                    os.write(ours, typed.encode())
                    typed = ""
        except OSError:  # the way Linux says that the other end is closed
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0, written.decode()
    return written.decode()
