"""`review`, `approve`, `reject` and `reparse`: what a person decides about a plan, and about the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.cli.projects import CommandLine, Shell
from tests.origins.documents import DocumentsOrigin
from tests.origins.histories import synthetic_history, truth_between, visit_moments

MOMENTS = visit_moments(3)
VERSIONS = synthetic_history(pages=30, visits=len(MOMENTS))
TITLE = {"css": "h1", "required": True}


@dataclass
class Guarded:
    """A site whose gate lets hardly anything pass."""

    project: CommandLine
    shell: Shell
    origin: DocumentsOrigin

    def rules(self, fields: dict[str, object]) -> None:
        """Write the site file with these fields."""
        self.project.site(
            "guarded",
            f"{self.origin.base_url}/",
            gate={"changed": 0.01, "min_pages": 1, "confirm_gone_after": "0s"},
            extract=[{"name": "document", "match": "/pages/*", "fields": fields}],
        )


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """The site after its first visit."""
    project = CommandLine(tmp_path_factory.mktemp("guarded"))
    with DocumentsOrigin(VERSIONS, noise=False) as origin, Shell(project) as shell:
        site = Guarded(project, shell, origin)
        site.rules({"title": TITLE, "text": "article"})
        origin.moment = MOMENTS[0]
        assert shell("crawl", "guarded").status == 0
        yield site


def test_nothing_waits_at_first(guarded: Guarded) -> None:
    said = guarded.project.here("review", "guarded")
    assert (said.status, said.out) == (0, "no plan of guarded is waiting\n")
    for command in ("approve", "reject"):
        said = guarded.project.here(command, "guarded")
        assert (said.status, said.out, said.err) == (1, "", "no plan of guarded is waiting\n")


def test_a_gate_stops_the_visit_until_a_person_approves(guarded: Guarded) -> None:
    truth = truth_between(VERSIONS, MOMENTS[0], MOMENTS[1])
    guarded.origin.moment = MOMENTS[1]
    stopped = guarded.shell("crawl", "guarded")
    assert stopped.status == 1
    assert stopped.out.startswith("✗ guarded  32 known · 32 due · 0 not due (next every run; --all asks now)")
    assert "waits for a person" in stopped.err
    assert "`incremental-crawl review guarded`" in stopped.err

    one = guarded.project.here("status", "guarded")
    assert one.out.splitlines()[1].endswith("  waits for approval")
    assert "visit 2 of " in one.out
    assert "incremental-crawl review guarded" in one.out

    assert len(truth.changed) >= 3
    shown = guarded.project.here("review", "guarded").out
    assert shown.startswith("Visit 2 of ")
    assert shown.count(f"{guarded.origin.base_url}/pages/") == 3
    assert "incremental-crawl approve guarded\n" in shown
    assert "incremental-crawl reject guarded\n" in shown

    before = len(guarded.origin.log)
    approved = guarded.shell("approve", "guarded")
    assert approved.status == 0, approved.err
    assert approved.out.startswith("visit 2 of ")
    assert f"is published: {len(truth.changed)} changed · {len(truth.new)} new" in approved.out
    asked = [entry for entry in list(guarded.origin.log)[before:] if entry.conditional]
    assert asked == [], "the sweep is not repeated"


def test_a_rejected_plan_leaves_everything_as_it_was(guarded: Guarded) -> None:
    before = guarded.project.here("sql", "SELECT url, content_sha256 FROM records ORDER BY url", "--json").out
    guarded.origin.moment = MOMENTS[2]
    stopped = guarded.shell("crawl", "guarded", "--json")
    assert stopped.status == 1
    [one] = stopped.objects()
    assert "waits for a person" in one["problem"]
    said = guarded.shell("reject", "guarded")
    assert said.status == 0
    assert said.out.startswith(f"visit {one['visit']} of ")
    assert "is dropped: records and validators stay as they were" in said.out
    assert guarded.project.here("sql", "SELECT url, content_sha256 FROM records ORDER BY url", "--json").out == before
    assert guarded.project.here("status", "guarded", "--json").objects()[0]["waiting"] == []


def test_a_reparse_applies_new_rules_to_kept_bodies(guarded: Guarded) -> None:
    today = datetime.now(UTC).date().isoformat()
    pages = len(guarded.project.here("changes", "guarded", "--kind", "new").out.splitlines())
    feed = guarded.project.here("changes", "guarded", "--json").out
    guarded.rules({"title": TITLE, "text": "article", "heading": "h3"})
    requests = len(guarded.origin.log)

    tried = guarded.project.here("reparse", "guarded", "--from", today, "--dry-run")
    assert tried.status == 0, tried.err
    assert tried.out.splitlines()[0].endswith(" not extractable (dry run, nothing was written)")
    assert "  field heading: " in tried.out
    assert tried.out.count("  +++ new") == 3, "three samples"
    assert guarded.project.here("changes", "guarded", "--json", "--corrections").out == feed

    done = guarded.shell("reparse", "guarded", "--from", today)
    assert done.status == 0, done.err
    assert done.out.split(" (")[0].strip() == tried.out.splitlines()[0].split(" (")[0]
    assert len(guarded.origin.log) == requests, "no request is sent"
    assert guarded.project.here("changes", "guarded", "--json").out == feed, "no page has changed"
    corrected = guarded.project.here("changes", "guarded", "--kind", "corrected", "--json").objects()
    assert 0 < len(corrected) <= pages
    last = feed.splitlines()[-1].partition('"event_id": "')[2].partition('"')[0]
    after = guarded.project.here("changes", "guarded", "--after", last, "--corrections", "--json").objects()
    assert after == corrected, "they come after what was published before"


def test_a_day_without_bodies_cannot_be_parsed_again(guarded: Guarded) -> None:
    for days in (["--from", "2026-01-01", "--to", "2026-01-02"], ["--from", "2026-09-10", "--to", "2026-09-11"]):
        said = guarded.project.here("reparse", "guarded", *days, "--dry-run")
        assert (said.status, said.out) == (1, "")
        assert "kept" in said.err
        assert "choose later days" in said.err
