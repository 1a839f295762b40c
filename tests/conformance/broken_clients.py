"""Small clients, each wrong in its own deliberate way, and a sane one that all are made of.

Whatever the catalogue expects must be missed by at least one of them: a behaviour that nobody can fail proves nothing.
"""

from __future__ import annotations

import http.client
import re
import socket
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import quote, urljoin, urlsplit

from incremental_crawl.origin.adversarial import Kept

_TIMEOUT_S = 0.3
_MOST_BYTES = 800_000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class Wrongs:
    """What a client does wrong; all False is the sane one.

    `mends_tags` strips W/ and quotes and writes tags and dates anew. `believes_all` takes every 200 for a change and
    every 304 for a confirmation, and joins repeated lines. `keeps_old` never forgets a validator and lists all that a
    page ever had.
    """

    never_conditional: bool = False
    hashes_bytes: bool = False
    mends_tags: bool = False
    believes_all: bool = False
    keeps_old: bool = False
    forgets_on_304: bool = False
    carries_conditions: bool = False
    own_clock: bool = False
    failing_is_gone: bool = False
    any_status_is_a_page: bool = False
    ignores_robots: bool = False
    any_robots_failure_forbids: bool = False
    keeps_cookies: bool = False
    latin_1_only: bool = False
    takes_what_came: bool = False
    trusts_labels: bool = False
    follows_anything: bool = False
    heads_first: bool = False
    tidies_urls: bool = False
    never_waits: bool = False
    pools_blindly: bool = False


@dataclass
class _Page:
    """What is remembered of a URL."""

    text: str | None = None
    content: bytes | str | None = None
    tags: list[str] = field(default_factory=list)
    date: str | None = None
    ever: bool = False
    checked: str | None = None


@dataclass(frozen=True)
class _Got:
    """One answer; `status` 0 is a failure."""

    status: int
    headers: http.client.HTTPMessage | None = None
    body: bytes = b""
    complete: bool = True

    def first(self, name: str) -> str | None:
        return None if self.headers is None else self.headers.get(name)


class _Pooled:
    """A connection that is used again, whatever is left on it or has happened to it meanwhile."""

    def __init__(self, host: str) -> None:
        name, _, port = host.partition(":")
        self.broken = False
        self._socket = socket.create_connection((name, int(port)), timeout=_TIMEOUT_S)
        self._reader = self._socket.makefile("rb")

    def get(self, url: str, headers: Mapping[str, str]) -> _Got:
        """The next answer that is found on the connection."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        try:
            self._socket.sendall(f"GET {_target(url)} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode("latin-1", "replace"))
            status = int(self._reader.readline(1_000).split(b" ")[1])
            fields = http.client.parse_headers(self._reader)
            length = int(fields.get("content-length", "0"))
            return _Got(status, fields, self._reader.read(min(length, _MOST_BYTES)))
        except (OSError, ValueError, IndexError, http.client.HTTPException):
            self.broken = True
            return _Got(0)

    def close(self) -> None:
        self._reader.close()
        self._socket.close()


class SimpleClient:
    """Asks page by page, each on a connection of its own, hosts side by side, and remembers what it must."""

    def __init__(self, wrongs: Wrongs, timeout_s: float = _TIMEOUT_S) -> None:
        self._wrongs = wrongs
        self._timeout_s = timeout_s
        self._pages: dict[str, _Page] = {}
        self._cookies: dict[str, str] = {}
        self._pool: dict[str, _Pooled] = {}

    def visit(self, urls: Sequence[str]) -> Mapping[str, Kept]:
        """One round."""
        events: dict[str, set[str]] = {}
        by_host = [list(group) for _, group in groupby(urls, key=lambda url: urlsplit(url).netloc)]
        with ThreadPoolExecutor(24) as pool:
            for told in pool.map(self._host, by_host):
                events.update(told)
        while self._pool:
            self._pool.popitem()[1].close()
        return {url: Kept(page.text, frozenset(events.get(url, ()))) for url, page in self._pages.items()}

    def _host(self, urls: Sequence[str]) -> dict[str, set[str]]:
        events: dict[str, set[str]] = {}
        robots: dict[str, tuple[str, ...] | None] = {}
        for url in urls:
            forbidden = self._forbidden(url, robots)
            if forbidden is not None and not any(urlsplit(url).path.startswith(prefix) for prefix in forbidden):
                self._fetch(url, events, robots)
            else:
                self._pages.setdefault(url, _Page())
        return events

    def _forbidden(self, url: str, robots: dict[str, tuple[str, ...] | None]) -> tuple[str, ...] | None:
        """What the host forbids; None where nothing of it may be asked now."""
        if self._wrongs.ignores_robots:
            return ()
        origin = "http://" + urlsplit(url).netloc
        if origin not in robots:
            robots[origin] = self._read_robots(origin)
        return robots[origin]

    def _read_robots(self, origin: str) -> tuple[str, ...] | None:
        got = self._get(origin + "/robots.txt", {})
        if got.status == 200:
            lines = re.split("[\r\n]+", self._decoded(got).decode("utf-8", "replace"))
            rules = [re.match(r"(?i)disallow:\s*([^\s#*]+)", line) for line in lines]
            return tuple(rule[1] for rule in rules if rule)
        if self._wrongs.any_robots_failure_forbids and got.status != 404:
            return None
        return () if 300 <= got.status < 500 and got.status != 429 else None

    def _fetch(self, url: str, events: dict[str, set[str]], robots: dict[str, tuple[str, ...] | None]) -> None:
        page = self._pages.setdefault(url, _Page())
        headers = self._conditions(page)
        if self._wrongs.heads_first and page.content is not None and self._head_is_same(url, page):
            return
        asked, got = url, self._ask(url, headers)
        jar = ""
        for _ in range(60 if self._wrongs.follows_anything else 10):
            location = got.first("location")
            if got.status not in _REDIRECTS or not location:
                break
            jar = (got.first("set-cookie") or jar).partition(";")[0]
            target = _joined(asked, location)
            permitted = self._forbidden(target, robots) if target.startswith("http://127.0.1.") else None
            if permitted is None or any(urlsplit(target).path.startswith(prefix) for prefix in permitted):
                got = _Got(0)
                break
            if got.status in (301, 308) and not self._wrongs.follows_anything:
                self._moved(url, page, events)
                url, page = target, self._pages.setdefault(target, _Page())
                headers = headers if self._wrongs.carries_conditions else self._conditions(page)
            elif not self._wrongs.carries_conditions:
                headers = {}
            asked, got = target, self._ask(target, headers | ({"Cookie": jar} if jar else {}))
        self._settle(url, page, got, events, bool(headers))

    def _moved(self, url: str, page: _Page, events: dict[str, set[str]]) -> None:
        if page.text is not None:
            events.setdefault(url, set()).add("moved")
        page.text = page.content = None

    def _head_is_same(self, url: str, page: _Page) -> bool:
        got = self._get(url, self._conditions(page), "HEAD")
        if got.status == 404:
            page.text = page.content = None
        return got.status in (304, 404) or (got.status == 200 and got.first("etag") in page.tags)

    def _conditions(self, page: _Page) -> dict[str, str]:
        wrongs = self._wrongs
        if wrongs.never_conditional or page.content is None:
            return {}
        if wrongs.own_clock:
            return {"If-Modified-Since": page.checked or "Thu, 01 Jan 2026 00:00:00 GMT"}
        headers = {}
        if page.tags:
            headers["If-None-Match"] = ", ".join(page.tags) if wrongs.keeps_old else page.tags[-1]
        if page.date and (wrongs.keeps_old or not page.tags or not wrongs.mends_tags):
            headers["If-Modified-Since"] = page.date
        return headers

    def _ask(self, url: str, headers: Mapping[str, str]) -> _Got:
        own = dict(headers)
        host = urlsplit(url).netloc
        if self._wrongs.keeps_cookies and host in self._cookies:
            own.setdefault("Cookie", self._cookies[host])
        if self._wrongs.pools_blindly:
            return self._pooled(host).get(url, own)
        got = self._get(_tidied(url) if self._wrongs.tidies_urls else url, own)
        if got.status in (0, 429, 503) and self._wrongs.never_waits:
            for _ in range(5):
                got = self._get(url, own)
        if got.status == 0 and not self._wrongs.failing_is_gone:
            got = self._get(url, own)
        if (cookie := got.first("set-cookie")) is not None:
            self._cookies[host] = cookie.partition(";")[0]
        return got

    def _get(self, url: str, headers: Mapping[str, str], method: str = "GET") -> _Got:
        return _get(url, headers, self._timeout_s, method)

    def _pooled(self, host: str) -> _Pooled:
        if host in self._pool and self._pool[host].broken:
            self._pool.pop(host).close()
        if host not in self._pool:
            self._pool[host] = _Pooled(host)
        return self._pool[host]

    def _settle(self, url: str, page: _Page, got: _Got, events: dict[str, set[str]], conditional: bool) -> None:
        wrongs = self._wrongs
        if got.status == 304 and (conditional or wrongs.believes_all):
            self._confirmed(page, got)
        elif got.status == 304 and got.headers is not None:
            again = self._get(url, {"Cache-Control": "no-cache"})
            if again.status == 200:
                self._replaced(url, page, again, events)
        elif got.status in (404, 410) and not wrongs.any_status_is_a_page:
            again = (
                got if got.status == 410 or wrongs.failing_is_gone else self._get(url, {"Cache-Control": "no-cache"})
            )
            if again.status in (404, 410):
                self._gone(url, page, events)
        elif got.status in (200, 203) or (wrongs.any_status_is_a_page and got.status):
            if got.complete or wrongs.takes_what_came:
                self._replaced(url, page, got, events)
        elif wrongs.failing_is_gone:
            self._gone(url, page, events)

    def _confirmed(self, page: _Page, got: _Got) -> None:
        if page.content is None and self._wrongs.believes_all:
            page.text = page.content = ""
        if self._wrongs.forgets_on_304:
            page.tags, page.date = [], None
        elif not self._wrongs.keeps_old:
            page.tags = [got.first("etag") or ""] if got.first("etag") else page.tags
            page.date = got.first("last-modified") or page.date
        page.checked = got.first("date") if self._wrongs.own_clock else None

    def _gone(self, url: str, page: _Page, events: dict[str, set[str]]) -> None:
        if page.text is not None:
            events.setdefault(url, set()).add("gone")
        page.text = page.content = None

    def _replaced(self, url: str, page: _Page, got: _Got, events: dict[str, set[str]]) -> None:
        wrongs = self._wrongs
        body = self._decoded(got)
        text = _text_of(body, got, wrongs.latin_1_only)
        content: bytes | str = body if wrongs.hashes_bytes else _visible(text)
        if not content and not wrongs.takes_what_came:
            return
        if page.content != content or wrongs.believes_all:
            known = "changed" if page.text is not None else "restored" if page.ever else "new"
            events.setdefault(url, set()).add(known)
        page.text, page.content, page.ever = text, content, True
        self._remember(page, got)

    def _remember(self, page: _Page, got: _Got) -> None:
        wrongs = self._wrongs
        tags = [] if got.headers is None else got.headers.get_all("etag", [])
        tag = ", ".join(tags) if wrongs.believes_all else tags[0] if tags else ""
        date = got.first("last-modified")
        if wrongs.mends_tags:
            tag = '"' + tag.removeprefix("W/").strip('"') + '"' if tag else tag
            date = date if date and re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT", date) else None
        if wrongs.keeps_old:
            page.tags = [*page.tags, *([tag] if tag and tag not in page.tags else [])]
            page.date = date or page.date
        else:
            page.tags, page.date = [tag] if tag else [], date
        page.checked = got.first("date")

    def _decoded(self, got: _Got) -> bytes:
        label = (got.first("content-encoding") or "").lower()
        zipped = got.body.startswith(b"\x1f\x8b")
        if not zipped and not ("gzip" in label and self._wrongs.trusts_labels):
            return got.body
        if self._wrongs.trusts_labels and "gzip" not in label:
            return got.body
        try:
            return _unzipped(got.body)
        except (zlib.error, EOFError):
            return got.body if self._wrongs.takes_what_came else b""


def _joined(base: str, location: str) -> str:
    return quote(urljoin(base, location).partition("#")[0], safe=":/?&=%[]@!$'()*+,;~#")


def _tidied(url: str) -> str:
    parts = urlsplit(url)
    path = re.sub("/+", "/", quote(parts.path.replace("%7E", "~").replace("%2F", "/").lower().rstrip("/"), safe="/"))
    return f"http://{parts.netloc}{path or '/'}" + (
        f"?{'&'.join(sorted(quote(parts.query, safe='=&+').split('&')))}" if parts.query else ""
    )


def _unzipped(data: bytes) -> bytes:
    """All members, as far as they are small; what follows them is left."""
    whole = b""
    while data.startswith(b"\x1f\x8b"):
        inflating = zlib.decompressobj(zlib.MAX_WBITS | 16)
        whole += inflating.decompress(data, _MOST_BYTES)
        if not inflating.eof:
            raise EOFError
        data = inflating.unused_data
    return whole


def _text_of(body: bytes, got: _Got, latin_1_only: bool) -> str:
    if latin_1_only:
        return body.decode("latin-1")
    for mark, codec in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16")):
        if body.startswith(mark):
            return body.decode(codec, "replace")
    declared = re.search(r"charset=\"?([\w-]+)", got.first("content-type") or "")
    try:
        return body.decode(declared[1] if declared else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _visible(text: str) -> str:
    return " ".join(re.sub(r"(?s)<script.*?</script>|<!--.*?-->|<[^>]*>", " ", text).split())


def _target(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if "?" in url else "")


def _get(url: str, headers: Mapping[str, str], timeout_s: float, method: str = "GET") -> _Got:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.putrequest(method, _target(url), skip_accept_encoding=True)
        connection.putheader("Accept-Encoding", "gzip")
        for name, value in headers.items():
            connection.putheader(name, value.encode("latin-1", "replace"))
        connection.endheaders()
        response = connection.getresponse()
        try:
            return _Got(response.status, response.msg, response.read(_MOST_BYTES), response.isclosed())
        except http.client.IncompleteRead as error:
            return _Got(response.status, response.msg, error.partial, complete=False)
    except (OSError, http.client.HTTPException, ValueError):
        return _Got(0)
    finally:
        connection.close()


SANE = Wrongs()
BROKEN: dict[str, Wrongs] = {
    "hashes the bytes, sends no condition, ignores robots.txt": Wrongs(
        never_conditional=True, hashes_bytes=True, ignores_robots=True
    ),
    "believes every answer": Wrongs(believes_all=True, any_status_is_a_page=True, takes_what_came=True),
    "mends validators and addresses": Wrongs(mends_tags=True, tidies_urls=True),
    "keeps old validators, carries conditions and cookies": Wrongs(
        keeps_old=True, carries_conditions=True, keeps_cookies=True
    ),
    "asks by its own clock, forgets": Wrongs(own_clock=True, forgets_on_304=True, any_robots_failure_forbids=True),
    "takes a failure for the end": Wrongs(failing_is_gone=True, forgets_on_304=True),
    "reads everything as Latin-1, whatever came": Wrongs(latin_1_only=True, takes_what_came=True, trusts_labels=True),
    "uses connections again without a look": Wrongs(pools_blindly=True),
    "follows anything, never waits, asks HEAD first": Wrongs(follows_anything=True, never_waits=True, heads_first=True),
}
