"""What the program says about itself, and about words that it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

import incremental_crawl
from tests.cli.projects import CommandLine

COMMANDS = ("crawl", "changes", "status", "sql", "review", "approve", "reject", "reparse", "validate", "origin")
WITH_EXAMPLES = ("crawl", "changes", "sql", "reparse")


@pytest.fixture
def project(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", ["80", "120"])
def test_every_command_explains_itself_within_the_terminal(project: CommandLine, command: str, width: str) -> None:
    said = project.here(command, "--help", COLUMNS=width)
    assert said.status == 0
    assert said.out.startswith(f"Usage: incremental-crawl {command} ")
    assert max(map(len, said.out.splitlines())) <= int(width)
    assert ("Examples:" in said.out) == (command in WITH_EXAMPLES)
    assert project.here(command, "-h", COLUMNS=width) == said


def test_examples_are_complete_commands(project: CommandLine) -> None:
    for command in WITH_EXAMPLES:
        lines = project.here(command, "--help").out.splitlines()
        examples = [line for line in lines if line.startswith("    incremental-crawl ")]
        assert len(examples) >= 2
        assert all(line.split()[1] == command for line in examples)


def test_the_program_lists_its_commands_in_the_order_of_use(project: CommandLine) -> None:
    said = project.here("--help", COLUMNS="80")
    listed = said.out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    assert not any(line.endswith("...") for line in listed), "no summary is cut"
    assert "Exit status: 0" in said.out


def test_the_version_is_that_of_the_package(project: CommandLine) -> None:
    assert project.here("--version").out == f"incremental-crawl {incremental_crawl.__version__}\n"


@pytest.mark.parametrize("command", ["refetch", "why", "history", "try", "alerts", "doctor", "frobnicate"])
def test_a_command_that_is_not_built_is_an_error(project: CommandLine, command: str) -> None:
    said = project.here(command)
    assert said.status == 2
    assert f"No such command '{command}'" in said.err
    assert said.out == ""


def test_the_module_is_the_program(project: CommandLine) -> None:
    said = project.run("--version")
    assert (said.status, said.out, said.err) == (0, f"incremental-crawl {incremental_crawl.__version__}\n", "")
    nothing = project.run("crawl")
    assert nothing.status == 2
    assert "Missing argument 'SITE...'" in nothing.err
    assert nothing.out == ""
