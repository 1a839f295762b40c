"""The public HTTP cache test-suite against whole visits: what is sent, and what is current after the 304."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from incremental_crawl.origin.messages import HeaderLines, Reply, Request
from tests.crawl.pages_origin import Answer, PagesOrigin, Scene, html
from tests.semantics.cache_suite import CASES, DIFFERS, IN_SUBSTANCE, PASSES, Case

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


@dataclass
class Played:
    """A site that has a page for each case, after four visits; before the last one the request fields were changed."""

    scene: Scene
    rows: list[dict[str, dict[str, Any]]]
    snapshots: dict[str, dict[str, str]]

    def sent(self, case: Case, visit: int) -> Mapping[str, str]:
        """The fields of the visit's request for a case."""
        (entry,) = self.scene.asked(case.path, visit)
        return entry.headers

    def second(self, case: Case) -> Mapping[str, str]:
        """The fields of the request that the suite looks at."""
        return self.sent(case, 4 if case.later_request_headers else 2)

    def held(self, case: Case, name: str) -> str | None:
        """What is current of a header field after the 304: of the page if it is a validator, else of its snapshot."""
        row = self.rows[2][case.path]
        if name in ("etag", "last-modified"):
            found: str | None = row[name.replace("-", "_")]
            return found
        return self.snapshots[case.path].get(name)


def served(case: Case) -> Answer:
    """The case's 200, and its 304 to a condition that fits what was sent with it or with the last 304."""
    body = html(case.id)
    coded = gzip.compress(body) if case.stored.get("Content-Encoding") else body
    fits = {case.stored.get("ETag"), case.not_modified.get("ETag")} - {None}
    dates = {case.stored.get("Last-Modified")} - {None}

    def answered(request: Request) -> Reply:
        tag, date = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        if tag in fits if tag is not None else date in dates:
            return Reply(304, _lines(case.not_modified))
        kind = () if "Content-Type" in case.stored else (("Content-Type", "text/html; charset=utf-8"),)
        return Reply(200, (*kind, *_lines(case.stored)), coded)

    return answered


def _lines(fields: Mapping[str, str | None]) -> HeaderLines:
    return tuple((name, value) for name, value in fields.items() if value is not None)


def judged(case: Case, played: Played) -> str:
    """The result of a case, from what was sent and what is current."""
    sent = played.second(case)
    asked_right = all(sent.get(name.lower()) == value for name, value in case.sends.items())
    length = str(len(html(case.id)))
    merged_right = all(
        played.held(case, name.lower()) == (length if value is None else value) for name, value in case.merged.items()
    )
    if not (asked_right and merged_right):
        return DIFFERS
    return IN_SUBSTANCE if case.third_from_store else PASSES


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    (fields,) = {json.dumps(case.request_headers) for case in CASES if case.request_headers}
    (later,) = {json.dumps(case.later_request_headers) for case in CASES if case.later_request_headers}
    with PagesOrigin({case.path: served(case) for case in CASES}) as origin:
        scene = Scene(tmp_path_factory.mktemp("suite"), origin, request_headers=json.loads(fields))
        rows = []
        for _ in range(3):
            scene.visit()
            rows.append(scene.rows())
        found = scene.site.query("SELECT url, headers FROM {body_snapshots} WHERE status = 200")
        snapshots = {
            url.removeprefix(origin.base_url): {name.lower(): value for name, value in json.loads(headers)}
            for url, headers in found
        }
        scene.configure(request_headers=json.loads(later))
        scene.visit()
        yield Played(scene, rows, snapshots)


@CASE
def test_what_is_said_of_a_case_is_what_happens(case: Case, played: Played) -> None:
    assert judged(case, played) == case.result


@CASE
def test_the_third_request_sends_what_the_304_left_current(case: Case, played: Played) -> None:
    row, sent = played.rows[2][case.path], played.sent(case, 3)
    assert (sent.get("if-none-match"), sent.get("if-modified-since")) == (row["etag"], row["last_modified"])
    assert row["etag"] == case.merged.get("ETag")
    assert row["last_modified"] == case.merged.get("Last-Modified")


def test_nothing_changed_and_nothing_is_told(played: Played) -> None:
    for visit in (2, 3, 4):
        assert played.scene.events(visit) == []
    for visit in (2, 3):
        statuses = {entry.path: entry.status for entry in played.scene.asked(visit=visit)}
        bodies = {path for path, status in statuses.items() if status != 304}
        assert bodies == {case.path for case in CASES if not case.not_modified}


def test_other_request_fields_are_asked_without_a_condition(played: Played) -> None:
    assert not any(entry.conditional for entry in played.scene.asked(visit=4))
