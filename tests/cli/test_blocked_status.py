"""`status` of a site whose host lets nothing through."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from incremental_crawl.cli import cli
from tests.crawl.pages_origin import PagesOrigin, Scene, page, status


def test_a_blocked_host_is_told_with_what_it_showed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCREMENTAL_CRAWL_SITES", str(tmp_path / "sites"))
    monkeypatch.setenv("INCREMENTAL_CRAWL_DATA", str(tmp_path / "data"))
    with PagesOrigin({f"/{n:02}": page(f"Page {n}", '"1"') for n in range(24)}) as origin:
        scene = Scene(tmp_path, origin, gate={"failed": 1.0}, cadence={"default": "1d"})
        scene.site.now = datetime.now(UTC) - timedelta(days=2)
        scene.visit()
        origin.pages |= dict.fromkeys([*origin.pages], status(403, ("cf-mitigated", "challenge")))
        scene.visit(later=timedelta(days=1, hours=23, minutes=30))
        host = origin.base_url.removeprefix("http://")
        said = CliRunner().invoke(cli, ["status", "site"], prog_name="incremental-crawl").output
        assert "blocked" in said.splitlines()[1]
        assert f"{host} is blocked since" in said
        assert "times in a row: a challenge of Cloudflare (header cf-mitigated: challenge)" in said
        assert "not asked before" in said
        assert f"  403  {origin.base_url}/" in said
        told = json.loads(CliRunner().invoke(cli, ["status", "site", "--json"]).output)
        (blocked,) = told["blocked"]
        assert (blocked["host"], blocked["kind"], len(blocked["samples"])) == (host, "challenge", 3)
        assert blocked["since"] < blocked["next_try"]
        assert told["blocked_since"] == blocked["since"]
