"""Reads one YAML file into plain values and remembers the line of every key.

Only what a site file needs is read: no tags, no anchors, no dates, and no words but `true` and `false` are booleans, so
that `no`, `on`, `1:30` and `2026-11-30` stay what they look like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from incremental_crawl.config.environment import Path as KeyPath
from incremental_crawl.config.problems import ConfigError, Problem, key_text

LARGEST_FILE = 1_000_000

_QUOTE = "put values that contain [ ] { } : # or begin with * & ! % @ ` in quotes"
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?\d[\d_]*", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LONGEST_NUMBER = 40


@dataclass
class YamlFile:
    """The content of one file: `data` (always a mapping), the line of each key path, and keys written twice."""

    path: Path
    data: dict[str, object]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class _Reader(yaml.SafeLoader):
    """PyYAML's composer without aliases and anchors: both are nearly always an unquoted `*` or `&`."""

    def compose_node(self, parent: Node | None, index: object) -> Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        sign = _special_sign(event)
        if sign is not None:
            raise yaml.MarkedYAMLError(problem=f"a value begins with {sign}", problem_mark=event.start_mark)
        return super().compose_node(parent, index)  # type: ignore[arg-type]


def _special_sign(event: yaml.Event) -> str | None:
    if isinstance(event, yaml.AliasEvent):
        return "*"
    if getattr(event, "anchor", None) is not None:
        return "&"
    return "!" if getattr(event, "tag", None) is not None else None


def read_yaml(path: Path) -> YamlFile:
    """The file's content; raises ConfigError when it cannot be read or is not a mapping. An empty file is `{}`."""
    text = _read_text(path)
    problem = None
    root = None
    try:
        root = _Reader(text).get_single_node()
    except yaml.YAMLError as error:
        problem = _syntax_problem(error, text)
    except RecursionError:
        problem = Problem("", "", "nested too deeply", "at most a few levels")
    if problem is not None:
        raise ConfigError(path, [problem])
    return _as_file(path, root)


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(path, [Problem("", "", f"cannot be read ({error.strerror})", "a readable file")]) from None
    if len(content) > LARGEST_FILE:
        raise ConfigError(path, [Problem("", "", f"is {len(content)} bytes long", f"at most {LARGEST_FILE} bytes")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = Problem("", "", f"byte {content[error.start]:#04x} is not UTF-8", "a file saved as UTF-8", line=line)
        raise ConfigError(path, [problem]) from None


def _syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "not valid YAML"
    line, column = (mark.line + 1, mark.column + 1) if mark else _place(text, getattr(error, "position", 0))
    return Problem("", "", f"line {line}, column {column}: YAML cannot be read ({reason})", _hint(reason))


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _hint(reason: str) -> str:
    if r"'\t'" in reason:
        return "indent with spaces, not tabs"
    if "another document" in reason:
        return "one site per file, without a line ---"
    if "special characters" in reason:
        return "remove the control character"
    return _QUOTE


def _as_file(path: Path, root: Node | None) -> YamlFile:
    file = YamlFile(path, {})
    if root is None or (isinstance(root, ScalarNode) and _scalar(root) is None):
        return file
    if not isinstance(root, MappingNode):
        raise ConfigError(path, [Problem("", "", "holds no keys", "lines of the form key: value")])
    file.data = _mapping(root, (), file)
    return file


def _value(node: Node, path: KeyPath, file: YamlFile) -> object:
    if isinstance(node, MappingNode):
        return _mapping(node, path, file)
    if isinstance(node, SequenceNode):
        return [_item(child, (*path, index), file) for index, child in enumerate(node.value)]
    return _scalar(node)


def _item(node: Node, path: KeyPath, file: YamlFile) -> object:
    file.lines[path] = node.start_mark.line + 1
    return _value(node, path, file)


def _mapping(node: MappingNode, path: KeyPath, file: YamlFile) -> dict[str, object]:
    content: dict[str, object] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = _key(key_node)
        here = (*path, key)
        if key in content:
            file.problems.append(_twice(here, file.lines[here], line))
            continue
        file.lines[here] = line
        content[key] = _value(value_node, here, file)
    return content


def _key(node: Node) -> str:
    return str(node.value) if isinstance(node, ScalarNode) else "?"


def _twice(path: KeyPath, first: int, second: int) -> Problem:
    return Problem(key_text(path), "", f"written twice, on lines {first} and {second}", "each key once")


def _scalar(node: Node) -> object:
    assert isinstance(node, ScalarNode)
    return plain_value(node.value) if node.style is None else node.value


def plain_value(text: str) -> object:
    """What an unquoted scalar means: null, a boolean, a number, or the text itself."""
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text.replace("_", ""))
    return float(text) if _FLOAT.fullmatch(text) else text
