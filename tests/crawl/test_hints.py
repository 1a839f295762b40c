"""Where requests are short, a moved lastmod decides who is asked first; it never decides what changed."""

from __future__ import annotations

from pathlib import Path

from incremental_crawl.storage.visits import VisitOptions
from tests.crawl.pages_origin import OLD_DATE, PagesOrigin, Scene, page

PAGES = 30
FEW = VisitOptions(page_limit=6)


def listed(moved: dict[int, str]) -> dict[str, str | None]:
    """The sitemap: page n is of January n, or of the date given."""
    return {f"/p/{n}": moved.get(n, f"2026-01-{n + 1:02d}") for n in range(PAGES)}


def edit(origin: PagesOrigin, n: int, text: str) -> None:
    """Another text under another tag."""
    origin.pages[f"/p/{n}"] = page(text, f'"{text}"', OLD_DATE)


def test_hinted_pages_are_asked_first_and_a_hint_that_waits_is_not_lost(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(PAGES)}) as origin:
        origin.listed = listed({})
        scene = Scene(tmp_path, origin)
        scene.visit()
        for n in (25, 26, 27):
            edit(origin, n, f"Edited {n}")
        origin.listed = listed(dict.fromkeys((25, 26, 27), "2026-05-02"))
        scene.visit(options=FEW)
        assert scene.events(2) == [("changed", f"/p/{n}") for n in (25, 26, 27)]
        assert scene.site.state(
            "SELECT round(moved), round(moved_changed), weight > 0.5 FROM "
            "(SELECT *, (moved_changed + 1) / (moved + 2) AS weight FROM hint_ledger)"
        ) == [(3, 3, True)]
        moved = dict.fromkeys(range(20, 30), "2026-05-03")
        for n in moved:
            edit(origin, n, f"Again {n}")
        origin.listed = listed(moved)
        scene.visit(options=FEW)
        first = {path for _, path in scene.events(3)}
        assert len(first) >= 4, "most of the few pages that are asked are hinted ones"
        scene.visit(options=FEW)
        scene.visit(options=FEW)
        assert {path for kind, path in scene.events() if kind == "changed"} == {f"/p/{n}" for n in moved}


def test_a_build_stamp_asks_nobody_and_is_named(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(PAGES)}) as origin:
        origin.listed = listed({})
        scene = Scene(tmp_path, origin, cadence={"default": "7d"})
        scene.visit()
        origin.listed = listed({n: f"2026-05-02T10:00:{n:02d}Z" for n in range(PAGES)})
        scene.visit()
        assert scene.asked() == []
        assert "nearly every lastmod moved at once" in scene.site.reports["sitemap_urls"].notes["lastmod"]
        origin.listed |= {"/p/3": "2026-05-03T12:00:00Z"}
        scene.visit()
        assert scene.asked_paths() == {"/p/3"}


def test_a_lastmod_that_moves_proves_no_change_and_one_that_stands_hides_none(tmp_path: Path) -> None:
    with PagesOrigin({f"/p/{n}": page(f"Page {n}", f'"{n}"', OLD_DATE) for n in range(3)}) as origin:
        origin.listed = {f"/p/{n}": "2026-01-01" for n in range(3)}
        scene = Scene(tmp_path, origin)
        scene.visit()
        origin.listed |= {"/p/0": "2026-05-02"}
        edit(origin, 1, "Edited")
        scene.visit()
        assert scene.events(2) == [("changed", "/p/1")]
