"""Which addresses are dialled: checked at the moment of connecting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental_crawl.transport.addresses import AddressGuard

PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
]
PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
LINK_LOCAL = [
    "169.254.169.254",
    "fe80::1",
    "fe80::1%eth0",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public_are_refused_with_the_next_step(address: str) -> None:
    refusal = AddressGuard().refusal(address, "shop.example", 80)
    assert refusal is not None
    assert address in refusal
    assert "allow_private_hosts" in refusal


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_dialled(address: str) -> None:
    assert AddressGuard().refusal(address, "shop.example", 80) is None


@pytest.mark.parametrize("address", LINK_LOCAL)
def test_link_local_is_refused_even_where_everything_is_allowed(address: str) -> None:
    guard = AddressGuard(["0.0.0.0/0", "::/0", "shop.example"])
    refusal = guard.refusal(address, "shop.example", 80)
    assert refusal is not None
    assert "link-local" in refusal


def test_true_allows_exactly_the_host_and_port_of_the_start_urls() -> None:
    guard = AddressGuard.for_site(True, ["http://127.0.0.1:8765/", "https://Intranet.example/x", "http://[::1]:81/"])
    assert guard.refusal("127.0.0.1", "127.0.0.1", 8765) is None
    assert guard.refusal("10.0.0.1", "intranet.example", 443) is None
    assert guard.refusal("::1", "::1", 81) is None
    assert guard.refusal("127.0.0.1", "127.0.0.1", 8766) is not None
    assert guard.refusal("127.0.0.1", "localhost", 8765) is not None
    assert guard.refusal("10.0.0.1", "intranet.example", 80) is not None


def test_false_allows_nothing() -> None:
    assert AddressGuard.for_site(False, ["http://127.0.0.1:8765/"]).refusal("127.0.0.1", "127.0.0.1", 8765) is not None


def test_a_list_allows_its_hosts_addresses_and_networks() -> None:
    guard = AddressGuard.for_site(["intranet.example", "db.example:81", "10.0.0.0/8", "127.0.0.1", "[::1]:82"], [])
    assert guard.refusal("192.168.0.1", "intranet.example", 1234) is None
    assert guard.refusal("192.168.0.1", "db.example", 81) is None
    assert guard.refusal("192.168.0.1", "db.example", 80) is not None
    assert guard.refusal("10.200.0.1", "any.example", 80) is None
    assert guard.refusal("::ffff:10.200.0.1", "any.example", 80) is None
    assert guard.refusal("127.0.0.1", "localhost", 80) is None
    assert guard.refusal("127.0.0.2", "localhost", 80) is not None
    assert guard.refusal("::1", "::1", 82) is None


@pytest.mark.parametrize("entry", ["", "http://x/", "a b:c", "x/y", "user@host", "host:99999"])
def test_an_entry_that_is_no_host_is_an_error(entry: str) -> None:
    with pytest.raises(ValueError, match="not a host"):
        AddressGuard([entry])


@given(st.ip_addresses(v=4))
def test_wrapping_an_ipv4_address_never_changes_the_decision(address: object) -> None:
    text = str(address)
    plain = AddressGuard().refusal(text, "h", 80) is None
    assert (AddressGuard().refusal(f"::ffff:{text}", "h", 80) is None) == plain
