"""Proxies, certificate files and header lines as values of a site file."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from incremental_crawl.config.environment import FromEnvironment
from incremental_crawl.config.section import Allowed
from incremental_crawl.config.values import HeaderName, HeaderText, Text

FOLDER = "folder"
"""In the context of a validation: the folder from which relative file names count; else the current one."""


def _no_bare_credentials(value: object) -> object:
    if isinstance(value, str) and "@" in value and not isinstance(value, FromEnvironment):
        raise ValueError("write user name and password as ${NAME}, so that they are never shown")
    return value


def _proxy_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError("not a URL") from None
    if parts.scheme != "http":
        raise ValueError("the proxy itself is spoken to by http:// only")
    if not usable or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("a proxy is a host and a port, nothing more")
    return text


def _each_once(headers: dict[str, str]) -> dict[str, str]:
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("a header is named twice")
    return headers


def _ca_file(text: str, info: ValidationInfo) -> str:
    """The absolute name of a file that holds certificates."""
    folder: Path = (info.context or {}).get(FOLDER, Path())
    path = (folder / Path(text).expanduser()).resolve()
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise ValueError(f"{path} holds no certificate in PEM form") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    return str(path)


ProxyUrl: TypeAlias = Annotated[Text, AfterValidator(_proxy_url), BeforeValidator(_no_bare_credentials)]
CaFile: TypeAlias = Annotated[Text, AfterValidator(_ca_file)]
HeaderFields: TypeAlias = Annotated[
    dict[HeaderName, HeaderText],
    AfterValidator(_each_once),
    Allowed("a group of header names and their values in printable ASCII, such as {Accept-Language: de}"),
]
