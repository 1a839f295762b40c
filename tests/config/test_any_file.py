"""Whatever a site file holds, loading it ends in settings or in a ConfigError, and never shows a secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from incremental_crawl.config.keys import all_keys
from incremental_crawl.config.loading import load_sites

SECRET = "hush-7f3a"
WORDS = [
    "",
    "auto",
    "none",
    "every_run",
    "1d",
    "20MB",
    "${V}",
    "x${V}",
    "${W}",
    "re:(",
    "/a/**",
    "https://a.example/",
    "#",
]
NAMES = sorted({part for key, _ in all_keys() for part in key.replace("[]", "").split(".")} | {"proxy", "json", "zzz"})

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
)
documents = st.dictionaries(st.sampled_from(NAMES), values, max_size=6)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def outcome(folder: Path, content: str) -> str:
    (folder / "shop.yaml").write_text(content, encoding="utf-8", errors="replace")
    catalogue = load_sites(folder, {"V": SECRET})
    assert set(catalogue.sites) | set(catalogue.broken) == {"shop"}
    return str(catalogue) + "".join(map(str, catalogue.broken.values()))


@hypothesis_settings(max_examples=200, deadline=None)
@given(documents)
def test_any_settings(folder: Path, document: dict[str, Any]) -> None:
    content = yaml.safe_dump(document, allow_unicode=True)
    assert SECRET not in outcome(folder, content)


@hypothesis_settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:#-[]{}\"'*&!|>\n \t,$~0é\x07\ud800"), max_size=60))
def test_any_text(folder: Path, content: str) -> None:
    outcome(folder, content)
