"""The documentation is true: links lead somewhere, commands exist, examples run, tables agree with the code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from incremental_crawl.cli import cli
from incremental_crawl.config.loading import load_site
from incremental_crawl.config.project import Project
from incremental_crawl.origin.bookshop import DEFAULT_PORT, Bookshop, StepFile
from incremental_crawl.semantics.answers import REDIRECT_STATUSES, Ask, Failure, FailureKind, Purpose, Timing
from incremental_crawl.semantics.events import EventKind
from incremental_crawl.semantics.outcome import Outcome, classify, status_outcome
from incremental_crawl.stages.site_run import SiteRun
from tests.crawl.visiting import STAGES
from tests.markdown import PAGES, ROOT, Block, Link, anchors, blocks, links, names, section, shell_commands, tables

DATA_PAGE = ROOT / "docs" / "data.md"
HTTP_TABLES = tables((ROOT / "docs" / "http.md").read_text(encoding="utf-8"))
DATA_TABLES = tables(DATA_PAGE.read_text(encoding="utf-8"))
DATASETS = [names(row[0])[0] for row in DATA_TABLES["dataset"]]
NOW = datetime.now(UTC)
DEFAULTS: dict[str, str | None] = {"INCREMENTAL_CRAWL_DATA": None, "INCREMENTAL_CRAWL_SITES": None}
PROGRAM = ".venv/bin/incremental-crawl"
[FIRST_SITE] = [block for block in blocks("yaml") if block.page.name == "README.md"]
READING = {"changes", "sql", "status", "validate"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the bookshop's site file and, in `data/`, what two visits of it found."""
    folder = tmp_path_factory.mktemp("documentation")
    step = StepFile(folder / "step")
    with Bookshop(step.read, port=0, noise_seed=7) as bookshop:
        shipped = (ROOT / "sites" / "bookshop.yaml").read_text(encoding="utf-8")
        (folder / "sites").mkdir()
        written = shipped.replace(f"http://127.0.0.1:{DEFAULT_PORT}", bookshop.base_url)
        (folder / "sites" / "bookshop.yaml").write_text(written, encoding="utf-8")
        (folder / "sites" / "shop.yaml").write_text(FIRST_SITE.text, encoding="utf-8")
        project = Project(folder / "sites", folder / "data", NOW.date())
        for _ in range(2):
            run = SiteRun(project, load_site(project.sites_dir, "bookshop"), NOW.date(), lambda: NOW)
            for stage in STAGES:
                stage(run)
            step.advance()
        yield folder


@pytest.fixture
def in_shop(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's working directory is the shop's folder."""
    monkeypatch.chdir(shop)
    return shop


@pytest.mark.parametrize("link", [link for link in links() if "://" not in link.target], ids=str)
def test_every_link_leads_to_a_file_and_a_heading_that_exist(link: Link) -> None:
    name, _, anchor = link.target.partition("#")
    target = (link.page.parent / name).resolve() if name else link.page
    assert target.is_file()
    assert not anchor or anchor in anchors(target)


def test_every_picture_says_what_it_shows() -> None:
    assert [str(link) for link in links() if link.image and len(link.text.split()) < 5] == []


def test_every_page_is_linked_from_the_front_page() -> None:
    linked = {link.target for link in links() if link.page.name == "README.md"}
    assert {page.relative_to(ROOT).as_posix() for page in PAGES} - linked == {"README.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![\w/])(?:\.venv/bin/)?incremental-crawl ([a-z]+)", text)) <= set(cli.commands)
    targets = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:`|^ *)make ([a-z-]+)", text, re.MULTILINE)) <= set(" ".join(targets).split())


@pytest.mark.parametrize(("block", "line"), shell_commands(), ids=str)
def test_every_option_shown_exists(block: Block, line: str) -> None:
    words = shlex.split(line)
    if PROGRAM not in words:
        return
    name, *arguments = words[words.index(PROGRAM) + 1 :]
    command = cli.commands[name]
    with command.context_class(command, info_name=name) as ctx:
        command.make_parser(ctx).parse_args(arguments)


@pytest.mark.parametrize("line", sorted({line for _, line in shell_commands() if line.startswith(PROGRAM)}))
def test_every_reading_command_shown_runs(in_shop: Path, line: str) -> None:
    arguments = shlex.split(line)[1:]
    if arguments[0] not in READING:
        return
    result = CliRunner().invoke(cli, arguments, env=DEFAULTS)
    assert (result.exit_code, result.exception) == (0, None), result.output


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_every_python_example_runs(in_shop: Path, block: Block) -> None:
    exec(compile(block.text, str(block), "exec"), {})


@pytest.mark.parametrize("block", blocks("sql"), ids=str)
def test_every_sql_example_runs_in_the_sql_command(in_shop: Path, block: Block) -> None:
    result = CliRunner().invoke(cli, ["sql", "--json", block.text], env=DEFAULTS)
    assert result.exit_code == 0, result.output
    assert result.stdout or "failures" in block.text, "an example that finds nothing shows nothing"


def test_the_first_site_file_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(FIRST_SITE.text, encoding="utf-8")
    assert load_site(tmp_path, "shop", {}).extract[0].name == "product"


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_columns_of_a_dataset_are_those_of_its_files(shop: Path, dataset: str) -> None:
    documented = [(names(row[0])[0], row[1]) for row in tables(section(DATA_PAGE, dataset))["column"]]
    files = sorted((shop / "data" / dataset).rglob("*.parquet"))
    assert files
    for file in files:
        columns = _columns(file)
        assert columns[: len(documented)] == documented
        assert columns[len(documented) :] == _declared(file)


def _declared(file: Path) -> list[tuple[str, str]]:
    """What follows the common columns: nothing but in `records`."""
    if "type=" not in str(file):
        return []
    site = load_site(file.parents[4] / "sites", "bookshop")
    types = {name: row[1] for row in DATA_TABLES["in the site file"] for name in names(row[0])}
    for page_type in site.extract:
        if file.parent.name == f"type={page_type.name}":
            return [
                column for name, own in page_type.fields.items() for column in _shown(name, own.type, own.list, types)
            ]
    return [("text", "VARCHAR")]


def _shown(name: str, kind: str, is_list: bool, types: dict[str, str]) -> list[tuple[str, str]]:
    if is_list:
        return [(name, types["list: true"])]
    own, _, beside = types[kind].partition(", and `<name>_currency` ")
    currency = [(f"{name}_currency", beside.split()[0])] if beside else []
    return [(name, own), *currency]


def _columns(file: Path) -> list[tuple[str, str]]:
    with duckdb.connect() as con:
        rows = con.execute(f"DESCRIBE FROM read_parquet('{file}', hive_partitioning = false)").fetchall()
    return [(row[0], row[1]) for row in rows]


def test_every_outcome_kind_and_purpose_is_explained() -> None:
    assert {names(row[0])[0] for row in DATA_TABLES["outcome"]} == set(Outcome)
    assert {names(row[0])[0] for row in DATA_TABLES["kind"]} == set(EventKind)
    purposes = section(DATA_PAGE, "observations").partition("Purposes:")[2].partition("\n\n")[0]
    assert set(names(purposes)) == set(Purpose)


def test_the_table_of_statuses_is_the_one_that_classifies() -> None:
    documented = {row[0]: names(row[1]) for row in HTTP_TABLES["status"]}
    for status in {*range(200, 600)} - REDIRECT_STATUSES - {HTTPStatus.NOT_MODIFIED}:
        group = "5xx" if status >= 500 else "others"
        assert documented.get(str(status), documented[group])[0] == status_outcome(status), status


def test_the_table_of_failures_is_the_one_that_classifies() -> None:
    documented = {kind: names(row[1])[0] for row in HTTP_TABLES["no answer because"] for kind in names(row[0])}
    ask = Ask("https://shop.example/", Purpose.SWEEP)
    assert documented == {kind: classify(ask, Failure(kind, "", Timing(NOW)), True) for kind in FailureKind}


def test_every_environment_variable_is_documented() -> None:
    page = tables((ROOT / "docs" / "operations.md").read_text(encoding="utf-8"))
    documented = {names(row[0])[0] for row in page["variable"]}
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "incremental_crawl").rglob("*.py"))
    assert documented == {*re.findall(r"\"(INCREMENTAL_CRAWL_[A-Z_]+|BOOKSHOP_PORT|DAGSTER_HOME)\"", code)}


def test_every_stage_has_a_row_and_every_layer_a_line() -> None:
    page = ROOT / "docs" / "architecture.md"
    stages = {names(row[0])[0] for row in tables(page.read_text(encoding="utf-8"))["stage"]}
    assert stages == {stage.__module__.rsplit(".", 1)[-1] for stage in STAGES}
    packages = {path.parent.name for path in (ROOT / "incremental_crawl").glob("*/__init__.py")}
    for text in (section(page, "Layers"), (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        assert packages <= set(re.findall(r"\w+", text))


def test_every_folder_of_tests_is_described() -> None:
    rows = tables((ROOT / "docs" / "testing.md").read_text(encoding="utf-8"))["folder"]
    described = {name for row in rows for name in names(row[0]) if not name.endswith(".py")}
    assert described == {f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/__init__.py")}
