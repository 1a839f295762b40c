"""A host that says it is overloaded gets time, and loses no page; what it said is remembered."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import DAY, Answer, PagesOrigin, Scene, in_turn, page, status

PAGES = 24


class Bucket:
    """Five requests at once, ten more each second; the others are refused, which costs time."""

    def __init__(self) -> None:
        self.tokens, self.at, self.refused = 5.0, time.monotonic(), 0

    def before(self, inside: Answer) -> Answer:
        def answered(request: Request) -> Reply:
            now = time.monotonic()
            self.tokens, self.at = min(5.0, self.tokens + 10 * (now - self.at)), now
            if self.tokens < 1:
                self.tokens -= 1
                self.refused += 1
                return Reply(429)
            self.tokens -= 1
            return inside(request)

        return answered


def test_every_page_of_an_overloaded_host_is_fetched_all_the_same(tmp_path: Path) -> None:
    bucket = Bucket()
    pages = {f"/{n:02}": bucket.before(page(f"Page {n}", f'"{n}"')) for n in range(PAGES)}
    with PagesOrigin(pages) as origin:
        scene = Scene(tmp_path, origin, politeness={"requests_per_second": None, "fetch_concurrency": 8})
        scene.visit()
        texts = scene.texts()
        assert texts.keys() == {"/", *pages}
        assert {row["failures"] for row in scene.rows().values()} == {0}
        assert 0 < bucket.refused <= 3 * 8
        told = scene.site.query("SELECT count(*) FROM {observations} WHERE status = 429 AND outcome = 'retry_later'")
        assert told == [(bucket.refused,)], "every refusal is written down"


def test_a_host_that_refuses_everything_is_left_alone_for_longer_and_longer(tmp_path: Path) -> None:
    good = {f"/{n}": page(f"Page {n}", f'"{n}"') for n in range(10)}
    with PagesOrigin(dict(good)) as origin:
        scene = Scene(
            tmp_path, origin, politeness={"requests_per_second": None, "sweep_concurrency": 4, "respect_robots": False}
        )
        scene.visit()
        origin.pages |= {path: status(429) for path in ("/", *good)}
        with scene.site.writing() as state:
            state.run("INSERT INTO host_pauses VALUES (?, NULL, 6, 3.2)", [origin.base_url[7:]])
        scene.visit()
        assert len(scene.asked()) == 1, "after many incidents one refusal is enough"
        rows = scene.rows()
        assert all(row["etag"] and row["gone_since"] is None for row in rows.values())
        assert max(row["failures"] for row in rows.values()) <= 1
        (host,) = scene.site.query("SELECT not_before, incidents, interval_s FROM {hosts}")
        assert host[0] - scene.now >= timedelta(seconds=64)
        assert host[1:] == (7, 6.4)
        assert min(row["next_due"] for row in rows.values()) >= host[0], "deferred until the host may be asked"

        origin.pages |= {"/": page("Start again", '"again"'), **good}
        with scene.site.writing() as state:
            state.run("UPDATE host_pauses SET incidents = 1")  # so that the test need not wait so long
        scene.visit(DAY)
        assert {entry.status for entry in scene.asked()} == {200, 304}
        assert scene.events(3) == [("changed", "/")]


def test_one_refusal_of_a_page_is_asked_again_in_the_same_visit(tmp_path: Path) -> None:
    with PagesOrigin({"/a": in_turn(page("A", '"a"'), status(429), page("A edited", '"b"'))}) as origin:
        scene = Scene(tmp_path, origin)
        scene.visit()
        scene.visit()
        assert [entry.status for entry in scene.asked("/a")][:2] == [429, 200]
        assert scene.observed("/a", 2)[:2] == ["retry_later", "changed"]
        assert scene.events(2) == [("changed", "/a")]
        origin.pages["/a"] = status(429)
        with scene.site.writing() as state:
            state.run("DELETE FROM host_pauses")  # so that the test need not wait so long
        scene.visit()
        assert [entry.status for entry in scene.asked("/a")] == [429] * 3
        assert scene.row("/a")["failures"] == 1
