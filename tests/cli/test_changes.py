"""`changes`: the feed for a person, and for a program that keeps its place."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cli.conftest import Crawled
from tests.cli.projects import CommandLine

# The columns of the contract, and the site.
COLUMNS = set(
    "event_id url item_key page_type kind observed_at published_at visit run_id old_sha256 new_sha256 old_lastmod "
    "new_lastmod moved_to evidence extractor_version diff fields site".split()
)
FIELD_COLUMNS = {"name", "kind", "old", "new", "delta", "percent", "added", "removed"}


def feed(crawled: Crawled, *arguments: str) -> list[dict[str, Any]]:
    """The events that the command gives as JSON."""
    said = crawled.project.here("changes", *arguments, "--json")
    assert (said.status, said.err) == (0, "")
    return said.objects()


def pages(events: list[dict[str, Any]]) -> set[str]:
    """The names of the pages that the events are about."""
    return {event["url"].rpartition("/")[2] for event in events}


def test_an_event_has_every_column_of_the_contract(crawled: Crawled) -> None:
    events = feed(crawled, "always")
    assert all(set(event) == COLUMNS for event in events)
    changed = next(event for event in events if event["kind"] == "changed")
    assert set(changed["fields"][0]) == FIELD_COLUMNS
    assert changed["diff"].startswith("--- old\n+++ new\n@@ ")
    assert datetime.fromisoformat(changed["published_at"]) >= datetime.fromisoformat(changed["observed_at"])
    assert (changed["site"], changed["visit"]) == ("always", 2)
    assert changed["old_sha256"] != changed["new_sha256"]


def test_what_changed_between_the_visits_is_what_is_true(crawled: Crawled) -> None:
    assert pages(feed(crawled, "always", "--kind", "changed")) == crawled.truth.changed
    second = [event for event in feed(crawled, "always", "--kind", "new") if event["visit"] == 2]
    assert pages(second) == crawled.truth.new


def test_a_program_that_keeps_its_place_gets_everything_once(crawled: Crawled) -> None:
    everything = feed(crawled, "always")
    assert len(everything) > 30
    for place in (0, 29, 31):
        assert feed(crawled, "always", "--after", everything[place]["event_id"]) == everything[place + 1 :]
    assert feed(crawled, "always", "--after", everything[-1]["event_id"]) == []


def test_an_unknown_place_is_an_error_and_not_an_empty_feed(crawled: Crawled) -> None:
    said = crawled.project.here("changes", "always", "--after", "0000000001-abc")
    assert (said.status, said.out) == (2, "")
    assert "no published event has the id 0000000001-abc" in said.err


def test_a_place_belongs_to_one_site(crawled: Crawled) -> None:
    said = crawled.project.here("changes", "--after", feed(crawled, "always")[0]["event_id"])
    assert said.status == 2
    assert "name it (always, daily, dead)" in said.err


def test_since_takes_a_date_an_instant_and_a_duration(crawled: Crawled) -> None:
    everything = feed(crawled, "always")
    middle = datetime.fromisoformat(next(event["observed_at"] for event in everything if event["visit"] == 2))
    today = middle.date()
    assert feed(crawled, "always", "--since", today.isoformat()) == everything
    assert feed(crawled, "always", "--since", (today + timedelta(days=1)).isoformat()) == []
    assert feed(crawled, "always", "--since", "6h") == everything
    local = (middle - timedelta(milliseconds=1)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
    assert {event["visit"] for event in feed(crawled, "always", "--since", local)} == {2}


def test_only_events_of_one_field(crawled: Crawled) -> None:
    changed = feed(crawled, "always", "--kind", "changed")
    assert feed(crawled, "always", "--kind", "changed", "--field", "text") == changed
    assert feed(crawled, "always", "--field", "price") == []


def test_a_person_gets_diffs_and_nothing_about_hashes(crawled: Crawled) -> None:
    said = crawled.project.here("changes", "always", "--kind", "changed")
    heads = [line for line in said.out.splitlines() if not line.startswith(" ")]
    assert {head.rpartition("/")[2] for head in heads} == crawled.truth.changed
    assert all(" ± changed " in head for head in heads)
    assert said.out.count("    @@ ") >= len(heads)
    assert "    --- old" not in said.out
    assert "\x1b" not in said.out


def test_the_sites_are_named_where_there_are_several(crawled: Crawled) -> None:
    lines = crawled.project.here("changes", "--kind", "new").out.splitlines()
    assert {line.split()[4] for line in lines} == {"always", "daily"}
    assert crawled.project.here("changes", "daily").out.splitlines()[0].split()[4].startswith("http")


def test_nothing_to_tell_is_said_aside(crawled: Crawled) -> None:
    said = crawled.project.here("changes", "always", "--kind", "moved")
    assert (said.status, said.out, said.err) == (0, "", "no changes\n")


def test_a_reader_that_has_enough_ends_the_program_quietly(crawled: Crawled) -> None:
    process = crawled.project.start("changes", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["event_id"]
    process.stdout.close()
    try:
        assert process.wait(60) in (0, 1)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    with process.stderr as errors:
        assert errors.read() == ""


@pytest.mark.parametrize("command", [["changes"], ["changes", "new"]])
def test_before_the_first_crawl_there_are_no_changes(tmp_path: Any, command: list[str]) -> None:
    project = CommandLine(tmp_path)
    project.site("new")
    said = project.here(*command)
    assert (said.status, said.out, said.err) == (0, "", "no changes\n")
