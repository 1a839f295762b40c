"""`crawl` as a person and a program use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import PAGES, Crawled
from tests.cli.projects import CommandLine, Said, Shell, on_a_terminal
from tests.origins.documents import Behaviour, DocumentsOrigin
from tests.origins.histories import synthetic_history

KNOWN = PAGES + 1
SUMMARY = re.compile(r"([✓✗]) (\w+)  (\d+) known · (\d+) due · (\d+) not due \(next ([^;]+); --all asks now\)")


def summary(out: str) -> tuple[str, ...]:
    """The parts of the line that every summary begins with."""
    match = SUMMARY.match(out)
    assert match is not None, out
    return match.groups()


def test_json_is_one_object_per_site_also_for_the_ones_that_fail(crawled: Crawled) -> None:
    found = {one["site"]: one for one in crawled.first.objects()}
    assert list(found) == ["daily", "broken", "dead", "always"]
    assert {site: one["success"] for site, one in found.items()} == {
        "daily": True, "broken": False, "dead": False, "always": True,
    }  # fmt: skip
    for site in ("daily", "always"):
        one = found[site]
        assert (one["known"], one["due"], one["not_due"], one["visit"], one["problem"]) == (KNOWN, KNOWN, 0, 1, None)
        assert (one["counts"]["new"], one["counts"]["asked"], one["counts"]["bytes_saved"]) == (KNOWN, KNOWN, 0)
        assert one["run_id"]
    assert "start_urls" in found["broken"]["problem"]
    assert found["broken"]["known"] == 0
    assert "`incremental-crawl status dead` shows why" in found["dead"]["problem"]
    assert found["dead"]["counts"]["failed"] == 1
    assert list(found["dead"]["notes"]) == ["http://127.0.0.1:9/robots.txt"], "what was not read needs no next step"


def test_json_tells_when_pages_are_due_next(crawled: Crawled) -> None:
    found = {one["site"]: one for one in crawled.first.objects()}
    due = datetime.fromisoformat(found["daily"]["next_due"])
    assert timedelta(hours=23) < due - datetime.now(UTC) < timedelta(hours=25)
    assert (found["daily"]["every_run"], found["always"]["every_run"]) == (False, True)
    assert found["always"]["next_due"] is None


def test_one_broken_and_one_dead_site_do_not_stop_the_others_and_decide_the_exit_status(crawled: Crawled) -> None:
    assert crawled.first.status == 2, "a site file has a mistake"
    assert "broken.yaml: start_urls" in crawled.first.err
    assert "nothing of dead could be read" in crawled.first.err


def test_a_visit_that_finds_nothing_but_failures_ends_with_exit_status_1(crawled: Crawled) -> None:
    said = crawled.shell("crawl", "dead")
    assert said.status == 1
    assert summary(said.out)[:2] == ("✗", "dead")
    assert "no connection to 127.0.0.1" in said.out
    assert said.err == "nothing of dead could be read; `incremental-crawl status dead` shows why\n"


def test_a_site_with_every_run_is_asked_in_full_every_time(crawled: Crawled) -> None:
    known = KNOWN + len(crawled.truth.new)
    assert crawled.second.status == 0
    assert summary(crawled.second.out) == ("✓", "always", str(known), str(known), "0", "every run")
    line = crawled.second.out.splitlines()[1]
    counts = {label: int(number) for number, label in re.findall(r"(\d+) ([a-z]+)", line.partition(": ")[2])}
    assert line.startswith(f"  {known} pages asked: ")
    assert (counts["changed"], counts["new"]) == (len(crawled.truth.changed), len(crawled.truth.new))
    assert sum(counts.values()) == known, "every page that was asked is accounted for"
    assert re.search(r"received, [\d.]+ kB not downloaded \(\d+ % of a full crawl\)", crawled.second.out)


def test_pages_that_are_not_due_are_left_alone_and_counted(crawled: Crawled) -> None:
    crawled.origin.script("/sitemap.xml", Behaviour(status=503))
    try:
        before = len(crawled.origin.log)
        said = crawled.shell("crawl", "daily")
        asked = [entry.path for entry in list(crawled.origin.log)[before:]]
    finally:
        crawled.origin.script("/sitemap.xml")
    assert said.status == 0
    mark, site, known, due, not_due, when = summary(said.out)
    assert (mark, site, known, due, not_due) == ("✓", "daily", str(KNOWN), "0", str(KNOWN))
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d", when)
    assert not [path for path in asked if path.startswith("/pages/")]
    assert "0 pages asked\n" in said.out
    assert "sitemap.xml: answered 503" in said.out, "a source that could not be read is told"


@pytest.fixture(scope="module")
def links() -> Iterator[DocumentsOrigin]:
    with DocumentsOrigin(synthetic_history(pages=20, visits=2), noise=False, index="links") as origin:
        origin.script("/sitemap.xml", Behaviour(status=404))
        yield origin


@dataclass
class Linked:
    """A site whose pages are found by following links, after three visits of which the first two were limited."""

    shell: Shell
    visits: list[Said]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, links: DocumentsOrigin) -> Iterator[Linked]:
    project = CommandLine(tmp_path_factory.mktemp("options"))
    project.site("linked", f"{links.base_url}/", cadence={"default": "1d"})
    project.site("lonely", f"{links.base_url}/pages/page-0003", scope={"include": ["/pages/page-0003"]})
    with Shell(project) as shell:
        options = (["--limit", "5", "--json"], ["--limit", "6"], ["--json"])
        yield Linked(shell, [shell("crawl", "linked", *own) for own in options])


def test_what_a_limit_leaves_stays_due(linked: Linked, links: DocumentsOrigin) -> None:
    first, limited, rest = linked.visits
    [begun], [done] = first.objects(), rest.objects()
    known = begun["known"]
    assert known > 20, "the links of the first page are known"
    assert list(begun["notes"]) == [f"{links.base_url}/sitemap.xml"], "robots.txt names it, and it is not there"
    assert (begun["due"], begun["not_due"], begun["counts"]["asked"]) == (known, 0, 5)
    assert summary(limited.out)[:5] == ("✓", "linked", str(known), str(known - 5), "5")
    assert f"6 pages asked: 6 new; {known - 11} more stay due\n" in limited.out
    assert (done["due"], done["not_due"], done["counts"]["asked"]) == (known - 11, 11, known - 11)


def test_all_asks_what_is_not_due(linked: Linked) -> None:
    said = linked.shell("crawl", "linked", "--all")
    mark, _, known, due, not_due, _ = summary(said.out)
    assert (mark, due, not_due) == ("✓", known, "0")
    assert f"{known} pages asked: {int(known) - 1} not modified (304) · 1 without news\n" in said.out, "/help is a 404"


def test_urls_are_asked_and_no_others_also_one_that_nobody_knew(linked: Linked, links: DocumentsOrigin) -> None:
    paths = ["/pages/page-0003", "/pages/page-0007", "/pages/unheard-of"]
    before = len(links.log)
    urls = [argument for path in paths for argument in ("--url", f"{links.base_url}{path}#top")]
    said = linked.shell("crawl", "linked", *urls)
    assert said.status == 0
    assert summary(said.out)[3] == "3"
    assert "3 pages asked: 2 not modified (304) · 1 without news\n" in said.out
    asked = {entry.path for entry in list(links.log)[before:]} - {"/robots.txt", "/sitemap.xml"}
    assert asked == set(paths)


def test_a_first_visit_that_finds_one_page_names_the_next_step(linked: Linked) -> None:
    said = linked.shell("crawl", "lonely")
    assert summary(said.out)[:3] == ("✓", "lonely", "1")
    assert "next step: nothing was found but the start page: no sitemap or feed lists another page" in said.out
    assert "name the site's sitemaps or feeds in lonely.yaml" in said.out
    assert "next step" not in linked.shell("crawl", "lonely").out, "it is said once"


def test_a_terminal_gets_a_progress_bar_and_colours_and_a_pipe_gets_neither(crawled: Crawled, tmp_path: Path) -> None:
    assert "\x1b" not in crawled.second.out
    assert crawled.second.err == ""
    shown = on_a_terminal(crawled.project, "crawl", "always")
    assert "asking what changed" in shown
    assert "━" in shown
    assert f"\x1b[32m✓\x1b[0m \x1b[1malways\x1b[0m  {KNOWN + len(crawled.truth.new)} known" in shown
    plain = on_a_terminal(crawled.project, "status", NO_COLOR="1")
    assert "\x1b" not in plain
    assert "daily" in plain
