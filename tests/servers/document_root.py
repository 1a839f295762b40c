"""The folder that a real server serves: pages of more than a kilobyte whose bytes and times a test decides."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.crawl.pages_origin import urlset

DAY_S = 86_400
PATHS = (
    "/",
    *(f"/guide/step-{n:02}.html" for n in range(1, 7)),
    *(f"/shop/lamp-{n:02}.html" for n in range(1, 6)),
)


def text_of(path: str, word: str) -> str:
    """A page about `path`; pages with words of one length have one length."""
    rows = "\n".join(
        f"<p>Paragraph {n} of the page at {path} says no more than all the others do.</p>" for n in range(24)
    )
    return (
        f"<!doctype html>\n<html><head><title>Page {path}</title></head>\n<body><main><h1>The word is {word}</h1>\n"
        f"{rows}\n</main></body></html>\n"
    )


@dataclass
class DocumentRoot:
    """Files below `folder`, each replaced by a rename (a new inode, as editors and deployments do)."""

    folder: Path
    made_at: float = field(default_factory=lambda: float(int(time.time()) - 30 * DAY_S))
    words: dict[str, str] = field(default_factory=dict)

    def fill(self, base_url: str, paths: Iterable[str] = PATHS) -> None:
        """All pages and a sitemap that names them, a month old."""
        listed = list(paths)
        for path in listed:
            self.write(path, "first", self.made_at)
        self.put("sitemap.xml", urlset({base_url + path: None for path in listed}), self.made_at)

    def write(self, path: str, word: str, modified_at: float) -> None:
        """The page at `path` says `word` from now on; its file was modified at `modified_at`, in seconds since 1970."""
        self.words[path] = word
        self.put(self.file(path).relative_to(self.folder).as_posix(), text_of(path, word).encode(), modified_at)

    def put(self, name: str, body: bytes, modified_at: float) -> None:
        """A file in place of another one, if there was one."""
        file = self.folder / name
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.new")
        new.write_bytes(body)
        new.chmod(0o644)
        os.utime(new, (modified_at, modified_at))
        new.replace(file)

    def touch(self, path: str, modified_at: float) -> None:
        """The same bytes with another time."""
        self.write(path, self.words[path], modified_at)

    def file(self, path: str) -> Path:
        """The file behind a path."""
        return self.folder / (path.lstrip("/") + ("index.html" if path.endswith("/") else ""))
