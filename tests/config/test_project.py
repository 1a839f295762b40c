from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from incremental_crawl.config.problems import ConfigError
from incremental_crawl.config.project import Project

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize("environ", [{}, {"INCREMENTAL_CRAWL_SITES": "", "INCREMENTAL_CRAWL_FIRST_DAY": ""}])
def test_without_settings_a_project_is_in_the_current_folder(environ: dict[str, str]) -> None:
    assert Project.from_environment(environ, TODAY) == Project(Path("sites"), Path("data"), date(2026, 9, 1))


def test_the_environment_names_folders_and_first_day() -> None:
    environ = {
        "INCREMENTAL_CRAWL_SITES": "/s",
        "INCREMENTAL_CRAWL_DATA": "/d",
        "INCREMENTAL_CRAWL_FIRST_DAY": "2026-11-30",
    }
    assert Project.from_environment(environ, TODAY) == Project(Path("/s"), Path("/d"), TODAY)


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "2026-12-01"])
def test_a_first_day_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Project.from_environment({"INCREMENTAL_CRAWL_FIRST_DAY": text}, TODAY)
    assert f'INCREMENTAL_CRAWL_FIRST_DAY: "{text}" is not allowed' in str(caught.value)
    assert "a day up to today" in str(caught.value)
