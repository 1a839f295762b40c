"""The messages a person reads: file, key, value, allowed form."""

from __future__ import annotations

from pathlib import Path

import pytest

from incremental_crawl.config.page_types import FieldConfig, PageTypeConfig
from incremental_crawl.config.section import Section
from incremental_crawl.config.site import Bodies, Cadence, SiteConfig
from tests.config.sitefiles import START, error_of, lines_of

FIELD = START + "extract:\n  - name: a\n    match: /**\n    fields:\n      x: "


def test_a_value_out_of_range_is_named_with_what_is_allowed(tmp_path: Path) -> None:
    assert lines_of(tmp_path, START + "gate: {changed: 1.5}\n") == [
        "gate.changed: 1.5 is not allowed: a share between 0 and 1 (line 2)"
    ]


@pytest.mark.parametrize(
    ("line", "key", "shown", "reason"),
    [
        ("schedule: hourly", "schedule", '"hourly"', "it has 1 fields"),
        ('schedule: "61 * * * *"', "schedule", '"61 * * * *"', "out of range"),
        ('schedule: "0 0 31 2 *"', "schedule", '"0 0 31 2 *"', "next date"),
        ('schedule: "R 3 * * *"', "schedule", '"R 3 * * *"', "character"),
        ('schedule: "H 3 * * *"', "schedule", '"H 3 * * *"', "character"),
        ("timezone: Europe/Berln", "timezone", '"Europe/Berln"', "did you mean Europe/Berlin?"),
        ("timezone: ../etc", "timezone", '"../etc"', "unknown time zone"),
        ("enabled: yes", "enabled", '"yes"', ": true or false"),
        ("schedule_on: 1", "schedule_on", "1", ": true or false"),
        ("sitemaps: automatic", "sitemaps", '"automatic"', ": auto, none or a list"),
        ("sitemaps: [ftp://x/]", "sitemaps[0]", '"ftp://x/"', "http or https"),
        ("feeds: https://a.example/f", "feeds", '"https://a.example/f"', ": a list of"),
        ("follow_links: maybe", "follow_links", '"maybe"', ": auto, true or false"),
        ("main_text: precise", "main_text", '"precise"', "not available in this version"),
        ("main_text: quick", "main_text", '"quick"', ": fast or none"),
        ("scope: {include: [news]}", "scope.include[0]", '"news"', "/ or **"),
        ('scope: {exclude: ["re:("]}', "scope.exclude[0]", '"re:("', "unterminated"),
        ("scope: {max_depth: -1}", "scope.max_depth", "-1", ": a whole number"),
        ("scope: {max_pages: 1.5}", "scope.max_pages", "1.5", ": a whole number"),
        ("scope: {max_pages: true}", "scope.max_pages", "true", ": a whole number"),
        ("scope: {max_new_per_visit: 0}", "scope.max_new_per_visit", "0", "or null for no limit"),
        ("scope: {meta_robots: noindex}", "scope.meta_robots", '"noindex"', "ignore, nofollow or all"),
        ("scope: {canonical: true}", "scope.canonical", "true", "ignore or prefer"),
        ("scope: {alternates: hreflang}", "scope.alternates", '"hreflang"', "true or false"),
        ("scope: {strip_tracking: [utm_id]}", "scope.strip_tracking", '["utm_id"]', "true or false"),
        ('gate: {min_pages: "20"}', "gate.min_pages", '"20"', "remove the quotes"),
        ("gate: {gone: true}", "gate.gone", "true", ": a share between 0 and 1"),
        ("gate: {confirm_gone_after: 2h}", "gate.confirm_gone_after", '"2h"', "from 0s to 1h"),
        ("budget: {time_per_visit: 20}", "budget.time_per_visit", "20", "20 seconds are written 20s"),
        ("budget: {bytes_per_visit: lots}", "budget.bytes_per_visit", '"lots"', ": a size"),
        ("budget: {requests_per_visit: 0}", "budget.requests_per_visit", "0", "at least 1"),
        ("cadence: daily", "cadence", '"daily"', ": the word every_run"),
        ("cadence: {min: 2d}", "cadence", '{"min": "2d"}', "default 1d, min 2d, max 30d"),
        ("cadence: {default: 0s}", "cadence.default", '"0s"', "above zero"),
        ("scope: {forget_after: 600w}", "scope.forget_after", '"600w"', "too large"),
        ("politeness: {requests_per_second: 0}", "politeness.requests_per_second", "0", "above zero"),
        ("politeness: {max_body: 20}", "politeness.max_body", "20", "at least 1KB"),
        ('politeness: {user_agent: "a\\nX: b"}', "politeness.user_agent", '"a\\nX: b"', "header line"),
        ("politeness: {contact: Jürgen}", "politeness.contact", '"Jürgen"', "header line"),
        ("bodies: {keep_days: 0}", "bodies.keep_days", "0", "from 1 to 3650"),
        ("bodies:", "bodies", "null", "nothing is written here"),
        ("gate: 0.5", "gate", "0.5", "changed, gone, failed"),
        ('allow_private_hosts: ["http://x"]', "allow_private_hosts[0]", '"http://x"', "leave the scheme out"),
        ("allow_private_hosts: [10.0.0.1/8]", "allow_private_hosts[0]", '"10.0.0.1/8"', "10.0.0.0/8"),
        ("allow_private_hosts: [169.254.1.1]", "allow_private_hosts[0]", '"169.254.1.1"', "link-local"),
        ("allow_private_hosts: ['[fe80::1]:80']", "allow_private_hosts[0]", '"[fe80::1]:80"', "link-local"),
        ("allow_private_hosts: [169.254.0.0/17]", "allow_private_hosts[0]", '"169.254.0.0/17"', "link-local"),
        ("allow_private_hosts: ['a:99999']", "allow_private_hosts[0]", '"a:99999"', "not a host and port"),
        ("allow_private_hosts: ['a b']", "allow_private_hosts[0]", '"a b"', "not a host and port"),
        ("extract: {name: a}", "extract", '{"name": "a"}', ": a list of page types"),
        ("extract: [{name: A, match: /**}]", "extract[0].name", '"A"', "small letters"),
        ("extract: [{name: page, match: /**}]", "extract[0].name", '"page"', "without rules"),
        ("extract: [{name: a, match: /**, format: json}]", "extract[0].format", '"json"', "not available"),
        ("extract: [{name: a, match: 5}]", "extract[0].match", "5", "a glob on path and query"),
        ("extract: [{name: a, match: /**, ignore: .ad}]", "extract[0].ignore", '".ad"', "a list of CSS"),
    ],
)
def test_a_bad_value_gives_one_line(tmp_path: Path, line: str, key: str, shown: str, reason: str) -> None:
    (message,) = lines_of(tmp_path, f"{START}{line}\n")
    assert message.startswith(f"{key}: {shown} is not allowed")
    assert reason in message
    assert message.endswith(" (line 2)")


@pytest.mark.parametrize(
    ("field", "key", "reason"),
    [
        ("#main", "", "a # began a comment"),
        ("{css: ''}", ".css", "a CSS selector"),
        ("{css: a, type: txt}", ".type", "text, number, integer"),
        ("{css: a, match: '('}", ".match", "does not parse"),
        ("{css: a, match: '(a)(b)'}", ".match", "2 groups"),
        ("{css: a, sort: true}", "", "add list: true"),
        ("{css: a, has_class: b}", "", "add type: bool"),
        ("{css: a, has_class: b, type: bool, attr: c}", "", "leave attr and match out"),
        ("{attr: href}", ".css", "missing: a CSS selector"),
    ],
)
def test_a_bad_field_gives_one_line(tmp_path: Path, field: str, key: str, reason: str) -> None:
    (message,) = lines_of(tmp_path, f"{FIELD}{field}\n")
    assert message.startswith(f"extract[0].fields.x{key}: ")
    assert reason in message


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("{url: a}", "url is a column of every record"),
        ("{p: {css: a, type: price}, p_currency: b}", "the column that the price p adds"),
        ("{Big: a}", "small letters"),
    ],
)
def test_field_names_must_work_as_columns(tmp_path: Path, fields: str, reason: str) -> None:
    (message,) = lines_of(tmp_path, f"{START}extract: [{{name: a, match: /**, fields: {fields}}}]\n")
    assert reason in message


def test_two_page_types_cannot_share_a_name(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, START + "extract: [{name: a, match: /x}, {name: a, match: /y}]\n")
    assert "the name a is used twice" in message


@pytest.mark.parametrize(
    ("text", "key", "suggestion"),
    [
        ("shedule: null", "shedule", "schedule"),
        ("Time-Zone: UTC", "Time-Zone", "timezone"),
        ("gate: {chnaged: 1}", "gate.chnaged", "changed"),
        ("user_agent: x", "user_agent", "politeness.user_agent"),
        ("max_page: 5", "max_page", "scope.max_pages"),
        ("extract: [{name: a, match: /x, feilds: {}}]", "extract[0].feilds", "fields"),
    ],
)
def test_a_misspelt_key_is_recognised(tmp_path: Path, text: str, key: str, suggestion: str) -> None:
    (message,) = lines_of(tmp_path, f"{START}{text}\n")
    assert message.startswith(f"{key}: unknown key (value ")
    assert f"did you mean {suggestion}?" in message


def test_a_misspelt_required_key_is_not_reported_as_missing_too(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, 'start_url: ["https://a.example/"]\n')
    assert "did you mean start_urls?" in message


def test_a_key_like_no_other_lists_what_there_is(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, START + "bodies: {zzz: 1}\n")
    assert message == "bodies.zzz: unknown key (value 1): keys here are keep_days (line 2)"


LATER: dict[type[Section], tuple[str, set[str]]] = {
    SiteConfig: ("{}: {}", {"alerts"}),
    Cadence: ("cadence: {{{}: {}}}", {"full_sweep_every", "sections"}),
    Bodies: ("bodies: {{{}: {}}}", {"keep_current"}),
    PageTypeConfig: ("extract: [{{name: a, match: /**, {}: {}}}]", {"items", "next", "python"}),
    FieldConfig: (
        "extract: [{{name: a, match: /**, fields: {{x: {{{}: {}}}}}}}]",
        {"xpath", "json", "jsonld", "meta", "regex", "main"},
    ),
}


@pytest.mark.parametrize(
    ("section", "key"), [(section, key) for section, (_, keys) in LATER.items() for key in sorted(keys)]
)
def test_a_key_of_a_later_version_says_so(tmp_path: Path, section: type[Section], key: str) -> None:
    template, keys = LATER[section]
    assert set(section.later) == keys
    (message,) = lines_of(tmp_path, START + template.format(key, "null") + "\n")
    assert f"{key}: not available in this version (value " in message


def test_values_that_may_be_credentials_are_not_repeated(tmp_path: Path) -> None:
    text = (
        START + "request_headers: {Authorization: hush}\npoliteness: {proxy: 'http://u:hush@p'}\nalerts: [{to: hush}]\n"
    )
    assert "hush" not in str(error_of(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("User-Agent", "the user agent is set by politeness.user_agent"),
        ("Accept-Encoding", "the crawler sets it itself"),
        ("if-none-match", "the crawler sets it itself"),
        ("Host", "the crawler sets it itself"),
        ("Proxy-Authorization", "the crawler sets it itself"),
        ("a b", "it is not the name of a header"),
        ("Ünder", "it is not the name of a header"),
    ],
)
def test_headers_that_the_crawler_controls_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    (message,) = lines_of(tmp_path, f"{START}request_headers: {{'{name}': hush, Accept-Language: de}}\n")
    assert message == f'request_headers.{name}: "{name}" may not be set here ({reason}): another header (line 2)'


@pytest.mark.parametrize("value", ['"a\\nb"', '"\u00fcber"', '""', "7", "[a]", "null"])
def test_a_header_value_that_cannot_be_sent_is_refused_and_not_repeated(tmp_path: Path, value: str) -> None:
    (message,) = lines_of(tmp_path, f"{START}request_headers: {{X-Token: {value}}}\n")
    assert message.startswith("request_headers.X-Token: the value is not allowed")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("https://proxy:3128", "the proxy itself is spoken to by http:// only"),
        ("socks5://hush", "the proxy itself is spoken to by http:// only"),
        ("http://", "a proxy is a host and a port, nothing more"),
        ("http://proxy:3128/hush", "a proxy is a host and a port, nothing more"),
        ("http://proxy:hush", "not a URL"),
        ("http://me:hush@proxy:3128", "write user name and password as ${NAME}, so that they are never shown"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_and_not_repeated(tmp_path: Path, value: str, reason: str) -> None:
    (message,) = lines_of(tmp_path, f"{START}politeness: {{proxy: '{value}'}}\n")
    assert message.startswith(f"politeness.proxy: the value is not allowed ({reason}): the URL of an HTTP proxy")
    assert "hush" not in message


def test_a_certificate_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    for name, reason in (("missing.pem", "cannot be read: No such file"), ("key.pem", "holds no certificate")):
        (message,) = lines_of(tmp_path, f"{START}politeness: {{ca_file: {name}}}\n")
        assert message.startswith(f'politeness.ca_file: "{name}" is not allowed ({tmp_path / name} {reason}')


def test_a_header_in_two_spellings_is_refused(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, START + "request_headers: {Accept: hush, accept: hush}\n")
    assert "a header is named twice" in message
    assert "hush" not in message


def test_passwords_in_urls_are_refused_and_not_repeated(tmp_path: Path) -> None:
    error = error_of(tmp_path, 'start_urls: ["https://me:hush@shop.example/", "ftp://me:hush@x/"]\n')
    assert len(error.problems) == 2
    assert "would be written to data" in str(error)
    assert "hush" not in str(error) + repr(error.problems)


def test_all_problems_of_a_file_are_reported_at_once_in_its_order(tmp_path: Path) -> None:
    text = "gate:\n  gone: 2\n  gone: 3\nbudgets: 1\ntimezone: Mars\npoliteness: {contact: '${UNSET}'}\nmain_text: 5\n"
    lines = lines_of(tmp_path, text)
    for start in ("gate.gone: written twice", "start_urls: missing", "gate.gone: 2", "budgets: unknown", "timezone: "):
        assert any(line.startswith(start) for line in lines)
    assert len(lines) == 7
    numbered = [int(line.rpartition("(line ")[2].rstrip(")")) for line in lines if line.endswith(")")]
    assert numbered == sorted(numbered)


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, f"{START}timezone: {'x' * 5_000}\n")
    assert len(message) < 300


def test_the_file_name_is_the_name_of_the_site(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, START + "name: other\n")
    assert message == 'name: not a key (value "other"): the site is named by its file, this key must go (line 2)'
