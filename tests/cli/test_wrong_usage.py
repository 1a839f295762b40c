"""Wrong usage and configuration: exit status 2 and a sentence with file, key, value and what to do; nothing happens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.defs.launch import instance, instance_home
from tests.cli.projects import CommandLine

BROKEN_FILES = {
    "unknown key": ("start_url: [x]", ["start_url: unknown key", '["x"]', "did you mean start_urls?"]),
    "bad regex": (
        "start_urls: ['http://a.example/']\nscope: {include: ['re:(']}",
        ["scope.include", '"re:("', "a glob on path and query"],
    ),
    "bad cron": (
        "start_urls: ['http://a.example/']\nschedule: 'now and then'",
        ["schedule", '"now and then"', "a cron line of five fields"],
    ),
    "no start": ("timezone: UTC", ["start_urls", "a list of at least one http or https URL"]),
    "bad selector": (
        "start_urls: ['http://a.example/']\nextract: [{name: shop, match: '/**', fields: {title: 'h1[['}}]",
        ["extract.shop.fields.title.css", "'h1[['", "not a CSS selector"],
    ),
    "bad share": (
        "start_urls: ['http://a.example/']\ngate: {changed: 1.5}",
        ["gate.changed", "1.5", "between 0 and 1"],
    ),
    "no YAML": ("start_urls: [", ["line 1"]),
}
ON_A_SITE: tuple[Sequence[str], ...] = (
    ["crawl", "shop"],
    ["reparse", "shop", "--from", "2026-11-30"],
    ["review", "shop"],
    ["approve", "shop"],
    ["reject", "shop"],
    ["validate"],
    ["validate", "--show", "shop"],
)


@pytest.fixture
def project(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.mark.parametrize("mistake", BROKEN_FILES)
def test_a_broken_site_file_is_told_with_file_key_value_and_what_is_allowed(project: CommandLine, mistake: str) -> None:
    text, parts = BROKEN_FILES[mistake]
    path = project.write("shop", text)
    for command in ON_A_SITE:
        said = project.here(*command)
        assert said.status == 2, command
        assert str(path) in said.err
        assert [part for part in parts if part not in said.err] == [], command
    assert not project.data.exists()


@pytest.mark.parametrize(
    "command", [*ON_A_SITE[:5], ["validate", "--show", "shop"], ["status", "shop"], ["changes", "shop"]]
)
def test_an_unknown_site_is_told_with_the_ones_that_exist(project: CommandLine, command: Sequence[str]) -> None:
    project.site("shops")
    project.write("oddity", "nonsense: 1")
    said = project.here(*command)
    assert said.status == 2
    assert 'there is no site "shop", did you mean shops?: sites here are oddity, shops' in said.err
    assert said.out == ""


def test_an_unknown_name_keeps_every_site_from_being_crawled(project: CommandLine) -> None:
    project.site("shop")
    said = project.here("crawl", "shop", "shpo", "--json")
    assert (said.status, said.out) == (2, "")
    assert "did you mean shop?" in said.err
    assert not project.data.exists()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["crawl", "shop", "--limit", "0"], "Invalid value for '--limit': 0 is not in the range x>=1"),
        (["crawl", "shop", "--limit", "many"], "'many' is not a valid integer"),
        (["crawl", "shop", "--url", "https://elsewhere.example/a"], "outside the scope of shop (start_urls and scope"),
        (["crawl", "shop", "--url", "http://127.0.0.1:9/private/x"], "outside the scope of shop"),
        (["crawl", "shop", "--url", "ftp://127.0.0.1/"], "not an http or https URL"),
        (["crawl", "shop", "news", "--url", "http://127.0.0.1:9/a"], "--url goes with one site"),
        (["reparse", "shop"], "Missing option '--from'"),
        (["reparse", "shop", "--from", "2026-13-01"], "'2026-13-01' is not a day; write it as 2026-11-30"),
        (["reparse", "shop", "--from", "2999-01-01"], "Invalid value for '--from': 2999-01-01 lies in the future"),
        (["reparse", "shop", "--from", "2026-01-02", "--to", "2026-01-01"], "2026-01-01 lies before 2026-01-02"),
        (["changes", "--since", "yesterday"], "neither a date (2026-11-30), an instant (2026-11-30T08:00Z) nor a"),
        (["changes", "--since", "1d", "--after", "x"], "--since and --after cannot be used together"),
        (["changes", "--kind", "altered"], "'altered' is not one of 'new', 'changed', 'gone', 'restored', 'moved'"),
        (["sql", "SELEC 1"], "syntax error"),
    ],
)
def test_wrong_options_are_told_with_what_is_right(project: CommandLine, command: list[str], sentence: str) -> None:
    project.site("shop", scope={"exclude": ["/private/**"]})
    project.site("news")
    said = project.here(*command)
    assert said.status == 2
    assert sentence in " ".join(said.err.split())
    assert said.out == ""


@pytest.mark.parametrize("command", [["status"], ["changes"], ["sql", "SELECT 1"], ["crawl", "shop"], ["validate"]])
def test_a_data_folder_that_is_a_file_is_told(project: CommandLine, command: list[str]) -> None:
    project.site("shop")
    file = project.folder / "file"
    file.touch()
    said = project.here(*command, INCREMENTAL_CRAWL_DATA=str(file))
    assert said.status == 2
    assert f'INCREMENTAL_CRAWL_DATA: "{file}" is not allowed (it is a file): a folder' in said.err


def test_a_missing_folder_of_site_files_is_told(project: CommandLine) -> None:
    said = project.here("validate", INCREMENTAL_CRAWL_SITES=str(project.folder / "nowhere"))
    assert said.status == 2
    assert f"{project.folder / 'nowhere'}: the folder of site files cannot be read" in said.err
    assert "INCREMENTAL_CRAWL_SITES names it" in said.err


def test_validate_counts_files_and_names_the_broken_ones(project: CommandLine) -> None:
    project.site("shop")
    assert project.here("validate").out == f"1 site file in {project.sites}/, no mistakes\n"
    project.write("odd", "timezone: UTC")
    said = project.here("validate")
    assert (said.status, said.out) == (2, "2 site files, 1 with mistakes: odd\n")


def test_a_mistake_in_the_defaults_is_told_once(project: CommandLine) -> None:
    project.site("shop")
    project.site("news")
    project.write("_defaults", "gate: {changed: 7}")
    said = project.here("validate")
    assert said.status == 2
    assert [line for line in said.err.splitlines() if "gate.changed" in line] == said.err.splitlines()
    assert said.err.count("_defaults.yaml") == 1


def test_validate_shows_all_settings_but_no_secrets(project: CommandLine) -> None:
    project.site("shop", politeness={"contact": "${SHOP_CONTACT}"})
    said = project.here("validate", "--show", "shop", SHOP_CONTACT="me@example.org")
    assert said.status == 0
    assert "contact: ${SHOP_CONTACT}" in said.out
    assert "sweep_concurrency: 24" in said.out
    assert "me@example.org" not in said.out + said.err


@pytest.mark.parametrize("text", ["storage: {nowhere: 1}", "storage: ["])
def test_a_dagster_yaml_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    settings = tmp_path / "dagster.yaml"
    settings.write_text(text, encoding="utf-8")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="settings of a Dagster instance") as caught, instance():
        pass
    assert str(caught.value).startswith(f"{settings}: ")


def test_an_instance_without_settings_gets_those_of_the_project_or_none_that_talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", "alone")
    assert instance_home() == tmp_path / "alone"
    assert "enabled: false" in (tmp_path / "alone" / "dagster.yaml").read_text(encoding="utf-8")
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}", encoding="utf-8")
    monkeypatch.delenv("DAGSTER_HOME")
    assert instance_home() == tmp_path / ".dagster"
    assert (tmp_path / ".dagster" / "dagster.yaml").resolve() == tmp_path / "dagster.yaml"
