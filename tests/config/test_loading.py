from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from incremental_crawl.config.loading import load_site, load_sites
from incremental_crawl.config.problems import ConfigError
from tests.config.sitefiles import START, write


def test_a_broken_file_takes_down_only_its_own_site(tmp_path: Path) -> None:
    write(tmp_path, START, "good.yaml")
    write(tmp_path, "start_urls: [", "torn.yaml")
    write(tmp_path, START + "gate: {gone: 7}\n", "wrong.yaml")
    write(tmp_path, "", "empty.yaml")
    catalogue = load_sites(tmp_path, {})
    assert list(catalogue.sites) == ["good"]
    assert set(catalogue.broken) == {"torn", "wrong", "empty"}
    assert all(f"{tmp_path}/{name}.yaml: " in str(error) for name, error in catalogue.broken.items())
    assert "start_urls: missing: a list of at least one" in str(catalogue.broken["empty"])


@pytest.mark.parametrize("name", ["Shop", "1shop", "my-shop", "_old", "a b", "größe", "s" * 64])
def test_a_bad_site_name_is_an_error_of_that_file(tmp_path: Path, name: str) -> None:
    write(tmp_path, START, f"{name}.yaml")
    (error,) = load_sites(tmp_path, {}).broken.values()
    assert f'"{name}" is not a site name: a name of at most 63 small letters' in str(error)


@pytest.mark.parametrize("name", ["shop.yml", "shop.YAML", "_defaults.yml"])
def test_a_file_that_only_looks_like_a_site_file_is_not_passed_over(tmp_path: Path, name: str) -> None:
    write(tmp_path, START, name)
    assert "does not end in .yaml" in str(load_sites(tmp_path, {}).broken[name])


def test_what_is_no_site_file_is_left_alone(tmp_path: Path) -> None:
    for name in (".shop.yaml", "shop.yaml~", "notes.md"):
        write(tmp_path, "[", name)
    (tmp_path / "folder.yaml").mkdir()
    catalogue = load_sites(tmp_path, {})
    assert (catalogue.sites, catalogue.broken) == ({}, {})


def test_defaults_are_merged_key_by_key_and_the_site_wins(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        schedule: "0 1 * * *"
        timezone: Europe/Berlin
        politeness: {contact: a@example.org, requests_per_second: 1}
        scope: {strip_params: [a, b], max_depth: 2}
        cadence: {max: 60d}
        """,
        "_defaults.yaml",
    )
    text = "schedule: null\npoliteness: {requests_per_second: 9}\nscope: {strip_params: [c]}\n"
    write(tmp_path, START + text)
    site = load_site(tmp_path, "shop", {})
    assert (site.schedule, site.timezone) == (None, "Europe/Berlin")
    assert (site.politeness.contact, site.politeness.requests_per_second) == ("a@example.org", 9)
    assert (site.scope.strip_params, site.scope.max_depth) == (("c",), 2)
    assert site.cadence.max == timedelta(days=60)


def test_a_word_replaces_a_group_of_the_defaults(tmp_path: Path) -> None:
    write(tmp_path, "cadence: {max: 60d}\n", "_defaults.yaml")
    write(tmp_path, START + "cadence: every_run\n")
    assert load_site(tmp_path, "shop", {}).cadence.every_run


def test_a_mistake_in_the_defaults_names_that_file_and_spares_sites_that_override_it(tmp_path: Path) -> None:
    write(tmp_path, "# ours\ngate: {gone: 7}\n", "_defaults.yaml")
    write(tmp_path, START, "shop.yaml")
    write(tmp_path, START + "gate: {gone: 0.1}\n", "fixed.yaml")
    catalogue = load_sites(tmp_path, {})
    assert list(catalogue.sites) == ["fixed"]
    assert str(catalogue.broken["shop"]).startswith(f"{tmp_path}/_defaults.yaml: gate.gone: 7 is not allowed")
    assert str(catalogue.broken["shop"]).endswith("(line 2)")


def test_defaults_that_cannot_be_read_are_reported_for_each_site(tmp_path: Path) -> None:
    write(tmp_path, "gate: [\n", "_defaults.yaml")
    write(tmp_path, START)
    assert str(load_sites(tmp_path, {}).broken["shop"]).startswith(f"{tmp_path}/_defaults.yaml: line 2, column 1: YAML")


def test_a_key_twice_in_the_defaults_is_reported_there(tmp_path: Path) -> None:
    write(tmp_path, "enabled: true\nenabled: false\n", "_defaults.yaml")
    write(tmp_path, START)
    assert "_defaults.yaml: enabled: written twice" in str(load_sites(tmp_path, {}).broken["shop"])


def test_an_unknown_site_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    write(tmp_path, START, "bookshop.yaml")
    with pytest.raises(ConfigError) as caught:
        load_site(tmp_path, "bookshp", {})
    assert 'there is no site "bookshp", did you mean bookshop?: sites here are bookshop' in str(caught.value)


def test_a_site_name_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "sites").mkdir()
    write(tmp_path, START, "secret.yaml")
    with pytest.raises(ConfigError, match="there is no site"):
        load_site(tmp_path / "sites", "../secret", {})


def test_a_missing_folder_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="INCREMENTAL_CRAWL_SITES"):
        load_sites(tmp_path / "none", {})
