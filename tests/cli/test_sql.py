"""`sql`: questions about the datasets, from an argument, a script or a person at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from incremental_crawl.cli import cli
from incremental_crawl.cli.sql import statements
from tests.cli.conftest import PAGES, Crawled
from tests.cli.projects import CommandLine, Said, on_a_terminal

VIEWS = ("records", "pages", "hosts", "page_records", "page_diffs", "tombstones", "observations", "body_snapshots")


def script(project: CommandLine, text: str, *arguments: str) -> Said:
    """What comes of statements that are read from the input."""
    result = CliRunner().invoke(cli, ["sql", *arguments], input=text, env=project.environment)
    return Said(result.exit_code, result.stdout, result.stderr)


@pytest.mark.parametrize("view", VIEWS)
def test_every_dataset_is_a_view_with_a_column_site(crawled: Crawled, view: str) -> None:
    said = crawled.project.here("sql", f"SELECT site, count(*) AS n FROM {view} GROUP BY ALL", "--json")
    assert (said.status, said.err) == (0, "")
    found = {row["site"]: row["n"] for row in said.objects()}
    assert set(found) <= {"always", "daily", "dead"}
    assert view == "tombstones" or found["daily"] >= 1


def test_a_table_is_aligned_and_its_columns_are_called_as_in_the_query(crawled: Crawled) -> None:
    said = crawled.project.here(
        "sql", "SELECT 'x' AS short, 12345 AS number, NULL AS nothing UNION ALL SELECT 'longer', 7, 'y' ORDER BY 2"
    )
    assert said.out.splitlines() == ["short   number  nothing", "longer       7  y", "x        12345  NULL"]


def test_rows_that_are_too_wide_for_a_screen_are_blocks_of_lines(crawled: Crawled) -> None:
    said = crawled.project.here("sql", "SELECT url, text, stale FROM records WHERE site = 'daily' ORDER BY url LIMIT 2")
    lines = said.out.splitlines()
    assert lines[0] == "── row 1 "
    assert lines[1] == f"url    {crawled.origin.base_url}/"
    assert lines[2].startswith("text   ")
    assert [line for line in lines if line.startswith("stale")] == ["stale  False"] * 2


def test_json_has_instants_numbers_and_lists(crawled: Crawled) -> None:
    said = crawled.project.here(
        "sql",
        "SELECT TIMESTAMPTZ '2026-11-30 08:00Z' AS at, 1.50::DECIMAL(18,4) AS price, ['a'] AS tags, 'ab'::BLOB "
        "AS body, NULL AS none",
        "--json",
    )
    expected = {"at": "2026-11-30T08:00:00+00:00", "price": 1.5, "tags": ["a"], "body": "YWI=", "none": None}
    assert said.objects() == [expected]


def test_a_mistake_is_the_engines_sentence_and_exit_status_2(crawled: Crawled) -> None:
    said = crawled.project.here("sql", "SELECT colour FROM records")
    assert (said.status, said.out) == (2, "")
    assert 'Binder Error: Referenced column "colour" not found' in said.err


def test_statements_without_rows_say_nothing(crawled: Crawled, tmp_path: Path) -> None:
    target = tmp_path / "records.csv"
    said = crawled.project.here(
        "sql", f"COPY (SELECT url FROM records WHERE site = 'daily') TO '{target}'; SELECT 1 AS one"
    )
    assert said.status == 0
    assert said.out.splitlines()[-2:] == ["one", "1"] or said.out.splitlines()[-2:] == ["one", "  1"]
    assert len(target.read_text(encoding="utf-8").splitlines()) == PAGES + 2


def test_a_script_is_answered_statement_by_statement_and_stops_at_a_mistake(crawled: Crawled) -> None:
    said = script(crawled.project, "SELECT 1 AS a;\nSELECT\n  2 AS b\n;\n\nSELECT nope;\nSELECT 3 AS c;\n")
    assert said.out.split() == ["a", "1", "b", "2"]
    assert said.status == 2
    assert "nope" in said.err


def test_the_last_statement_of_a_script_needs_no_semicolon(crawled: Crawled) -> None:
    said = script(crawled.project, "SELECT 1 AS a;\nSELECT 2 AS b", "--json")
    assert (said.status, said.objects()) == (0, [{"a": 1}, {"b": 2}])


def test_what_is_typed_is_gathered_into_statements() -> None:
    typed = [
        "",
        "SELECT 1;",
        "SELECT",
        "2;",
        "SELECT half",
        None,
        "  ",
        "FROM x",
        "quit",
        ";",
        "quit;",
        "SELECT never;",
    ]
    assert list(statements(iter(typed))) == ["SELECT 1;\n", "SELECT\n2;\n", "FROM x\nquit\n;\n"]


def test_a_person_at_a_terminal_is_asked_and_answered(crawled: Crawled) -> None:
    typed = (
        "SELECT count(*) AS n FROM pages\n WHERE site = 'daily';\nSELECT oops;\nSELECT 'still ' || 'here' AS w;\n\x04"
    )
    shown = on_a_terminal(crawled.project, "sql", typed=typed)
    assert "Views: records, pages, hosts, page_records" in shown
    assert "> " in shown
    assert "… " in shown
    assert str(PAGES + 1) in shown
    assert "(1 row)" in shown
    assert "oops" in shown
    assert "still here" in shown
    assert "Traceback" not in shown


def test_before_the_first_crawl_a_view_is_said_to_be_missing(tmp_path: Path) -> None:
    project = CommandLine(tmp_path)
    said = project.here("sql", "SELECT * FROM records")
    assert said.status == 2
    assert f"no data yet under {project.data}: crawl a site first" in said.err
    assert project.here("sql", "SELECT 1 AS one").status == 0
    assert not project.data.exists()
