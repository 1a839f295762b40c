"""Values from the environment work, and are never shown."""

from __future__ import annotations

import copy
import pickle
import traceback
from pathlib import Path

import pytest

from incremental_crawl.config.loading import load_site
from incremental_crawl.config.problems import ConfigError
from tests.config.sitefiles import START, error_of, lines_of, load, write

SECRET = "hush-7f3a"
SECRETS = START + (
    'schedule: "${CRON}"\n'
    'politeness: {contact: "${WHO}", user_agent: "bot/1 ${WHO}",\n'
    '             requests_per_second: "${RATE}", respect_robots: "${NO}",\n'
    '             proxy: "http://${LOGIN}@proxy:3128"}\n'
    'allow_private_hosts: ["${HOST}", "10.0.0.0/8"]\n'
    'cadence: "${CADENCE}"\n'
    'scope: {include: ["/${WHO}"]}\n'
    'request_headers: {Authorization: "Bearer ${TOKEN}", Accept-Language: de}\n'
    'budget: {bytes_per_visit: "${SIZE}", time_per_visit: "${TIME}"}\n'
)
ENVIRON = {
    "TOKEN": "tok-55aa",
    "LOGIN": "me:pass-9c",
    "CRON": "17 4 * * *",
    "WHO": SECRET,
    "RATE": "7.125",
    "NO": "false",
    "HOST": "hidden.example:99",
    "CADENCE": "every_run",
    "SIZE": "777KB",
    "TIME": "77m",
}
HIDDEN = [SECRET, "tok-55aa", "pass-9c", "7.125", "hidden.example", "17 4", "777", "every_run", "4620"]


def test_values_from_the_environment_are_used_with_their_types(tmp_path: Path) -> None:
    site = load(tmp_path, SECRETS, ENVIRON)
    assert site.schedule == "17 4 * * *"
    assert site.politeness.contact == SECRET
    assert type(site.politeness.contact) is str
    assert site.politeness.full_user_agent == f"bot/1 {SECRET} (+{SECRET})"
    assert (site.politeness.requests_per_second, site.politeness.respect_robots) == (7.125, False)
    assert site.allow_private_hosts == ("hidden.example:99", "10.0.0.0/8")
    assert site.budget.bytes_per_visit == 777_000
    assert site.cadence.every_run
    assert site.politeness.proxy == "http://me:pass-9c@proxy:3128"
    assert site.request_headers == {"Authorization": "Bearer tok-55aa", "Accept-Language": "de"}
    assert site.scope.include[0].matches(f"https://shop.example/{SECRET}")


@pytest.mark.parametrize("hidden", HIDDEN)
def test_they_are_never_shown(tmp_path: Path, hidden: str) -> None:
    site = load(tmp_path, SECRETS, ENVIRON)
    for each in (site, copy.deepcopy(site), pickle.loads(pickle.dumps(site)), site.model_copy()):
        shown = [repr(each), str(each), str(each.model_dump()), str(each.as_data()), each.model_dump_json()]
        assert not [text for text in shown if hidden in text]
        assert all("${WHO}" in text for text in shown)


def test_shown_settings_load_again(tmp_path: Path) -> None:
    site = load(tmp_path, SECRETS, ENVIRON)
    assert site.as_data()["politeness"]["contact"] == "${WHO}"
    assert site.as_data()["request_headers"] == {"Authorization": "Bearer ${TOKEN}", "Accept-Language": "de"}
    assert site.as_data()["allow_private_hosts"] == ["${HOST}", "10.0.0.0/8"]


def test_an_unset_variable_is_an_error_and_the_only_one(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, START + 'gate: {gone: "${LIMIT}"}\n')
    assert message == (
        'gate.gone: "${LIMIT}" cannot be used (the environment variable LIMIT is not set): '
        "set LIMIT, or write the value itself (line 2)"
    )


@pytest.mark.parametrize(
    "line",
    [
        'politeness: {contact: "${V}"}',
        'timezone: "${V}"',
        'schedule: "${V}"',
        'gate: {gone: "${V}"}',
        'cadence: {min: "${V}"}',
        'scope: {include: ["re:(${V}"]}',
        'allow_private_hosts: ["${V}"]',
        'main_text: "${V}"',
        'request_headers: {X-Token: "${V}"}',
        'politeness: {user_agnet: "${V}"}',
        'follow_links: ["${V}"]',
    ],
)
def test_a_bad_value_from_the_environment_stays_out_of_the_error(tmp_path: Path, line: str) -> None:
    error = error_of(tmp_path, f"{START}{line}\n", {"V": f"{SECRET}\u00e9 ("})
    text = "".join(traceback.format_exception(error)) + repr(error) + repr(error.problems)
    assert SECRET not in text
    assert "${V}" in str(error)


def test_a_cross_check_does_not_give_a_value_away(tmp_path: Path) -> None:
    error = error_of(tmp_path, START + 'cadence: {min: "${V}"}\n', {"V": "777d"})
    assert "777" not in str(error) + repr(error)


def test_a_url_or_a_rule_cannot_come_from_the_environment(tmp_path: Path) -> None:
    text = 'start_urls: ["https://${V}/"]\nfeeds: ["${V}"]\nextract: [{name: a, match: "/${V}"}]\n'
    lines = lines_of(tmp_path, text, {"V": SECRET})
    assert len(lines) == 3
    assert all("would be written to data" in line and SECRET not in line for line in lines)


def test_braces_of_a_regex_are_not_a_variable(tmp_path: Path) -> None:
    text = START + r"extract: [{name: a, match: /**, fields: {x: {css: a, match: 'x\${2,3}'}}}]"
    assert load(tmp_path, text).extract[0].fields["x"].match == r"x\${2,3}"


def test_a_malformed_name_is_named(tmp_path: Path) -> None:
    (message,) = lines_of(tmp_path, START + 'politeness: {contact: "${my-name}"}\n')
    assert "${my-name} does not name an environment variable" in message


def test_the_process_environment_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, START + 'politeness: {contact: "${CRAWL_TEST_CONTACT}"}\n')
    monkeypatch.setenv("CRAWL_TEST_CONTACT", "x@example.org")
    assert load_site(tmp_path, "shop").politeness.contact == "x@example.org"
    monkeypatch.delenv("CRAWL_TEST_CONTACT")
    with pytest.raises(ConfigError):
        load_site(tmp_path, "shop")
