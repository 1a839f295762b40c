from __future__ import annotations

from pathlib import Path

import pytest

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.config.yaml_file import LARGEST_FILE, YamlFile, read_yaml


def read(folder: Path, content: str | bytes) -> YamlFile:
    path = folder / "a.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_yaml(path)


def message(folder: Path, content: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        read(folder, content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("no", "no"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2026-11-30", "2026-11-30"),
        ("null", None),
        ("~", None),
        ("", None),
        ("1_000", 1_000),
        ("007", 7),
        ("0.5", 0.5),
        (".inf", ".inf"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("none", "none"),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_plain_values_mean_what_they_look_like(tmp_path: Path, text: str, value: object) -> None:
    found = read(tmp_path, f"key: {text}\n").data["key"]
    assert (found, type(found)) == (value, type(value))


def test_keys_are_always_texts(tmp_path: Path) -> None:
    assert read(tmp_path, "yes: 1\n404: 2\nnull: 3\n").data == {"yes": 1, "404": 2, "null": 3}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\ufeff# with a mark\n"])
def test_a_file_without_content_is_empty(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).data == {}


def test_lines_of_keys_and_items_are_known(tmp_path: Path) -> None:
    file = read(tmp_path, "a: 1\nb:\n  - x\n  - {c: 2}\n")
    assert file.lines == {("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4}


def test_a_key_written_twice_is_a_problem_and_the_first_one_stays(tmp_path: Path) -> None:
    file = read(tmp_path, "gate:\n  gone: 1\n  gone: 2\n")
    assert file.data == {"gate": {"gone": 1}}
    assert [str(problem) for problem in file.problems] == ["gate.gone: written twice, on lines 2 and 3: each key once"]


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("a: {json: offers[0].price}\n", "line 1, column 17", "in quotes"),
        ("a: b: c\n", "line 1, column 5", "in quotes"),
        ("a:\n  - [**.pdf]\n", "line 2, column 7", "in quotes"),
        ("a: *anchor\n", "line 1, column 4", "in quotes"),
        ("a: &x 1\n", "line 1, column 4", "in quotes"),
        ("a: !!python/object/apply:os.system ['true']\n", "line 1, column 4", "in quotes"),
        ("a: !!python/object:os.x {}\n", "line 1, column 4", "in quotes"),
        ("a:\n\tb: 1\n", "line 2, column 1", "spaces, not tabs"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1", "one site per file"),
        ("a: 1\nb: x\x07y\n", "line 2, column 5", "control character"),
        ("a: [1\n", "line 2, column 1", "in quotes"),
    ],
)
def test_syntax_errors_name_the_place_and_the_remedy(tmp_path: Path, text: str, place: str, hint: str) -> None:
    found = message(tmp_path, text)
    assert found.startswith(f"{tmp_path}/a.yaml: {place}: ")
    assert hint in found


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n", "5\n"])
def test_a_file_must_hold_keys(tmp_path: Path, text: str) -> None:
    assert message(tmp_path, text) == f"{tmp_path}/a.yaml: holds no keys: lines of the form key: value"


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    assert "byte 0xe4 is not UTF-8: a file saved as UTF-8 (line 2)" in message(tmp_path, b"a: 1\nb: \xe4\n")


def test_hostile_nesting_and_size_are_refused(tmp_path: Path) -> None:
    assert "nested too deeply" in message(tmp_path, "a: " + "[" * 5_000)
    assert "bytes long" in message(tmp_path, b"#" * (LARGEST_FILE + 1))


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read \(No such file or directory\)"):
        read_yaml(tmp_path / "none.yaml")
