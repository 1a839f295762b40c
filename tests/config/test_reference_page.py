"""docs/site-file.md says what the models say, and sites/_defaults.yaml is what it claims to be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from incremental_crawl.config.keys import all_keys, allowed_at, section_within
from incremental_crawl.config.loading import load_site
from incremental_crawl.config.page_types import RECORD_COLUMNS
from incremental_crawl.config.site import SiteConfig
from tests.config.sitefiles import START, lines_of, load, write

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "site-file.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip("` "): [cell.strip() for cell in cells[1:]]
    for cells in (line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| `"))
}
LEAVES = [(key, field) for key, field in all_keys() if section_within(field.annotation) is None]
KEYS = [key for key, _ in LEAVES]
PARTS = re.compile(r"[a-z_0-9]+|\[\]")


def path_of(key: str) -> tuple[str | int, ...]:
    """Where the key stands in a file whose only page type has the field `name`."""
    return tuple(0 if part == "[]" else part for part in PARTS.findall(key))


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_documented_with_its_allowed_form(key: str) -> None:
    assert ROWS[key][0] == allowed_at(path_of(key))


def test_nothing_else_is_documented_as_a_key() -> None:
    documented = {key for key, cells in ROWS.items() if len(cells) == 3}
    assert documented == set(KEYS)


@pytest.mark.parametrize(("key", "field"), LEAVES, ids=KEYS)
def test_every_default_shown_is_the_default(tmp_path: Path, key: str, field: Any) -> None:
    shown = ROWS[key][1]
    if field.is_required():
        assert shown == "required"
        return
    site = load(tmp_path, site_text(path_of(key), yaml.safe_load(shown.strip("`"))))
    found: Any = site
    for part in path_of(key):
        found = found[part] if isinstance(part, int) or isinstance(found, dict) else getattr(found, part)
    assert found == field.default


def site_text(path: tuple[str | int, ...], value: object) -> str:
    """A small site file in which the key at `path` has a value."""
    data: dict[str, Any] = {"start_urls": ["https://shop.example/"]}
    data["extract"] = [{"name": "a", "match": "/**", "fields": {"name": {"css": "a"}}}]
    target: Any = data
    for part in path[:-1]:
        target = target[part] if isinstance(part, int) else target.setdefault(part, {})
    target[path[-1]] = value
    return yaml.safe_dump(data)


@pytest.mark.parametrize("section", [key for key, field in all_keys() if section_within(field.annotation)])
def test_every_group_has_a_section(section: str) -> None:
    assert f"\n### {section}\n" in PAGE or f"`{section}`" in PAGE


def test_every_example_on_the_page_is_a_valid_site(tmp_path: Path) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        text = example if "start_urls" in example else START + example
        assert load(tmp_path, text, {"CRAWL_CONTACT": "a@example.org", "SHOP_TOKEN": "t"}).start_urls == (
            "https://shop.example/",
        )


def test_the_error_shown_is_the_error_given(tmp_path: Path) -> None:
    shown = re.findall(r"```text\nsites/shop.yaml: (.*?) \(line 9\)\n```", PAGE)
    assert lines_of(tmp_path, START + "\n" * 7 + "gate: {changed: 1.5}\n") == [f"{shown[0]} (line 9)"]


def test_reserved_field_names_are_listed() -> None:
    listed = re.search(r"not one of\n(.*?); not `price_currency`", PAGE, re.DOTALL)
    assert listed
    assert set(re.findall(r"`(\w+)`", listed[1])) == RECORD_COLUMNS


def test_the_shipped_defaults_change_nothing(tmp_path: Path) -> None:
    write(tmp_path, START)
    plain = load_site(tmp_path, "shop", {})
    shipped = (ROOT / "sites" / "_defaults.yaml").read_text(encoding="utf-8")
    (tmp_path / "_defaults.yaml").write_text(shipped, encoding="utf-8")
    assert load_site(tmp_path, "shop", {}) == plain


def test_the_shipped_defaults_uncommented_are_the_defaults(tmp_path: Path) -> None:
    shipped = (ROOT / "sites" / "_defaults.yaml").read_text(encoding="utf-8")
    uncommented = re.sub(r"^# (?=[a-z_]+: | {2}[a-z_]+: |[a-z_]+:$)", "", shipped, flags=re.MULTILINE)
    settings = {line for line in uncommented.splitlines() if not line.startswith("#") and line}
    assert len(settings) > 20
    write(tmp_path, "\n".join(sorted(settings, key=uncommented.splitlines().index)), "_defaults.yaml")
    write(tmp_path, START)
    assert load_site(tmp_path, "shop", {}) == SiteConfig(name="shop", start_urls=("https://shop.example/",))
