"""`status`: how every site is, worst first, and one in detail."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import BROKEN, PAGES, Crawled
from tests.cli.projects import CommandLine


def test_one_line_per_site_worst_first(crawled: Crawled) -> None:
    said = crawled.project.here("status")
    head, *lines = said.out.splitlines()
    assert head.split() == "site pages due gone moved stale failing next due last check".split()
    assert [line.split()[0] for line in lines] == ["broken", "always", "daily", "dead"]
    assert lines[0].endswith("broken site file")
    assert lines[1].split()[1] == str(PAGES + 1 + len(crawled.truth.new))
    assert " every run " in lines[1]
    assert lines[3].endswith("nothing read yet")
    assert "broken.yaml: start_urls" in said.err
    assert said.status == 0
    assert max(map(len, lines)) <= 100


def test_json_is_a_list_of_sites(crawled: Crawled) -> None:
    said = crawled.project.here("status", "--json")
    [sites] = said.objects()
    found = {site["site"]: site for site in sites}
    assert list(found) == ["broken", "always", "daily", "dead"]
    assert found["daily"]["pages"] == PAGES + 1
    assert found["daily"]["next_due"] > found["daily"]["last_checked"]
    assert (found["daily"]["waiting"], found["daily"]["unfinished"], found["daily"]["in_use"]) == ([], None, None)
    assert "start_urls" in found["broken"]["problem"]
    assert said.err == ""


def test_one_site_shows_its_hosts_with_mode_ratio_and_verdict(crawled: Crawled) -> None:
    said = crawled.project.here("status", "always")
    host = crawled.origin.base_url.removeprefix("http://")
    assert f"\n{host}  mode both · 304 ratio " in said.out
    assert "conditional requests are honoured" in said.out
    one = crawled.project.here("status", "always", "--json").objects()[0]
    assert one["hosts"][0]["host"] == host
    assert one["hosts"][0]["ratio_304"] > 0.9
    assert one["failing_pages"] == []


def test_one_site_shows_its_sources_with_what_they_list_and_how_far_they_are_believed(crawled: Crawled) -> None:
    said = crawled.project.here("status", "always")
    source = f"{crawled.origin.base_url}/sitemap.xml"
    assert f"\n{source}  robots.txt: {PAGES + len(crawled.truth.new)} entries, " in said.out
    [known] = crawled.project.here("status", "always", "--json").objects()[0]["sources"]
    assert (known["url"], known["found_by"], known["status"], known["outcome"]) == (source, "robots.txt", 200, "read")
    assert known["reliability"] in said.out
    assert "sources" not in crawled.project.here("status", "--json").objects()[0][0]


def test_a_site_that_never_answered_says_why(crawled: Crawled) -> None:
    said = crawled.project.here("status", "dead")
    assert "failing  http://127.0.0.1:9/\n" in said.out
    assert "no connection to 127.0.0.1" in said.out


def test_a_site_whose_file_is_gone_is_still_shown(crawled: Crawled) -> None:
    file = crawled.project.sites / "daily.yaml"
    text = file.read_text(encoding="utf-8")
    file.unlink()
    try:
        said = crawled.project.here("status", "daily")
        feed = crawled.project.here("changes", "daily", "--kind", "new")
    finally:
        file.write_text(text, encoding="utf-8")
    assert "no site file" in said.out
    assert f"{file}: no such file, but there is data of daily" in said.err
    assert len(feed.out.splitlines()) == PAGES + 1


def test_before_the_first_crawl(tmp_path: Path) -> None:
    project = CommandLine(tmp_path)
    said = project.here("status")
    assert (said.status, said.out) == (0, "")
    assert f"no site yet: write {project.sites}/<name>.yaml, start_urls is enough" in said.err
    project.site("new")
    project.site("resting", enabled=False)
    project.write("odd", BROKEN)
    lines = project.here("status").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["odd", "new", "resting"]
    assert lines[2].endswith("  never crawled")
    assert lines[3].endswith("  disabled, never crawled")
    assert project.here("status", "new", "--json").objects()[0]["crawled"] is False
    assert not project.data.exists(), "looking makes no files"
