"""What stands in a page's place is no change: record and validators stay, and a host that blocks is left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.stages import gates
from incremental_crawl.stages.block_reports import blocked_report
from incremental_crawl.storage.visits import VisitRefused
from tests.crawl.pages_origin import (
    DAY,
    HTML,
    OLD_DATE,
    Answer,
    PagesOrigin,
    Scene,
    html,
    page,
    redirect,
    sending,
    status,
)

HOUR = timedelta(hours=1)
LONG = " ".join(f"word{n}" for n in range(400))
LENIENT = {"failed": 1.0, "changed": 1.0, "gone": 1.0, "confirm_gone_after": "0s"}
ONE_AT_A_TIME = {"requests_per_second": None, "sweep_concurrency": 1, "fetch_concurrency": 1}
CHALLENGE = (
    b"<!doctype html><title>Just a moment...</title><div id=challenge>Enable JavaScript and cookies to continue</div>"
    b"<script>window._cf_chl_opt={cvId:'3'}</script>"
)
BACK_SOON = (
    b"<!doctype html><html><head><title>Our shop</title></head><body><h1>We will be back soon</h1>"
    b"<p>Our shop is being maintained at the moment. Please come back a little later; your basket is kept.</p></body>"
)
SHELL = b"<!doctype html><title>Shop</title><div id=root></div><script src=/app.js></script>"


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


def long_page(name: str, tag: str | None = '"1"') -> Answer:
    """A page with enough text to lose."""
    return page(f"{name} {LONG}", tag, OLD_DATE if tag else None)


def outcomes(scene: Scene, visit: int) -> dict[str, str]:
    """The last outcome of each path in a visit."""
    rows = scene.site.query(
        "SELECT url, arg_max(outcome, observed_at) FROM {observations} "
        f"WHERE visit = {visit} AND purpose IN ('sweep', 'fetch') GROUP BY url"
    )
    return {url.removeprefix(scene.origin.base_url): outcome for url, outcome in rows}


def stands(scene: Scene, path: str) -> tuple[Any, ...]:
    """What must not move while a page is blocked."""
    row = scene.row(path)
    names = ("etag", "last_modified", "content_sha256", "body_sha256", "status", "last_checked", "gone_since")
    return (*(row[name] for name in names), row["redirect_to"], scene.texts()[path])


IN_PLACE: dict[str, tuple[Answer, str]] = {
    "/challenge": (sending(CHALLENGE, '"c"'), "a challenge page of Cloudflare"),
    "/challenge-403": (status(403, body=CHALLENGE), "a challenge page of Cloudflare"),
    "/header": (status(403, ("cf-mitigated", "challenge")), "a challenge of Cloudflare"),
    "/header-404": (status(404, ("cf-mitigated", "challenge")), "a challenge of Cloudflare"),
    "/waf": (status(202, ("x-amzn-waf-action", "challenge"), body=b""), "a challenge of AWS WAF"),
    "/soon": (sending(BACK_SOON, '"m"'), 'a short page that says "we will be back"'),
    "/login": (
        sending(b"<title>Shop</title><form><input name=u><input type='password' name=p></form>", '"l"'),
        "a short page with a password form",
    ),
    "/missing": (
        sending(b"<title>Page not found | Shop</title><h1>Oops</h1><p>Try the search.</p>", '"n"'),
        'a page that says it was not found: "Page not found | Shop"',
    ),
    "/weg": (sending(b"<title>Fehler 404</title><h1>Seite nicht gefunden</h1>", '"w"'), "was not found"),
    "/consent": (
        sending(b"<title>Bevor Sie fortfahren</title><p>Wir verwenden Cookies.</p>", '"k"'),
        'says "bevor sie fortfahren"',
    ),
    "/slow": (sending(b"<title>Shop</title><p>Too many requests. Slow down.</p>", '"r"'), 'says "too many requests"'),
    "/refresh": (
        sending(b"<meta http-equiv=refresh content='0; url=/account/login?next=%2F'><p>Please wait", '"x"'),
        "sends browsers to /account/login",
    ),
    "/to-login": (redirect(302, "/account/login?next=/to-login"), "redirect to a login page"),
    "/to-login-for-good": (redirect(301, "/sso/start"), "redirect to a login page"),
    "/to-consent": (redirect(302, "https://consent.example.org/ask"), "redirect to a consent page"),
    "/refused": (status(403), "status 403: the server refuses the request"),
}


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A site of which many pages are answered with something else in its second visit, and with the pages after."""
    good = {path: long_page(f"Text of {path}") for path in IN_PLACE}
    good |= {f"/still/{n}": long_page(f"Still {n}") for n in range(4)}
    with PagesOrigin(dict(good)) as origin:
        origin.listed = dict.fromkeys(good)
        scene = Scene(tmp_path_factory.mktemp("blocked"), origin, gate=LENIENT, politeness=ONE_AT_A_TIME)
        scene.visit()
        origin.pages |= {path: answer for path, (answer, _) in IN_PLACE.items()}
        origin.pages |= {"/account/login?next=/to-login": page("Log in"), "/sso/start": page("Log in")}
        scene.visit()
        yield scene


@pytest.mark.parametrize("path", IN_PLACE)
def test_what_stands_in_a_pages_place_is_a_failed_check(blocked: Scene, path: str) -> None:
    assert outcomes(blocked, 2)[path] == "blocked"
    (error,) = blocked.site.query(
        "SELECT arg_max(error, observed_at) FROM {observations} "
        f"WHERE visit = 2 AND outcome = 'blocked' AND error IS NOT NULL AND url = '{blocked.url(path)}'"
    )[0]
    assert IN_PLACE[path][1] in error
    row = blocked.row(path)
    assert (row["etag"], row["status"], row["failures"], row["gone_since"]) == ('"1"', 200, 1, None)
    assert row["last_checked"] == blocked.now - DAY
    assert blocked.texts()[path].startswith(f"Text of {path}")


def test_blocked_pages_make_no_event_no_version_and_keep_no_body(blocked: Scene) -> None:
    assert blocked.events(2) == []
    assert blocked.site.query("SELECT count(*) FROM {page_records} WHERE visit = 2") == [(0,)]
    kept = "SELECT count(*) FROM {body_snapshots} WHERE contains(hex(body), hex('Just a moment'))"
    assert blocked.site.query(kept) == [(0,)]
    assert "/sso/start" not in blocked.rows()


def test_a_host_that_answers_other_pages_is_not_called_blocked(blocked: Scene) -> None:
    assert blocked.site.query("SELECT blocked_since FROM {hosts}") == [(None,)]


def test_afterwards_the_pages_are_asked_with_their_old_validators(blocked: Scene) -> None:
    for path in IN_PLACE:
        blocked.origin.pages[path] = long_page(f"Text of {path}")
    blocked.visit()
    assert {(entry.status, entry.headers.get("if-none-match")) for entry in blocked.asked() if entry.path != "/"} == {
        (304, '"1"')
    }
    assert blocked.events(3) == []
    assert blocked.site.state("SELECT count(*) FROM blocked_pages") == [(0,)]


def test_real_pages_that_look_like_it_pass(tmp_path: Path, origin: PagesOrigin) -> None:
    article = f"<title>Just a moment: how captchas work</title><h1>Verify you are human</h1><p>{LONG}</p>".encode()
    quoting = b"<title>Challenge pages</title><pre>&lt;script&gt;window._cf_chl_opt={}&lt;/script&gt;</pre>"
    login = b"<title>Log in</title><form>Name <input name=u> Password <input type=password name=p></form>"
    gallery = "<title>404 Gallery | Berlin</title><h1>404 Gallery</h1><p>{}</p>"
    pages: dict[str, tuple[bytes, bytes]] = {
        "/article": (article, article.replace(b"word7 ", b"WORD7 ")),
        "/quoting": (quoting, quoting.replace(b"{}", b"{a: 1}")),
        "/members/login": (login, login.replace(b"Name", b"User name")),
        "/gallery": (gallery.format(LONG).encode(), gallery.format("Closed for the winter.").encode()),
        "/status": (
            b"<title>Status</title><p>Scheduled maintenance on Monday. " + LONG.encode(),
            b"<title>Status</title><p>Scheduled maintenance on Tuesday.",
        ),
        "/short": (f"<title>Notes</title><p>{LONG}</p>".encode(), b"<title>Notes</title><p>Nothing yet.</p>"),
        "/moved-text": (
            f"<title>Chair</title><p>{LONG}</p>".encode(),
            f"<title>Chair</title><p>Our makers are back soon. {LONG[:1800]}</p>".encode(),
        ),
    }
    origin.pages |= {path: sending(body, '"1"') for path, (body, _) in pages.items()}
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages |= {path: sending(body, '"2"') for path, (_, body) in pages.items()}
    scene.visit()
    assert outcomes(scene, 2) == {"/": "not_modified"} | dict.fromkeys(pages, "changed")


def test_at_first_sight_only_strong_signs_count(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/soon": sending(BACK_SOON, '"1"'),
        "/signup": sending(b"<title>Join</title><form>Password <input type=password></form>", '"1"'),
        "/challenge": sending(CHALLENGE, '"1"'),
    }
    scene = Scene(tmp_path, origin)
    scene.visit()
    assert scene.events(1) == [("new", "/"), ("new", "/signup"), ("new", "/soon")]
    assert outcomes(scene, 1)["/challenge"] == "blocked"


def test_a_page_that_stays_that_way_is_taken_for_the_page_in_the_end(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/a"] = long_page("A")
    scene = Scene(tmp_path, origin, politeness=ONE_AT_A_TIME)
    scene.visit()
    origin.pages["/a"] = sending(BACK_SOON, '"m"')
    for _ in range(4):
        scene.visit(later=timedelta(hours=6))
        assert scene.events() == [("new", "/"), ("new", "/a")]
    scene.visit(later=timedelta(hours=6))
    assert scene.events(6) == [("changed", "/a")]
    scene.visit()
    assert scene.asked("/a")[0].status == 304, "its validators are adopted with it"


def test_many_visits_within_a_day_do_not_make_it_the_page(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages["/a"] = long_page("A")
    scene = Scene(tmp_path, origin)
    scene.visit()
    origin.pages["/a"] = sending(BACK_SOON, '"m"')
    for _ in range(5):
        scene.visit(later=timedelta(hours=4))
    assert scene.events() == [("new", "/"), ("new", "/a")]


def test_declared_fields_are_compared_by_what_is_missing(tmp_path: Path, origin: PagesOrigin) -> None:
    fields = {"title": "h1", "price": ".price"}
    product = "<title>Chair</title><h1>Chair</h1><p class=price>{}</p>"
    origin.pages |= {f"/product/{n}": sending(product.format(n).encode(), '"1"') for n in range(3)}
    scene = Scene(tmp_path, origin, extract=[{"name": "product", "match": "/product/*", "fields": fields}])
    scene.visit()
    origin.pages["/product/0"] = sending(BACK_SOON, '"2"')
    origin.pages["/product/1"] = sending(b"<title>Chair</title><h1>Chair, sold out</h1>", '"2"')
    scene.visit()
    assert scene.events(2) == [("changed", "/product/1")]
    assert outcomes(scene, 2)["/product/0"] == "blocked"


def test_maintenance_of_the_whole_site(tmp_path: Path, origin: PagesOrigin) -> None:
    """Forty pages: thirty share a short page, five are empty, five a shell; then 429; then well again, one edited."""
    paths = [f"/{n:02}" for n in range(40)]
    origin.pages |= {path: long_page(f"Page {path}", None) for path in paths[:20]}
    origin.pages |= {path: long_page(f"Page {path}") for path in paths[20:]}
    good = dict(origin.pages)
    scene = Scene(tmp_path, origin, gate={"failed": 0.5, "min_pages": 20, "confirm_gone_after": "0s"})
    scene.visit()
    before = {path: stands(scene, path) for path in paths}

    def soon(_: Request) -> Reply:
        made = ("Last-Modified", origin.moment.strftime("%a, %d %b %Y %H:%M:%S GMT"))
        return Reply(200, (HTML, made, ("Cache-Control", "no-store")), BACK_SOON)

    # Each part has pages with and without validators, so that the sweep and the fetch both meet all of them.
    origin.pages |= dict.fromkeys([*paths[:15], *paths[20:35]], soon)
    origin.pages |= dict.fromkeys([*paths[15:18], *paths[35:37]], sending(b""))
    origin.pages |= dict.fromkeys([*paths[18:20], *paths[37:]], sending(SHELL))
    with pytest.raises(VisitRefused, match=r"failed .* above gate\.failed"):
        scene.visit()
    origin.pages |= dict.fromkeys(paths, status(429, ("Retry-After", "7200")))
    scene.visit()
    origin.pages |= good | {"/07": page(f"Page /07 {LONG} edited", None)}
    scene.visit()
    assert scene.events() == [("changed", "/07"), *(("new", path) for path in ("/", *paths))]
    assert scene.event("/07", 4)["diff"].count("\n+") == 2  # its head, and the one line
    rows = scene.rows()
    assert {rows[path]["failures"] for path in paths} == {0}
    for path in set(paths) - {"/07"}:
        names = ("etag", "content_sha256", "body_sha256")
        assert [rows[path][name] for name in names] == [before[path][at] for at in (0, 2, 3)], path


def test_pages_that_suddenly_share_one_body_are_blocked_whatever_it_says(tmp_path: Path, origin: PagesOrigin) -> None:
    """In the sweep (pages with validators) and in the fetch (pages without), also where something in it moves."""
    groups = {"tagged": '"1"', "bare": None}
    paths = [f"/{group}/{n}" for group in groups for n in range(6)]
    origin.pages |= {f"/{group}/{n}": page(f"{group} {n}", tag) for group, tag in groups.items() for n in range(6)}
    origin.pages |= {f"/same/{n}": page("Twin", '"1"') for n in range(6)}
    scene = Scene(tmp_path, origin, gate=LENIENT, politeness=ONE_AT_A_TIME)
    scene.visit()
    before = {path: stands(scene, path) for path in paths}
    count = iter(range(1000))
    origin.pages |= dict.fromkeys(paths[:6], sending(html("Welcome to nginx"), '"2"'))
    origin.pages |= dict.fromkeys(paths[6:], lambda _: Reply(200, (HTML,), html("Parked", f"<!-- {next(count)} -->")))
    origin.pages |= dict.fromkeys([f"/same/{n}" for n in range(6)], page("Triplet", '"2"'))
    origin.pages["/brand-new"] = sending(html("Welcome to nginx"), '"2"')
    scene.visit()
    assert scene.events(2) == [("changed", f"/same/{n}") for n in range(6)], "pages that were the same may stay so"
    assert {path: stands(scene, path) for path in paths} == before
    told = outcomes(scene, 2)
    assert {told[path] for path in (*paths, "/brand-new")} == {"blocked"}
    errors = {scene.observed(path, 2, "error")[-1] for path in paths}
    assert errors == {"6 pages of the host that were different share one body now"}


def test_a_few_pages_or_a_small_share_that_become_one_are_changes(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n:02}": page(f"Page {n}", '"1"') for n in range(40)}
    scene = Scene(tmp_path, origin, gate=LENIENT)
    scene.visit()
    four = [f"/{n:02}" for n in range(4)]
    origin.pages |= dict.fromkeys(four, page("One", '"2"'))
    scene.visit()
    assert scene.events(2) == [("changed", path) for path in four]
    origin.pages |= {f"/{n:02}": page(f"Page {n} again", '"3"') for n in range(4, 34)}
    six = [f"/{n:02}" for n in range(34, 40)]
    origin.pages |= dict.fromkeys(six, page("Six", '"3"'))
    scene.visit()
    assert [event for event in scene.events(3) if event[1] in six] == [("changed", path) for path in six]


@pytest.mark.parametrize("code", [301, 302])
def test_redirects_of_many_pages_to_one_address_move_nothing(tmp_path: Path, origin: PagesOrigin, code: int) -> None:
    paths = [f"/{n}" for n in range(6)]
    origin.pages |= {path: page(f"Page {path}", '"1"', OLD_DATE) for path in (*paths, "/own")}
    origin.listed = dict.fromkeys([*paths, "/own"])
    scene = Scene(tmp_path, origin, gate=LENIENT)
    scene.visit()
    before = {path: stands(scene, path) for path in paths}
    origin.pages |= dict.fromkeys(paths, redirect(code, "/sorry"))
    origin.pages |= {"/sorry": page("Sorry", '"s"'), "/own": redirect(301, "/own-new"), "/own-new": page("Page /own")}
    scene.visit()
    assert scene.events(2) == [("moved", "/own")]
    assert {path: stands(scene, path) for path in paths} == before
    assert Counter(outcomes(scene, 2)[path] for path in paths) == {"blocked": 6}
    assert "/sorry" not in scene.rows()
    assert scene.known("/sorry", "url") is None


def test_four_redirects_to_one_address_are_four_moves(tmp_path: Path, origin: PagesOrigin) -> None:
    paths = [f"/{n}" for n in range(4)]
    origin.pages |= {path: page(f"Page {path}", '"1"') for path in paths}
    origin.listed = dict.fromkeys(paths)
    scene = Scene(tmp_path, origin, gate=LENIENT)
    scene.visit()
    origin.pages |= dict.fromkeys(paths, redirect(301, "/all")) | {"/all": page("All of them")}
    scene.visit()
    assert [event for event in scene.events(2) if event[0] == "moved"] == [("moved", path) for path in paths]


def test_aliases_that_always_led_to_one_page_stay_confirmed(tmp_path: Path, origin: PagesOrigin) -> None:
    aliases = [f"/alias/{n}" for n in range(6)]
    origin.pages |= {path: page(f"Alias {path}") for path in aliases} | {"/real": page("Real", '"1"', OLD_DATE)}
    origin.listed = dict.fromkeys([*aliases, "/real"])
    scene = Scene(tmp_path, origin, gate=LENIENT)
    for few in (aliases[:3], aliases[3:], []):
        scene.visit()
        origin.pages |= dict.fromkeys(few, redirect(302, "/real"))
    scene.visit()
    assert {outcomes(scene, 4)[path] for path in aliases} == {"not_modified"}


def test_a_host_that_blocks_twenty_times_in_a_row_rests_and_is_probed_with_one_page(tmp_path: Path) -> None:
    paths = [f"/{n:02}" for n in range(40)]
    with PagesOrigin({path: long_page(path) for path in paths}) as origin:
        good = dict(origin.pages)
        settings = {"requests_per_second": None, "sweep_concurrency": 4, "fetch_concurrency": 2}
        scene = Scene(tmp_path, origin, gate=LENIENT, politeness=settings, cadence={"default": "1d", "min": "1m"})
        scene.visit()
        origin.pages |= dict.fromkeys(["/", *paths], status(403, ("cf-mitigated", "challenge"), body=CHALLENGE))
        scene.visit()
        blocked_at = scene.now
        assert 20 <= len(scene.asked()) <= 23, "those under way when the host began to rest"
        assert {row["next_due"] for path, row in scene.rows().items() if not row["failures"]} == {blocked_at + HOUR}
        assert scene.site.query("SELECT blocked_since FROM {hosts}") == [(blocked_at,)]
        scene.visit(later=HOUR / 2)
        assert scene.asked() == []
        for doubled in (2, 4, 8, 16, 24, 24):
            scene.visit(later=24 * HOUR)
            assert len(scene.asked()) == 1, "one page is asked before the others"
            (rests,) = scene.site.state("SELECT next_try FROM host_blocks")[0]
            assert rests == scene.now + doubled * HOUR
        standing = gates.standing(scene.site.run())
        (host,) = standing.blocked
        assert (host.since, host.next_try, host.kind) == (blocked_at, scene.now + DAY, "challenge")
        assert "challenge of Cloudflare" in host.reason
        assert len(host.samples) == 3
        assert host.samples[0].status == 403
        samples = scene.site.state("SELECT body FROM blocked_samples")
        assert {body for (body,) in samples} == {CHALLENGE}
        origin.pages |= good
        scene.visit(later=24 * HOUR)
        assert len(scene.asked()) == 41
        assert scene.site.query("SELECT blocked_since FROM {hosts}") == [(None,)]
        assert gates.standing(scene.site.run()).blocked == []
        assert {kind for kind, _ in scene.events()} == {"new"}
        assert {row["failures"] for row in scene.rows().values()} == {0}


def test_a_host_that_shows_the_same_page_everywhere_rests_too(tmp_path: Path) -> None:
    """Few pages a visit: the blocks add up over visits, and the body is known at once when the host is probed."""
    paths = [f"/{n:02}" for n in range(11)]
    with PagesOrigin({path: long_page(path) for path in paths}) as origin:
        scene = Scene(tmp_path, origin, gate=LENIENT, cadence={"default": "1d", "min": "1m"})
        scene.visit()
        origin.pages |= dict.fromkeys(["/", *paths], sending(BACK_SOON, None))
        scene.visit()
        assert len(scene.asked()) == 12
        scene.visit()
        assert scene.site.state("SELECT blocks >= 20, rests FROM host_blocks") == [(True, 1)]
        scene.visit(later=2 * HOUR)
        assert len(scene.asked()) == 1
        assert {kind for kind, _ in scene.events()} == {"new"}


def test_pages_that_are_refused_one_by_one_do_not_make_the_host_rest(tmp_path: Path) -> None:
    good = {f"/{n:02}": long_page(str(n)) for n in range(5)}
    refused = {f"/members/{n:02}": status(403) for n in range(30)}
    with PagesOrigin({**good, **refused}) as origin:
        scene = Scene(tmp_path, origin, gate=LENIENT, politeness=ONE_AT_A_TIME)
        for _ in range(2):
            scene.visit()
        assert len(scene.asked()) == 36
        assert scene.site.query("SELECT blocked_since FROM {hosts}") == [(None,)]
        assert blocked_report(scene.site.run()).passed


def test_missing_pages_do_not_make_the_host_rest(tmp_path: Path) -> None:
    lost = {f"/lost/{n:02}": redirect(302, "/") for n in range(30)}
    with PagesOrigin({"/a": long_page("A"), **lost}) as origin:
        scene = Scene(tmp_path, origin, gate=LENIENT, politeness=ONE_AT_A_TIME)
        scene.visit()
        assert len(scene.asked()) == 32
        assert set(outcomes(scene, 1).values()) == {"new", "blocked"}


def test_the_check_says_what_stood_in_the_pages_place(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/{n}": long_page(str(n)) for n in range(5)}
    scene = Scene(tmp_path, origin, gate=LENIENT)
    scene.visit()
    assert blocked_report(scene.site.run()).passed
    origin.pages |= {"/1": sending(CHALLENGE), "/2": sending(CHALLENGE), "/3": sending(BACK_SOON)}
    scene.visit()
    report = blocked_report(scene.site.run())
    assert not report.passed
    assert "3 pages are blocked and keep their records" in report.sentence
    assert "2 × challenge" in report.sentence
    assert "1 × maintenance" in report.sentence
    assert (report.numbers["blocked"], report.numbers["challenge"]) == (3, 2)
