"""The server under the local origins: framing, keep-alive, and what it does with bad input."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.origin.http_server import HttpServer
from incremental_crawl.origin.messages import Reply, Request
from incremental_crawl.origin.representation import Representation, accepts_gzip, answer, is_not_modified
from incremental_crawl.origin.request_log import RequestLog
from tests.origins.client import Client

EDITED_AT = datetime(2026, 3, 1, 10, 0, 0, tzinfo=UTC)
PAGE = Representation(b"word " * 200, "text/plain", '"v1"', EDITED_AT)


def echo(request: Request) -> Reply:
    """Answers with the path; `/slow` takes its time, `/drop` never answers, `/broken` is a defect."""
    if request.path == "/broken":
        raise RuntimeError("a defect")
    return Reply(200, (), request.path.encode(), 0.2 if request.path == "/slow" else 0.0, request.path == "/drop")


def exchange(port: int, sent: bytes) -> bytes:
    """Everything that comes back on one connection for these bytes, until the server closes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_many_requests_share_one_connection_and_are_logged_in_order() -> None:
    with HttpServer(echo) as server, Client(server.port) as client:
        assert [client.get(f"/{n}").body for n in range(50)] == [f"/{n}".encode() for n in range(50)]
        assert [request.path for request in server.log] == [f"/{n}" for n in range(50)]


def test_pipelined_requests_are_answered_in_order_even_when_the_first_is_slow() -> None:
    with HttpServer(echo) as server:
        sent = b"GET /slow HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\nConnection: close\r\n\r\n"
        bodies = [part.partition(b"\r\n\r\n")[2] for part in exchange(server.port, sent).split(b"HTTP/1.1 200 OK")[1:]]
        assert bodies == [b"/slow", b"/b", b"/c"]


def test_a_request_that_arrives_byte_by_byte_is_understood() -> None:
    with HttpServer(echo) as server, socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        for byte in b"GET /bytewise HTTP/1.0\r\n\r\n":
            connection.sendall(bytes([byte]))
        assert b"".join(iter(lambda: connection.recv(65536), b"")).endswith(b"\r\n\r\n/bytewise")


def test_a_request_body_is_not_taken_for_the_next_request() -> None:
    with HttpServer(echo) as server:
        sent = b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nConnection: close\r\n\r\n"
        assert exchange(server.port, sent).count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"x" * 70_000])
def test_malformed_requests_get_400_and_the_connection_ends(sent: bytes) -> None:
    with HttpServer(echo) as server:
        assert exchange(server.port, sent).startswith(b"HTTP/1.1 400 ")


def test_a_dropped_request_gets_no_byte_and_is_logged_with_status_0() -> None:
    with HttpServer(echo) as server, socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"GET /drop HTTP/1.1\r\n\r\n")
        assert connection.recv(1) == b""
        assert [(request.status, request.total_bytes) for request in server.log] == [(0, 0)]


def test_a_defect_of_the_origin_is_a_500_that_says_so() -> None:
    with HttpServer(echo) as server, Client(server.port) as client:
        seen = client.get("/broken")
        assert (seen.status, seen.text) == (500, "origin failed: RuntimeError('a defect')\n")
        assert client.get("/fine").status == 200


def test_a_taken_port_is_refused_with_the_address_in_the_message() -> None:
    with HttpServer(echo) as server, pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{server.port}"):
        HttpServer(echo, server.port).start()


def test_stopping_closes_idle_connections_and_frees_the_port() -> None:
    server = HttpServer(echo).start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"GET /idle HTTP/1.1\r\n\r\n")
        assert connection.recv(65536).endswith(b"/idle")
        server.stop()
        assert connection.recv(1) == b""
    with HttpServer(echo, server.port) as again, Client(again.port) as client:
        assert client.get("/").status == 200
    server.stop()


def test_the_log_file_has_one_line_of_json_for_each_request(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "requests.jsonl"
    with HttpServer(echo, log=RequestLog(file)) as server, Client(server.port) as client:
        client.get("/a?x=1", If_None_Match='"t"')
        client.get("/b", method="HEAD")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["method"], line["path"], line["body_bytes"], line["conditional"]) for line in lines] == [
        ("GET", "/a?x=1", 2, True),
        ("HEAD", "/b", 0, False),
    ]
    assert all(line["total_bytes"] > line["body_bytes"] + 60 for line in lines)


def test_the_date_line_comes_from_the_clock_that_was_given() -> None:
    with HttpServer(echo, clock=lambda: EDITED_AT) as server, Client(server.port) as client:
        assert client.get("/").headers["Date"] == "Sun, 01 Mar 2026 10:00:00 GMT"


def test_two_thousand_small_requests_take_less_than_four_seconds() -> None:
    with HttpServer(echo) as server, Client(server.port) as client:
        begun = time.perf_counter()
        for _ in range(2_000):
            client.get("/x")
        assert time.perf_counter() - begun < 4


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"if-none-match": '"v1"'}, 304),
        ({"if-none-match": 'W/"v1"'}, 304),
        ({"if-none-match": '"v0", "v1"'}, 304),
        ({"if-none-match": "*"}, 304),
        ({"if-none-match": "v1"}, 200),
        ({"if-none-match": '"v0"', "if-modified-since": "Sun, 01 Mar 2026 10:00:00 GMT"}, 200),
        ({"if-none-match": '"v1"', "if-modified-since": "Sun, 01 Mar 2020 10:00:00 GMT"}, 304),
        ({"if-modified-since": "Sun, 01 Mar 2026 10:00:00 GMT"}, 304),
        ({"if-modified-since": "Sunday, 01-Mar-26 10:00:00 GMT"}, 304),
        ({"if-modified-since": "Sun Mar  1 10:00:00 2026"}, 304),
        ({"if-modified-since": "Sun, 01 Mar 2026 09:59:59 GMT"}, 200),
        ({"if-modified-since": "yesterday"}, 200),
    ],
)
def test_preconditions_follow_rfc_9110(headers: dict[str, str], status: int) -> None:
    reply = answer(Request("GET", "/", headers), PAGE)
    assert reply.status == status
    assert ("ETag", '"v1"') in reply.headers
    assert (reply.body == b"") is (status == 304)


def test_each_content_coding_has_its_own_strong_tag() -> None:
    plain, coded = (answer(Request("GET", "/", h), PAGE) for h in ({}, {"accept-encoding": "gzip"}))
    assert dict(plain.headers)["ETag"] != dict(coded.headers)["ETag"]
    tag = dict(coded.headers)["ETag"]
    assert answer(Request("GET", "/", {"accept-encoding": "gzip", "if-none-match": tag}), PAGE).status == 304
    assert answer(Request("GET", "/", {"if-none-match": tag}), PAGE).status == 200


def test_a_post_is_never_not_modified() -> None:
    assert not is_not_modified(Request("POST", "/", {"if-none-match": "*"}), '"v1"', EDITED_AT)


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        (None, False),
        ("", False),
        ("identity", False),
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0, *", False),
        ("*", True),
        ("gzip;q=many", False),
    ],
)
def test_gzip_is_sent_only_to_who_accepts_it(value: str | None, accepted: bool) -> None:
    assert accepts_gzip(value) is accepted


@given(st.text(max_size=40))
def test_any_field_value_is_survived(value: str) -> None:
    headers = {"accept-encoding": value, "if-none-match": value, "if-modified-since": value}
    assert answer(Request("GET", "/", headers), PAGE).status in {200, 304}
