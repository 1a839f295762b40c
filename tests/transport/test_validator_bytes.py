"""Whatever bytes a header may hold, a validator comes back to the server as it was sent (RFC 9110 §5.5, §8.8)."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from incremental_crawl.semantics.answers import Response
from incremental_crawl.semantics.validators import from_response
from tests.transport.asking import exchange, page
from tests.transport.raw_server import RawRequest, RawServer, Script

VISIBLE = bytes([*range(0x21, 0x7F), *range(0x80, 0x100)])
INSIDE = bytes([0x09, 0x20]) + VISIBLE
field_values = st.builds(
    lambda first, inside, last: bytes([first, *inside, last]),
    st.sampled_from(VISIBLE),
    st.lists(st.sampled_from(INSIDE), max_size=60),
    st.sampled_from(VISIBLE),
)


async def echoed(etag: bytes, date: bytes) -> tuple[list[bytes], list[bytes]]:
    """What the server gets back of the validators that it sent."""

    def answer(_: RawRequest) -> Script:
        lines = [b"HTTP/1.1 200 OK", b"ETag: " + etag, b"Last-Modified: " + date, b"Content-Length: 2", b"", b"ok"]
        return b"\r\n".join(lines)

    async with RawServer(answer) as server, exchange() as asking:
        received = await asking.ask(page(server.url()), 1)
        assert isinstance(received, Response)
        own = from_response(received.headers)
        await asking.ask(page(server.url(), etag=own.etag, last_modified=own.last_modified), 1)
        return server.requests[1].values(b"If-None-Match"), server.requests[1].values(b"If-Modified-Since")


@given(field_values, field_values)
@settings(max_examples=150, deadline=None)
def test_validators_round_trip_any_bytes_that_a_header_may_hold(etag: bytes, date: bytes) -> None:
    assert asyncio.run(echoed(etag, date)) == ([etag], [date])
