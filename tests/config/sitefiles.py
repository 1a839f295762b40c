"""Writes site files for tests and gives back what loading them says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from incremental_crawl.config.loading import load_site
from incremental_crawl.config.problems import ConfigError
from incremental_crawl.config.site import SiteConfig

START = 'start_urls: ["https://shop.example/"]\n'


def write(folder: Path, text: str, name: str = "shop.yaml") -> Path:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return path


def load(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> SiteConfig:
    write(folder, text)
    return load_site(folder, "shop", environ or {})


def error_of(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(folder, text, environ)
    return caught.value


def lines_of(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> list[str]:
    """The message's lines without the path of the file, which each of them begins with."""
    lines = str(error_of(folder, text, environ)).splitlines()
    assert all(line.startswith(f"{folder}/shop.yaml: ") for line in lines), lines
    return [line.removeprefix(f"{folder}/shop.yaml: ") for line in lines]
