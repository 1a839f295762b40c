"""URLs, patterns and private hosts as values of a site file."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Discriminator, PlainSerializer, PlainValidator, Tag

from incremental_crawl.config.section import Allowed
from incremental_crawl.config.values import Text, YesNo
from incremental_crawl.semantics.urls import Pattern, canonical_url

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?", re.ASCII)
_LINK_LOCAL = "link-local addresses are never connected to"


def _web_url(text: str) -> str:
    url = canonical_url(text)
    if "@" in urlsplit(url).netloc:
        raise ValueError("a user name or password in a URL would be written to data")
    return url


def _pattern(value: object) -> Pattern:
    if isinstance(value, Pattern):
        return value
    if not isinstance(value, str):
        raise ValueError("not a text")
    return Pattern.parse(str(value))


def _private_host(text: str) -> str:
    """One entry of `allow_private_hosts` in lower case: a host or an address, with or without a port, or a CIDR."""
    entry = text.lower()
    if "://" in entry:
        raise ValueError("leave the scheme out")
    if "/" in entry:
        return _cidr(entry)
    host = _host_of(entry)
    if _is_link_local(host):
        raise ValueError(_LINK_LOCAL)
    return entry


def _cidr(entry: str) -> str:
    try:
        network = ipaddress.ip_network(entry, strict=False)
    except ValueError:
        raise ValueError("not a CIDR") from None
    if network.is_link_local:
        raise ValueError(_LINK_LOCAL)
    if network.network_address != ipaddress.ip_address(entry.partition("/")[0]):
        raise ValueError(f"the network of that address is {network}")
    return str(network)


def _host_of(entry: str) -> str:
    """The host of `host`, `host:port`, `::1` or `[::1]:port`."""
    if _as_address(entry) is not None:
        return entry
    try:
        parts = urlsplit(f"//{entry}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("not a host and port") from None
    if port == 0 or entry.endswith(":") or not (_HOST.fullmatch(host) or _as_address(host)):
        raise ValueError("not a host and port")
    return host


def _as_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_link_local(host: str) -> bool:
    address = _as_address(host)
    return address is not None and address.is_link_local


WebUrl: TypeAlias = Annotated[Text, AfterValidator(_web_url)]
PatternValue: TypeAlias = Annotated[
    Pattern,
    PlainValidator(_pattern),
    PlainSerializer(lambda pattern: pattern.text, return_type=str, when_used="json"),
    Allowed('a glob on path and query, such as "/product/*" or "/news/**", or re: and a regex on the whole URL'),
]
PrivateHost: TypeAlias = Annotated[Text, AfterValidator(_private_host)]
PrivateHosts: TypeAlias = Annotated[
    Annotated[YesNo, Tag("switch")] | Annotated[tuple[PrivateHost, ...], Tag("several")],
    Discriminator(lambda value: "switch" if isinstance(value, bool | str) else "several"),
    Allowed('true, false or a list of hosts and CIDRs, such as ["intranet:8080", "10.0.0.0/8"]'),
]
