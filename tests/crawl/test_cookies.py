"""Cookies live for one fetch: gates are passed, loops stay loops, and validators never cross between variants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from incremental_crawl.origin.messages import Reply, Request
from tests.crawl.pages_origin import DAY, OLD_DATE, Answer, PagesOrigin, Scene, html, page, redirect


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


def has_cookie(request: Request, name: str = "seen") -> bool:
    return f"{name}=" in request.headers.get("cookie", "")


def gate(inside: Answer, location: str, status: int = 302, cookie: str = "seen=1; Path=/") -> Answer:
    """Redirects to `location` and sets a cookie, until that comes back."""

    def answered(request: Request) -> Reply:
        if has_cookie(request, cookie.partition("=")[0]):
            return inside(request)
        return Reply(status, (("Location", location), ("Set-Cookie", cookie)))

    return answered


@pytest.mark.parametrize("status", [302, 308])
def test_a_gate_that_wants_its_cookie_back_is_no_loop_and_no_move(
    tmp_path: Path, origin: PagesOrigin, status: int
) -> None:
    origin.pages["/cookie"] = gate(page("Behind the gate", '"in"', OLD_DATE), "/cookie", status)
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.texts()["/cookie"].endswith("Behind the gate")
    assert scene.row("/cookie")["redirect_to"] is None
    assert [entry.headers.get("cookie") for entry in scene.asked("/cookie")] == [None, "seen=1"]

    scene.visit()
    first, second = scene.asked("/cookie")
    assert (first.conditional, first.headers.get("cookie")) == (False, None), "no cookie is kept between fetches"
    assert (second.headers["if-none-match"], second.headers["cookie"], second.status) == ('"in"', "seen=1", 304)
    assert scene.observed("/cookie", 2)[-1] == "not_modified"
    assert scene.events(2) == []

    origin.pages["/cookie"] = gate(page("Edited behind the gate", '"in2"', OLD_DATE), "/cookie", status)
    scene.visit()
    assert scene.events(3) == [("changed", "/cookie")]


def test_a_gate_at_another_address_leads_back(tmp_path: Path, origin: PagesOrigin) -> None:
    def wants_a_cookie(request: Request) -> Reply:
        inside = page("Text", '"in"', OLD_DATE)
        return inside(request) if has_cookie(request) else redirect(301, "/gate?to=/page")(request)

    def sets_it(_: Request) -> Reply:
        return Reply(301, (("Location", "/page"), ("Set-Cookie", "seen=1; Path=/")))

    origin.pages |= {"/page": wants_a_cookie, "/gate?to=/page": sets_it}
    origin.listed = {"/page": None}
    scene = Scene(tmp_path, origin)
    scene.visit()
    scene.visit()
    assert scene.texts().keys() == {"/", "/page"}
    assert scene.row("/page")["redirect_to"] is None
    assert scene.asked("/page")[-1].status == 304
    assert scene.events() == [("new", "/"), ("new", "/page")]


def test_a_gate_that_is_never_content_is_a_loop(tmp_path: Path, origin: PagesOrigin) -> None:
    def counts_up(request: Request) -> Reply:
        seen = int(request.headers.get("cookie", "n=0").partition("=")[2])
        return Reply(302, (("Location", "/endless"), ("Set-Cookie", f"n={seen + 1}; Path=/")))

    def same_cookie(_: Request) -> Reply:
        return Reply(302, (("Location", "/same"), ("Set-Cookie", "n=1; Path=/")))

    def wrong_path(_: Request) -> Reply:
        return Reply(302, (("Location", "/elsewhere"), ("Set-Cookie", "n=1; Path=/other")))

    origin.pages |= {path: page("Text", '"1"') for path in ("/endless", "/same", "/elsewhere")}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages |= {"/endless": counts_up, "/same": same_cookie, "/elsewhere": wrong_path}
    scene.visit()
    assert [len(scene.asked(path)) for path in ("/endless", "/same", "/elsewhere")] == [11, 2, 1]
    for path in ("/endless", "/same", "/elsewhere"):
        assert scene.observed(path, 2)[-1] == "error", path
        assert scene.texts()[path].endswith("Text")
        assert scene.row(path)["failures"] == 1


def test_the_variant_without_the_cookie_never_confirms_what_was_fetched_with_it(
    tmp_path: Path, origin: PagesOrigin
) -> None:
    """The date of the page behind the gate would be "not modified" for an older page before it."""
    inside = "Inside, first"

    def two_variants(request: Request) -> Reply:
        if has_cookie(request):
            return page(inside, None, OLD_DATE)(request)
        if request.headers.get("if-modified-since") or request.headers.get("if-none-match"):
            return Reply(304, (("Last-Modified", "Mon, 01 Jan 2024 10:00:00 GMT"),))
        return Reply(302, (("Location", "/gated"), ("Set-Cookie", "seen=1; Path=/")))

    origin.pages["/gated"] = two_variants
    scene = Scene(tmp_path, origin)
    scene.visit()
    inside = "Inside, second"
    origin.pages["/gated"] = lambda request: (
        page(inside, None, "Tue, 06 Jan 2026 10:00:00 GMT") if has_cookie(request) else two_variants
    )(request)
    scene.visit()
    assert scene.events(2) == [("changed", "/gated")]
    assert scene.texts()["/gated"].endswith("Inside, second")


def test_validators_of_one_set_of_cookies_are_not_sent_with_another(tmp_path: Path, origin: PagesOrigin) -> None:
    """A hop that was reached with a cookie is asked without a condition when the site no longer sets it."""
    any_tag = Reply(304, (("ETag", '"any"'),))

    def target(request: Request) -> Reply:
        if request.headers.get("if-none-match"):
            return any_tag
        text = "With cookie" if has_cookie(request) else "Without cookie"
        return Reply(200, (("Content-Type", "text/html"), ("ETag", '"any"')), html(text))

    origin.pages |= {"/led": gate(redirect(302, "/target"), "/target"), "/target": target}
    origin.listed = {"/led": None}
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.texts()["/led"].endswith("With cookie")
    scene.visit()
    assert scene.asked("/target")[0].status == 304, "the same cookie: the condition is sent"
    origin.pages["/led"] = redirect(302, "/target")
    scene.visit()
    first = scene.asked("/target")[0]
    assert (first.conditional, first.headers.get("cookie")) == (False, None)
    assert scene.texts()["/led"].endswith("Without cookie")
    assert scene.events(3) == [("changed", "/led")]


def test_pages_do_not_share_cookies(tmp_path: Path, origin: PagesOrigin) -> None:
    def sets(request: Request) -> Reply:
        own = page("Text", '"1"')(request)
        return Reply(own.status, (*own.headers, ("Set-Cookie", "session=1; Path=/")), own.body)

    origin.pages |= {f"/{n}": sets for n in range(5)}
    scene = Scene(tmp_path, origin, politeness={"requests_per_second": None, "fetch_concurrency": 1})
    scene.visit()
    scene.visit(later=DAY)
    assert not [entry for entry in origin.log if "cookie" in entry.headers]
