from __future__ import annotations

import pickle
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from pydantic import ValidationError

from incremental_crawl.config.site import SiteConfig
from tests.config.sitefiles import START, load

FULL = r"""
start_urls: ["https://Shop.example:443/a?utm_source=x#top", "http://shop.example:8080/", "https://shop.example/a"]
enabled: false
schedule: "30 5 * * 1-5"
schedule_on: true
timezone: Europe/Berlin
sitemaps: ["https://shop.example/sm.xml"]
feeds: ["https://shop.example/feed"]
follow_links: false
scope: {include: ["/**"], exclude: ["re:/x[0-9]"], max_depth: 0, max_pages: 10, strip_params: ["utm_*"],
        forget_after: 2w, sitemap_shrink_limit: 1, max_new_per_visit: null, strip_tracking: false, skip_traps: false,
        alternates: true, meta_robots: all, canonical: prefer}
cadence: {default: 12h, min: 30m, max: 1w}
budget: {requests_per_visit: 100, bytes_per_visit: 1GB, time_per_visit: null}
politeness: {requests_per_second: null, sweep_concurrency: 1, fetch_concurrency: 2, timeout: 0.5s, total_timeout: 1m,
             max_body: 1MB, max_decoded: 2MiB, user_agent: bot/1, contact: me@example.org, respect_robots: false,
             proxy: "http://proxy.example:3128/"}
request_headers: {Accept-Language: "de, en;q=0.5", Cookie: "consent=1"}
revalidation: {audit_share: 0, min_304_ratio: 1}
gate: {changed: 1, gone: 0, failed: 0.25, min_pages: 0, confirm_gone_after: 0s}
bodies: {keep_days: 1}
main_text: none
allow_private_hosts: ["Intranet:8080", "10.0.0.0/8", "::1", "[::1]:80", "127.0.0.1"]
extract:
  - name: product
    match: "/product/*"
    format: html
    ignore: [".ad"]
    fields:
      title: h1
      price: {css: .price, attr: data-price, match: '(\d+)', list: true, sort: true, required: true, track: false,
              type: price}
      here: {css: .stock, has_class: yes, type: bool}
"""


def test_one_key_is_enough_and_the_rest_is_the_contract(tmp_path: Path) -> None:
    site = load(tmp_path, START)
    assert (site.name, site.start_urls, site.enabled) == ("shop", ("https://shop.example/",), True)
    assert (site.schedule, site.schedule_on, site.timezone) == ("0 */6 * * *", False, "UTC")
    assert (site.sitemaps, site.feeds, site.follow_links) == ("auto", (), "auto")
    assert (site.scope.max_depth, site.scope.max_pages, site.scope.forget_after) == (5, 1_000_000, timedelta(days=90))
    assert (site.cadence.default, site.cadence.min, site.cadence.max) == (
        timedelta(days=1),
        timedelta(hours=1),
        timedelta(days=30),
    )
    assert not site.cadence.every_run
    assert site.budget.requests_per_visit is site.budget.bytes_per_visit is None
    assert site.budget.time_per_visit == timedelta(hours=1)
    assert (site.politeness.requests_per_second, site.politeness.sweep_concurrency) == (5, 24)
    assert (site.politeness.fetch_concurrency, site.politeness.max_body) == (6, 20_000_000)
    assert (site.politeness.timeout, site.politeness.total_timeout) == (timedelta(seconds=20), timedelta(seconds=60))
    assert (site.politeness.max_decoded, site.politeness.respect_robots) == (50_000_000, True)
    assert (site.revalidation.audit_share, site.revalidation.min_304_ratio) == (0.02, 0.05)
    assert (site.gate.changed, site.gate.gone, site.gate.failed, site.gate.min_pages) == (0.8, 0.2, 0.5, 20)
    assert site.gate.confirm_gone_after == timedelta(seconds=5)
    assert (site.bodies.keep_days, site.main_text, site.allow_private_hosts, site.extract) == (7, "fast", False, ())


def test_every_key_is_read(tmp_path: Path) -> None:
    site = load(tmp_path, FULL)
    assert site.start_urls == ("https://shop.example/a", "http://shop.example:8080/")
    assert site.hosts == {"shop.example", "shop.example:8080"}
    assert (site.enabled, site.schedule, site.schedule_on) == (False, "30 5 * * 1-5", True)
    assert site.timezone == "Europe/Berlin"
    assert (site.sitemaps, site.follow_links) == (("https://shop.example/sm.xml",), False)
    assert site.scope.forget_after == timedelta(days=14)
    assert (site.scope.max_new_per_visit, site.scope.strip_tracking, site.scope.skip_traps) == (None, False, False)
    assert (site.scope.alternates, site.scope.meta_robots, site.scope.canonical) == (True, "all", "prefer")
    assert (site.budget.bytes_per_visit, site.budget.time_per_visit) == (10**9, None)
    assert (site.politeness.requests_per_second, site.politeness.timeout) == (None, timedelta(seconds=0.5))
    assert site.politeness.max_decoded == 2 * 2**20
    assert site.politeness.full_user_agent == "bot/1 (+me@example.org)"
    assert site.request_headers == {"Accept-Language": "de, en;q=0.5", "Cookie": "consent=1"}
    assert site.origins == {"https://shop.example", "http://shop.example:8080"}
    assert site.politeness.proxy == "http://proxy.example:3128/"
    assert site.gate.confirm_gone_after == timedelta(0)
    assert site.allow_private_hosts == ("intranet:8080", "10.0.0.0/8", "::1", "[::1]:80", "127.0.0.1")
    (product,) = site.extract
    assert (product.name, product.match.text, product.ignore) == ("product", "/product/*", (".ad",))
    assert (product.fields["title"].css, product.fields["title"].type) == ("h1", "text")
    price = product.fields["price"]
    assert (price.attr, price.match, price.list, price.sort) == ("data-price", r"(\d+)", True, True)
    assert (price.required, price.track, price.type) == (True, False, "price")
    assert product.fields["here"].has_class == "yes"


def test_a_certificate_file_is_looked_for_beside_the_site_files(tmp_path: Path) -> None:
    certificate = (Path(__file__).parents[1] / "transport" / "localhost.pem").read_text(encoding="ascii")
    (tmp_path / "own.pem").write_text(certificate, encoding="ascii")
    site = load(tmp_path, START + "politeness: {ca_file: own.pem}\n")
    assert site.politeness.ca_file == str(tmp_path / "own.pem")


def test_scope_rules_follow_hosts_and_patterns(tmp_path: Path) -> None:
    scope = load(tmp_path, FULL).scope_rules
    assert scope.contains("https://shop.example/any/page")
    assert not scope.contains("https://shop.example/x7")
    assert not scope.contains("https://other.example/")


@pytest.mark.parametrize("text", [START, FULL, START + "cadence: every_run\n"])
def test_what_is_shown_loads_as_the_same_settings(tmp_path: Path, text: str) -> None:
    site = load(tmp_path, text)
    assert load(tmp_path, yaml.safe_dump(site.as_data())) == site


@pytest.mark.parametrize("text", [FULL, START + "cadence: every_run\n"])
def test_settings_travel_to_other_processes(tmp_path: Path, text: str) -> None:
    site = load(tmp_path, text)
    copy = pickle.loads(pickle.dumps(site))
    assert copy == site
    assert copy.cadence.every_run == site.cadence.every_run


def test_the_word_every_run_keeps_the_bounds_that_rules_need(tmp_path: Path) -> None:
    cadence = load(tmp_path, START + "cadence: every_run\n").cadence
    assert cadence.every_run
    assert cadence.max == timedelta(days=30)


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    site = load(tmp_path, START)
    with pytest.raises(ValidationError, match="frozen"):
        cast(Any, site.gate).gone = 1.0


def test_the_user_agent_is_honest_and_names_a_contact_only_when_there_is_one() -> None:
    site = SiteConfig(name="a", start_urls=("https://a.example/",))
    assert site.politeness.full_user_agent == "incremental-crawl/0.1"
