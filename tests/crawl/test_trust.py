"""What the product learns about a server's validators, and what it sends from then on; counted at the server's log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.origin.representation import http_date
from incremental_crawl.semantics.head_requests import HEAD_BYTES
from incremental_crawl.semantics.trust import FIRST_DISTRUST
from tests.crawl.pages_origin import (
    DAY,
    HTML,
    OLD_DATE,
    Answer,
    PagesOrigin,
    Scene,
    html,
    not_modified,
    page,
    unless_no_cache,
)
from tests.origins.documents import DocumentsOrigin
from tests.origins.histories import synthetic_history

AUDIT_ALL = {"revalidation": {"audit_share": 1.0}}


def rotating(text: str) -> Answer:
    """Another tag in every answer, and a date that holds."""
    serial = count()

    def answered(request: Request) -> Reply:
        given = request.headers.get("if-none-match")
        same = given is None and request.headers.get("if-modified-since") == OLD_DATE
        tag = ("ETag", f'"{next(serial)}"')
        date = ("Last-Modified", OLD_DATE)
        return Reply(304, (tag, date)) if same else Reply(200, (HTML, tag, date), html(text))

    return answered


def apache(text: str) -> Answer:
    """mod_deflate's default: the tag is sent with a suffix and compared without it; the tag decides over the date."""

    def answered(request: Request) -> Reply:
        given, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        same = '"v1"' in given.split(", ") if given is not None else since == OLD_DATE
        date = ("Last-Modified", OLD_DATE)
        if same:
            return Reply(304, (("ETag", '"v1"'), date))
        return Reply(200, (HTML, ("ETag", '"v1-gzip"'), date), html(text))

    return answered


def stamped(text: str, now: Callable[[], Any]) -> Answer:
    """A good tag beside a Last-Modified that is always now; both have to agree."""

    def answered(request: Request) -> Reply:
        tag, date = ("ETag", '"good"'), ("Last-Modified", http_date(now()))
        given, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        same = given == '"good"' and since in (None, date[1])
        return Reply(304, (tag, date)) if same else Reply(200, (HTML, tag, date), html(text))

    return answered


def ignoring(text: str, etag: str = '"same"', to_head: Reply | None = None) -> Answer:
    """Validators that hold and conditions that are ignored, on a large page; HEAD is answered as `to_head` says."""
    body = html(text, "<!-- " + "x" * HEAD_BYTES + " -->")

    def answered(request: Request) -> Reply:
        if request.method == "HEAD" and to_head is not None:
            return to_head
        return Reply(200, (HTML, ("ETag", etag)), body)

    return answered


def host(scene: Scene) -> dict[str, Any]:
    """The published row of the origin's host."""
    columns = [row[0] for row in scene.site.query("DESCRIBE SELECT * FROM {hosts}")]
    (row,) = scene.site.query("SELECT * FROM {hosts}")
    return dict(zip(columns, row, strict=True))


def conditions(scene: Scene, path: str) -> list[tuple[str | None, str | None, int]]:
    """If-None-Match, If-Modified-Since and the status of the last visit's requests for a path."""
    return [
        (entry.headers.get("if-none-match"), entry.headers.get("if-modified-since"), entry.status)
        for entry in scene.asked(path)
    ]


def visited(scene: Scene, times: int) -> None:
    """Visit a few times, a day apart."""
    for _ in range(times):
        scene.visit()


def test_a_rotating_tag_is_dropped_and_the_date_kept(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": rotating(f"Page {n}") for n in range(3)}) as origin:
        scene = Scene(tmp_path, origin)
        visited(scene, 4)
        sent = [conditions(scene, f"/p/{n}")[0] for n in range(3)]
        assert (None, OLD_DATE, 304) in sent
        assert all(tag is not None or status == 304 for tag, _, status in sent), "who tries the tag again gets a body"
        assert scene.site.query("SELECT etag_trusted, last_modified_trusted FROM {hosts}") == [(False, True)]
        assert "ETag rotates" in host(scene)["verdict"]
        assert [kind for kind, _ in scene.events()] == ["new"] * 4
        origin.pages["/p/1"] = page("Edited", '"e"', "Tue, 06 Jan 2026 10:00:00 GMT")
        visited(scene, 1)
        assert scene.events(5) == [("changed", "/p/1")]


def test_a_date_that_is_always_now_is_dropped_and_the_tag_kept(tmp_path: Path) -> None:
    with PagesOrigin() as origin:
        origin.pages |= {f"/p/{n}": stamped(f"Page {n}", lambda: origin.moment) for n in range(3)}
        scene = Scene(tmp_path, origin)
        visited(scene, 6)
        sent = [conditions(scene, f"/p/{n}")[-1] for n in range(3)]
        assert ('"good"', None, 304) in sent
        assert "Last-Modified moves" in host(scene)["verdict"]
        assert [kind for kind, _ in scene.events()] == ["new"] * 4


def test_a_tag_with_a_coding_suffix_is_sent_with_and_without_it_and_stays_as_it_came(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": apache(f"Page {n}") for n in range(3)}) as origin:
        scene = Scene(tmp_path, origin)
        visited(scene, 3)
        assert {row["etag"] for path, row in scene.rows().items() if path != "/"} == {'"v1-gzip"'}
        visited(scene, 2)
        sent = [conditions(scene, f"/p/{n}")[0] for n in range(3)]
        assert ('"v1-gzip", "v1"', OLD_DATE, 304) in sent
        assert {row["etag"] for path, row in scene.rows().items() if path != "/"} == {'"v1-gzip"'}
        assert "-gzip" in host(scene)["verdict"]


def test_path_groups_of_one_host_are_judged_apart(tmp_path: Path) -> None:
    with PagesOrigin({"/static/a": page("A", '"a"', OLD_DATE), "/shop/a": rotating("Shop")}) as origin:
        scene = Scene(tmp_path, origin)
        visited(scene, 4)
        assert conditions(scene, "/static/a") == [('"a"', OLD_DATE, 304)]
        modes = dict(scene.site.state("SELECT path_group, mode FROM ledger"))
        assert modes["/static/"] == "both"
        assert modes["/shop/"] == "date_only"


def test_a_server_that_mends_its_tags_is_asked_with_them_again(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": rotating(f"Page {n}") for n in range(40)}) as origin:
        scene = Scene(tmp_path, origin)
        visited(scene, 3)
        assert scene.site.state("SELECT mode FROM ledger WHERE path_group = '/p/'") == [("date_only",)]
        origin.pages |= {f"/p/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(40)}
        visited(scene, 6)
        assert scene.site.state("SELECT mode FROM ledger WHERE path_group = '/p/'") == [("both",)]
        assert scene.events(9) == []


def lying_after(edit: dict[str, bool], before: str = "Before", after: str = "After") -> Answer:
    """Answers 304 to any condition, also after the edit; only an unconditional request gets the truth."""

    def truth(request: Request) -> Reply:
        text = after if edit["made"] else before
        return page(text, '"1"', OLD_DATE)(Request("GET", request.target))

    return lambda request: not_modified(("ETag", '"1"'))(request) if request.conditional else truth(request)


@pytest.mark.timeout(240)
def test_a_false_304_on_one_of_sixty_pages_is_found_within_one_round_of_audits(tmp_path: Path) -> None:
    share, edit = 0.1, {"made": False}
    with PagesOrigin({f"/p/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(58)}) as origin:
        origin.pages["/p/lying"] = lying_after(edit)
        scene = Scene(tmp_path, origin, revalidation={"audit_share": share})
        visited(scene, 3)
        edit["made"] = True
        found = None
        for _ in range(round(1 / share)):
            scene.visit()
            found = next((event for event in scene.events() if event == ("changed", "/p/lying")), None)
            if found:
                break
        assert found, "the audit reaches every page within one round"
        assert scene.texts()["/p/lying"] == "After"
        assert scene.site.query("SELECT evidence FROM {page_diffs} WHERE kind = 'changed'") == [("audit",)]
        assert "one false 304" in host(scene)["verdict"]


def test_two_false_304s_distrust_the_group_and_recheck_what_it_had_confirmed(tmp_path: Path) -> None:
    edit = {"made": False}
    with PagesOrigin({f"/p/{n}": lying_after(edit, f"Before {n}", f"After {n}") for n in range(30)}) as origin:
        scene = Scene(tmp_path, origin, revalidation={"audit_share": 0.05}, gate={"changed": 0.1, "min_pages": 5})
        visited(scene, 2)
        edit["made"] = True
        visited(scene, 1)
        assert len(scene.events(3)) == 30, "everything that the group had confirmed is fetched in the same visit"
        assert {text for path, text in scene.texts().items() if path != "/"} == {f"After {n}" for n in range(30)}
        assert scene.site.query("SELECT DISTINCT evidence FROM {page_diffs} WHERE kind = 'changed'") == [("audit",)]
        told = host(scene)
        assert told["mode"] == "hash_only"
        assert "false 304" in told["verdict"]
        visited(scene, 1)
        assert not any(entry.conditional for entry in scene.asked() if entry.path.startswith("/p/"))
        assert scene.events(4) == []
        scene.visit(later=FIRST_DISTRUST)
        assert any(entry.conditional for entry in scene.asked("/p/1")), "after a time it gets another chance"


def test_one_false_304_on_declared_fields_is_enough(tmp_path: Path) -> None:
    edit = {"made": False}
    with PagesOrigin({f"/p/{n}": lying_after(edit, f"Before {n}", f"After {n}") for n in range(9)}) as origin:
        extract = [{"name": "doc", "match": "/p/*", "fields": {"text": "p"}}]
        scene = Scene(tmp_path, origin, revalidation={"audit_share": 0.05}, extract=extract)
        visited(scene, 2)
        edit["made"] = True
        visited(scene, 1)
        assert len(scene.events(3)) == 9
        assert host(scene)["mode"] == "hash_only"


def test_noise_and_races_accuse_nobody(tmp_path: Path) -> None:
    versions = synthetic_history(pages=12, visits=1)
    with DocumentsOrigin(versions, validators="both", seed=5) as noisy:
        scene = Scene(tmp_path, noisy, **AUDIT_ALL)  # type: ignore[arg-type]
        visited(scene, 6)
        assert scene.site.state("SELECT sum(false_304), sum(audits) > 40 FROM ledger") == [(0, True)]
        assert [kind for kind, _ in scene.events() if kind != "new"] == []
        assert "no false 304" in host(scene)["verdict"]


FIELDS = [{"name": "doc", "match": "/p/*", "fields": {"text": "p"}}]


def flickering() -> Answer:
    """A text that differs at every load without a condition; with one, nothing has been edited."""
    serial = count()
    load = lambda _: Reply(200, (HTML, ("ETag", '"1"')), html(f"Load {next(serial)}"))  # noqa: E731
    return unless_no_cache(page("Load", '"1"'), load)


def test_fields_that_differ_at_every_load_accuse_nobody_and_keep_no_other_page_from_its_audit(tmp_path: Path) -> None:
    with PagesOrigin({"/p/1": flickering()}) as origin:
        scene = Scene(tmp_path, origin, extract=FIELDS, revalidation={"audit_share": 0.1})
        visited(scene, 5)
        assert scene.site.state("SELECT sum(false_304) FROM ledger") == [(0,)]
        assert [kind for kind, _ in scene.events() if kind == "changed"] == []
        audits = scene.site.query("SELECT count(*) FROM {observations} WHERE purpose = 'audit' GROUP BY url")
        assert audits == [(2,), (2,)]


def test_two_back_ends_that_show_different_fields_accuse_nobody(tmp_path: Path) -> None:
    """The audit and its second load meet the other one by chance, and the validators are the same."""
    shown = iter(["Warm"] * 7 + ["Cold"] + ["Warm"] * 99)
    back_ends = lambda _: Reply(200, (HTML, ("ETag", '"1"')), html(next(shown)))  # noqa: E731
    with PagesOrigin({"/p/1": unless_no_cache(page("Cold", '"1"'), back_ends)}) as origin:
        scene = Scene(tmp_path, origin, extract=FIELDS, **AUDIT_ALL)
        visited(scene, 2)
        assert len([entry for entry in scene.asked("/p/1") if entry.status == 304]) == 2, "the condition was repeated"
        assert scene.observed("/p/1", 2) == ["not_modified", "retry_later", *["modified"] * 8]
        assert scene.site.state("SELECT sum(false_304) FROM ledger") == [(0,)]
        assert scene.events(2) == []
        assert host(scene)["mode"] == "both"


def test_audits_are_never_made_where_the_share_is_zero(tmp_path: Path) -> None:
    with PagesOrigin({"/p/1": page("Page", '"1"')}) as origin:
        scene = Scene(tmp_path, origin)
        visited(scene, 3)
        assert scene.site.query("SELECT count(*) FROM {observations} WHERE purpose = 'audit'") == [(0,)]


def large_site(folder: Path, origin: PagesOrigin, **settings: Any) -> Scene:
    """A site that learns within three visits that conditions are ignored."""
    return Scene(folder, origin, revalidation={"audit_share": 0.0}, **settings)


def test_head_is_probed_where_conditions_are_ignored_and_bodies_are_large_and_then_saves_them(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": ignoring(f"Page {n}") for n in range(24)}) as origin:
        scene = large_site(tmp_path, origin)
        visited(scene, 2)
        assert {entry.method for entry in scene.asked()} == {"GET"}
        visited(scene, 1)
        assert sum(entry.method == "HEAD" for entry in scene.asked()) == 5
        visited(scene, 1)
        bodies = [entry for entry in scene.asked() if entry.body_bytes and entry.path.startswith("/p/")]
        assert len(bodies) <= 4, "but for the one page in twenty that tries a condition"
        assert host(scene)["head_trusted"]
        assert scene.observed("/p/3", 4) in (["not_modified"], ["same_hash"])
        origin.pages["/p/3"] = ignoring("Edited", '"other"')
        visited(scene, 1)
        assert scene.events(5) == [("changed", "/p/3")]
        assert scene.texts()["/p/3"] == "Edited"


@pytest.mark.parametrize("to_head", [Reply(405), Reply(200, (HTML, ("ETag", '"another"')))])
def test_head_is_not_used_where_it_disagrees_with_get(tmp_path: Path, to_head: Reply) -> None:
    with PagesOrigin({f"/p/{n}": ignoring(f"Page {n}", to_head=to_head) for n in range(24)}) as origin:
        scene = large_site(tmp_path, origin)
        visited(scene, 4)
        assert not any(entry.method == "HEAD" for entry in scene.asked())
        assert not host(scene)["head_trusted"]
        assert "HEAD" in host(scene)["verdict"]
        assert [kind for kind, _ in scene.events() if kind != "new"] == []


@pytest.mark.parametrize("to_head", [Reply(404), Reply(302, (("Location", "/"),))])
def test_nothing_is_concluded_from_a_head_that_turns_bad(tmp_path: Path, to_head: Reply) -> None:
    with PagesOrigin({f"/p/{n}": ignoring(f"Page {n}") for n in range(24)}) as origin:
        scene = large_site(tmp_path, origin)
        visited(scene, 3)
        origin.pages |= {f"/p/{n}": ignoring(f"Page {n}", to_head=to_head) for n in range(24)}
        visited(scene, 1)
        assert scene.events(4) == []
        assert {row["failures"] for row in scene.rows().values()} == {0}
        assert {row["gone_since"] for row in scene.rows().values()} == {None}
        assert all(scene.observed(f"/p/{n}", 4)[-1] == "same_hash" for n in range(24))


def test_a_stale_head_is_found_by_the_audit_and_not_used_again(tmp_path: Path) -> None:
    """Of several edits, since one page in twenty is asked by GET at each visit, to try a condition."""
    edited = {f"/p/{n}" for n in range(3, 7)}
    stale = Reply(200, (HTML, ("ETag", '"same"')))
    with PagesOrigin({f"/p/{n}": ignoring(f"Page {n}") for n in range(24)}) as origin:
        scene = large_site(tmp_path, origin)
        visited(scene, 4)
        scene.configure(revalidation={"audit_share": 1.0})
        origin.pages |= {path: ignoring(f"{path} edited", '"other"', to_head=stale) for path in edited}
        visited(scene, 1)
        assert set(scene.events(5)) == {("changed", path) for path in edited}
        assert {path: scene.texts()[path] for path in edited} == {path: f"{path} edited" for path in edited}
        visited(scene, 1)
        assert not any(entry.method == "HEAD" for entry in scene.asked())
        assert {scene.now - scene.row(path)["last_changed"] for path in edited} == {DAY}


def test_the_tag_of_a_page_whose_date_stands_still_does_not_end_the_doubt_about_that_date(tmp_path: Path) -> None:
    """nginx makes its tag of the date and the size: within one second it proves nothing."""
    with PagesOrigin() as origin:
        scene = Scene(tmp_path, origin)
        fresh = http_date(scene.now + DAY)
        origin.pages["/p/1"] = page("Before", '"t"', fresh)
        scene.visit()
        scene.visit(later=timedelta(seconds=1))
        origin.pages["/p/1"] = page("Edited", '"t"', fresh)
        scene.visit(later=timedelta(seconds=1))
        assert scene.events(3) == [("changed", "/p/1")]
