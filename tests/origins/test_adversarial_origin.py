"""The adversarial origin serves exact bytes, keeps hosts apart, and does what rounds, clock and seed say."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from incremental_crawl.origin.adversarial import BY_NAME, CATALOGUE, AdversarialLog, AdversarialOrigin, Behaviour
from incremental_crawl.origin.adversarial.kinds.encoding import bomb
from incremental_crawl.transport.content_coding import BodyDecoder

SOME = [
    BY_NAME[name] for name in ("both-validators", "tag-latin-1", "tokens-and-nonces", "closes-at-once", "head-drips")
]


@pytest.fixture
def origin() -> Iterator[AdversarialOrigin]:
    with AdversarialOrigin(SOME, patience_s=1.0) as origin:
        yield origin


def raw(url: str, *lines: bytes, method: bytes = b"GET") -> bytes:
    """All bytes that come back to one request, on a connection that is closed afterwards."""
    parts = urlsplit(url)
    target = url.partition(parts.netloc)[2].encode("latin-1")
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=5) as connection:
        connection.sendall(b"\r\n".join([method + b" " + target + b" HTTP/1.1", b"Host: x", *lines, b"", b""]))
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    return received


def first(origin: AdversarialOrigin, name: str) -> str:
    return origin.starts(BY_NAME[name])[0]


def test_header_bytes_go_out_and_come_in_as_they_are(origin: AdversarialOrigin) -> None:
    answer = raw(first(origin, "tag-latin-1"))
    assert b'ETag: "caf\xe9"\r\n' in answer
    assert raw(first(origin, "tag-latin-1"), b'If-None-Match: "caf\xe9"').startswith(b"HTTP/1.1 304 ")
    [_, entry] = origin.log.of("tag-latin-1")
    assert (entry.values("if-none-match"), entry.status, entry.etags) == (['"caf\xe9"'], 304, ('"caf\xe9"',))


def test_a_round_brings_the_edit_and_the_clock_goes_with_it(origin: AdversarialOrigin) -> None:
    url = first(origin, "both-validators")
    before = raw(url)
    origin.round = 3
    after = raw(url)
    assert b"edition:page:v1" in before
    assert b"edition:page:v2" in after
    assert b"Date: Fri, 01 May 2026 12:00:00 GMT" in before
    assert b"Date: Mon, 04 May 2026 15:00:00 GMT" in after


def test_a_clock_that_is_handed_in_makes_the_date() -> None:
    with AdversarialOrigin(SOME, clock=lambda: datetime(2030, 1, 1, tzinfo=UTC)) as origin:
        assert b"Date: Tue, 01 Jan 2030 00:00:00 GMT" in raw(first(origin, "both-validators"))


def test_the_same_seed_gives_the_same_noise_and_restarting_begins_it_anew() -> None:
    with AdversarialOrigin(SOME, seed=1) as one, AdversarialOrigin(SOME, seed=1, host="127.0.2.0") as other:
        url = first(one, "tokens-and-nonces")
        loads = [raw(url), raw(url)]
        assert loads[0] != loads[1]
        assert raw(first(other, "tokens-and-nonces")) == loads[0]
        one.round = 2
        one.restart()
        assert (one.round, len(one.log)) == (0, 0)
        assert raw(url) == loads[0]


def test_each_behaviour_has_a_host_of_its_own_at_the_same_port(origin: AdversarialOrigin) -> None:
    hosts = [urlsplit(first(origin, one.name)) for one in SOME]
    assert len({host.hostname for host in hosts}) == len(SOME)
    assert len({host.port for host in hosts}) == 1


def test_who_hangs_up_first_is_written_down(origin: AdversarialOrigin) -> None:
    origin.round = 1
    url = urlsplit(first(origin, "head-drips"))
    with socket.create_connection((url.hostname or "", url.port or 80), timeout=5) as connection:
        connection.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1) == b"H"
    raw_until_the_end = http.client.HTTPConnection(url.hostname or "", url.port, timeout=5)
    raw_until_the_end.request("GET", "/page")
    with pytest.raises(http.client.HTTPException):
        raw_until_the_end.getresponse()
    raw_until_the_end.close()
    assert [one.given_up for one in origin.log.of("head-drips")] == [True, False]


def test_a_connection_can_be_closed_without_a_byte(origin: AdversarialOrigin) -> None:
    origin.round = 1
    assert raw(first(origin, "closes-at-once")) == b""
    [entry] = origin.log.of("closes-at-once")
    assert (entry.status, entry.sent_bytes) == (0, 0)


def test_the_index_lists_all_and_goes_to_the_next_round(origin: AdversarialOrigin) -> None:
    index = raw(origin.index_url).decode()
    assert all(first(origin, one.name) in index for one in SOME)
    assert b'{"round": 1}' in raw(origin.index_url + "next", method=b"POST")
    data = json.loads(raw(origin.index_url + "catalogue.json").partition(b"\r\n\r\n")[2])
    assert data["round"] == origin.round == 1
    assert [one["name"] for one in data["behaviours"]] == [one.name for one in SOME]
    assert raw(origin.index_url + "else").startswith(b"HTTP/1.1 404 ")


def test_a_defect_of_a_behaviour_is_seen() -> None:
    broken = Behaviour(
        "broken", SOME[0].kind, "A.", "B.", "C", lambda asked: asked.memory["none"], SOME[0].pages, ("/page",)
    )  # fmt: skip
    with AdversarialOrigin([broken]) as origin:
        assert b"broken failed: KeyError" in raw(origin.starts(broken)[0])


def test_only_loopback_addresses_are_served() -> None:
    with pytest.raises(ValueError, match="no loopback address"):
        AdversarialOrigin(SOME, "10.0.0.1")


def test_a_port_that_is_taken_is_named(origin: AdversarialOrigin) -> None:
    port = urlsplit(origin.index_url).port or 0
    with pytest.raises(OSError, match=rf"cannot listen on 127\.0\.1\.0:{port}"):
        AdversarialOrigin(SOME, port=port).start()


def test_under_a_shared_host_pages_are_the_same() -> None:
    with (
        AdversarialOrigin(CATALOGUE, "127.0.3.0", patience_s=0.2) as apart,
        AdversarialOrigin(CATALOGUE, "127.0.0.1", shared=True, patience_s=0.2) as shared,
    ):
        assert {one.name for one in apart.behaviours} > {one.name for one in shared.behaviours}
        for behaviour in shared.behaviours:
            one, other = raw(apart.starts(behaviour)[0]), raw(shared.starts(behaviour)[0])
            assert one.split(b"\r\n")[0] == other.split(b"\r\n")[0], behaviour.name
            assert one.count(b"\r\n\r\n") == other.count(b"\r\n\r\n"), behaviour.name


def test_redirects_under_a_shared_host_stay_with_their_behaviour() -> None:
    with AdversarialOrigin(
        [BY_NAME["temporary-target-moves"], BY_NAME["moved-to-another-host"]], "127.0.0.1", shared=True
    ) as origin:
        assert b"Location: /temporary-target-moves/a\r\n" in raw(first(origin, "temporary-target-moves"))
        origin.round = 1
        assert b"/moved-to-another-host~other/new\r\n" in raw(first(origin, "moved-to-another-host"))
        assert raw(origin.url(BY_NAME["moved-to-another-host"], "other:/new")).startswith(b"HTTP/1.1 200 ")


def test_the_log_file_has_a_line_of_json_for_each_answer(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "requests.jsonl"
    with AdversarialOrigin(SOME, log=AdversarialLog(file)) as origin:
        raw(first(origin, "both-validators"), b"X-Own: 1")
    [line] = file.read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    assert (entry["behaviour"], entry["target"], entry["status"]) == ("both-validators", "/page", 200)
    assert entry["fields"]["x-own"] == "1"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The command, on a free port, with a log; it has said where it is before the test begins."""
    log = tmp_path / "log.jsonl"
    words = ["origin", "--port", "0", "--host", "127.0.4.0", "--kind", "urls", "--round", "2", "--log", str(log)]
    command = [sys.executable, "-m", "incremental_crawl", *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        yield process, log
        process.kill()


def test_the_command_serves_until_it_is_interrupted(served: tuple[subprocess.Popen[str], Path]) -> None:
    process, log = served
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or "Next round" not in lines[-1]:
        lines.append(process.stdout.readline())
    url = next(word for line in lines for word in line.split() if word.endswith("/Page"))
    assert b"edition:Page:v1" in raw(url)
    index = lines[-1].split()[5].partition("next")[0]
    assert b'{"round": 3}' in raw(index + "next", method=b"POST")
    assert b"edition:Page:v2" in raw(url)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert [json.loads(line)["round"] for line in log.read_text(encoding="utf-8").splitlines()] == [2, 3]


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_is_a_good_stream_of_64_mb(coding: str) -> None:
    decoder = BodyDecoder([coding], "text/html", 100 << 20)
    stream = bomb(coding)
    decoder.feed(stream)
    assert len(decoder.finish()) == 64 << 20
    assert len(stream) < 100_000
