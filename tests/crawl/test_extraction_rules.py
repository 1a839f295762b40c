"""Declared fields, and rules that change: a change of the rules is never told as a change of the site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from incremental_crawl.stages import prune_snapshots
from tests.crawl.pages_origin import OLD_DATE, Answer, PagesOrigin, Scene, sending, status
from tests.crawl.visiting import NAME

FIELDS: dict[str, Any] = {"title": "h1", "price": {"css": ".price", "type": "number"}}


@pytest.fixture
def origin() -> Iterator[PagesOrigin]:
    with PagesOrigin() as running:
        yield running


def product(title: str, price: str, views: int = 0, etag: str | None = None) -> Answer:
    body = f"<h1>{title}</h1><b class=price>{price}</b><i class=views>{views}</i><u class=stock>{title} in stock</u>"
    return sending(body.encode(), etag, OLD_DATE if etag else None)


def rules(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "product", "match": "/p/*", "fields": {**FIELDS, **fields}}]


def record(scene: Scene, path: str) -> dict[str, Any]:
    """The held record of a product."""
    ((text,),) = scene.site.state(f"SELECT record FROM held_records WHERE url = '{scene.url(path)}'")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_only_tracked_fields_are_news_and_all_are_kept_fresh(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {f"/p/{name.lower()}": product(name, price, 1) for name, price in (("A", "10.00"), ("B", "20.00"))}
    origin.pages["/p/c"] = product("C", "10.00", 1, etag='"1"')
    price = {"css": ".price", "type": "number", "required": True}
    scene = Scene(
        tmp_path, origin, extract=rules(price=price, views={"css": ".views", "type": "integer", "track": False})
    )
    scene.visit()
    before = scene.row("/p/a")
    origin.pages |= {"/p/a": product("A", "10.00", 99), "/p/b": product("B", "25.00", 99)}
    origin.pages["/p/c"] = sending(b"<h1>C</h1><p>Out of order", '"2"')
    scene.visit()
    assert scene.events(2) == [("changed", "/p/b")]
    (change,) = scene.event("/p/b", 2)["fields"]
    assert (change["name"], change["old"], change["new"], change["delta"], change["percent"]) == (
        "price",
        "20",
        "25",
        5.0,
        25.0,
    )
    assert "views" not in scene.event("/p/b", 2)["diff"]
    assert record(scene, "/p/a")["views"] == 99
    shown = scene.site.query(
        f"SELECT title, views FROM read_parquet('{scene.site.data}/records/*/type=product/*') ORDER BY ALL"
    )
    assert shown == [("A", 99), ("B", 99), ("C", 1)]
    assert scene.row("/p/a")["last_changed"] == before["last_changed"]
    assert scene.row("/p/a")["content_sha256"] == before["content_sha256"]
    assert scene.row("/p/c")["etag"] == '"1"', "a page without a required field keeps its record and validators"
    assert "price" in scene.observed("/p/c", 2, "error")[0]


def test_new_rules_compare_like_with_like_where_the_body_is_kept(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {
        "/p/same": product("Same", "10.00"),
        "/p/noisy": product("Noisy", "10.00", 1),
        "/p/edited": product("Edited", "10.00"),
        "/p/confirmed": product("Confirmed", "10.00", etag='"1"'),
    }
    scene = Scene(tmp_path, origin, extract=rules())
    scene.visit()
    scene.configure(extract=rules(stock=".stock"))
    origin.pages |= {"/p/noisy": product("Noisy", "10.00", 2), "/p/edited": product("Edited", "12.00")}
    scene.visit()
    assert scene.events(2) == [("changed", "/p/edited")]
    event = scene.event("/p/edited", 2)
    assert [change["name"] for change in event["fields"]] == ["price"], "the new field is no news"
    assert "+stock" not in event["diff"]
    for path in ("/p/same", "/p/noisy", "/p/edited"):
        assert "stock" in record(scene, path)
        assert scene.row(path)["stale"] is False
    assert scene.asked("/p/confirmed")[0].conditional, "a stale record is revalidated like any other"
    assert scene.row("/p/confirmed")["stale"] is True
    assert "stock" not in record(scene, "/p/confirmed")


def test_new_rules_rebaseline_where_no_body_is_kept(tmp_path: Path, origin: PagesOrigin) -> None:
    origin.pages |= {"/p/a": product("A", "10.00"), "/p/b": product("B", "10.00"), "/p/lost": product("Lost", "10.00")}
    scene = Scene(tmp_path, origin, extract=rules())
    scene.visit()
    scene.wait(timedelta(days=20))
    prune_snapshots.run(scene.site.data, {NAME: 7}, scene.now)
    assert scene.row("/p/a")["body_path"] is None
    prune_snapshots.run(scene.site.data, {NAME: 7}, scene.now + timedelta(days=2))
    changed = scene.row("/p/b")["last_changed"]
    scene.configure(extract=rules(stock=".stock"))
    origin.pages |= {"/p/b": product("B", "99.00"), "/p/lost": status(200, body=b"<p>No product</p>")}
    scene.visit()
    assert scene.events(2) == []
    assert scene.observed("/p/b", 2) == ["rebaselined"]
    assert record(scene, "/p/b") == {"price": 99, "stock": "B in stock", "title": "B"}
    assert scene.row("/p/b")["last_changed"] == changed
    origin.pages["/p/b"] = product("B", "100.00")
    scene.visit()
    assert scene.events(3) == [("changed", "/p/b")]
