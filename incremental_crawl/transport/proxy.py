"""The HTTP proxy through which a site is asked: tunnels for https, whole URLs for http (RFC 9110 §7.3.2, §9.3.6)."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from yarl import URL


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where the proxy is (`http://host:port`), and the Proxy-Authorization field value that it wants, never shown."""

    url: URL
    authorization: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, text: str) -> Proxy:
        """The proxy that `http://user:password@host:port` names (RFC 7617). Raises ValueError."""
        parts = urlsplit(text)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError("a proxy is written as http://host:port")
        authorization = None
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            authorization = f"Basic {b64encode(login.encode('utf-8')).decode('ascii')}"
        return cls(URL.build(scheme="http", host=parts.hostname, port=parts.port), authorization)

    def __str__(self) -> str:
        return str(self.url)

    @property
    def headers(self) -> dict[str, str]:
        """The header fields that are for the proxy alone."""
        return {} if self.authorization is None else {"Proxy-Authorization": self.authorization}
