"""Which network addresses may be dialled.

Asked at the moment of connecting with the address itself, so that names, redirects, odd spellings of an IP address and
a changing DNS answer are all covered.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import urlsplit

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052 §2.1


class AddressGuard:
    """Global addresses may be dialled, and what a site allows beyond them; link-local ones never.

    `allowed` holds hosts (`intranet.example`), hosts with a port (`127.0.0.1:8765`), IP addresses and CIDR networks. A
    host stands for whatever address its name leads to. Raises ValueError for an entry that is none of these.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._networks: list[Network] = []
        self._hosts: set[tuple[str, int | None]] = set()
        for entry in allowed:
            self._allow(entry)

    @classmethod
    def for_site(cls, allow_private_hosts: bool | Iterable[str], start_urls: Iterable[str]) -> AddressGuard:
        """The guard that the site file's `allow_private_hosts` asks for: True allows exactly the start URLs' hosts."""
        if isinstance(allow_private_hosts, bool):
            return cls(map(_host_and_port, start_urls) if allow_private_hosts else ())
        return cls(allow_private_hosts)

    def refusal(self, address: str, host: str, port: int) -> str | None:
        """Why `address` must not be dialled for the URL host `host` and `port`, in words; None where it may be."""
        target = _unwrapped(ip_address(address.partition("%")[0]))
        if _is_link_local(target):
            return f"{host} leads to the link-local address {address}, which is never dialled"
        if _is_public(target) or self._allows(target, host.lower(), port):
            return None
        return (
            f"{host} leads to {address}, which is not a public address; "
            f"if it is meant, add {_joined(host, port)} to allow_private_hosts"
        )

    def _allow(self, entry: str) -> None:
        try:
            self._networks.append(ip_network(entry, strict=False))
        except ValueError:
            self._hosts.add(_parsed(entry))

    def _allows(self, target: Address, host: str, port: int) -> bool:
        named = (host, port) in self._hosts or (host, None) in self._hosts
        return named or any(target in network for network in self._networks)


def _parsed(entry: str) -> tuple[str, int | None]:
    with suppress(ValueError):
        parts = urlsplit(f"//{entry}")
        host, port = parts.hostname, parts.port
        if host and parts.netloc == entry and "@" not in entry:
            return host.lower(), port
    raise ValueError(f"{entry!r} is not a host, host:port, IP address or network such as 10.0.0.0/8")


def _host_and_port(url: str) -> str:
    parts = urlsplit(url)
    return _joined(parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv4-mapped (RFC 4291 §2.5.5.2) or NAT64 address leads to, otherwise the address."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address


def _is_link_local(address: Address) -> bool:
    tunnelled = address.sixtofour if isinstance(address, IPv6Address) else None
    return address.is_link_local or (tunnelled is not None and tunnelled.is_link_local)


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast or address.is_reserved or address.is_unspecified:
        return False
    if isinstance(address, IPv4Address):
        return True
    return not address.is_site_local and (address.sixtofour is None or _is_public(address.sixtofour))
