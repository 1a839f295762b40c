"""Removes content-codings (RFC 9110 §8.4) piece by piece, within bounds, whatever the label says.

Labels lie: a coding is only removed where the bytes show it, an unknown label counts as none, and text that turns out
to be gzip is unpacked without a label. At most two layers are removed.
"""

from __future__ import annotations

from collections.abc import Iterable

from incremental_crawl.transport.coding_faults import TooLarge, Undecodable
from incremental_crawl.transport.decompressors import Brotli, Deflate, Gzip, Layer, Zstd

_MOST_LAYERS = 2
_NONE = frozenset({"", "identity"})
# Registered codings nobody asked for: bytes under these labels are certainly not the page.
_REFUSED = frozenset({"compress", "x-compress", "exi", "pack200-gzip", "dcb", "dcz", "bzip2", "x-bzip2", "xz", "lzma"})
_TEXT_TYPES = frozenset(
    {"application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/ld+json"}
)


class BodyDecoder:
    """Takes the bytes as they come (`feed`) and gives the body without its content-codings (`finish`).

    `content_encoding` are the values of that field's lines, `content_type` the media type as sent, `limit` the most
    bytes that any layer may grow to. `feed` raises TooLarge or Undecodable, `finish` also Truncated; after that the
    decoder is of no more use. `warnings` are sentences about labels that were wrong.
    """

    def __init__(self, content_encoding: Iterable[str], content_type: str | None, limit: int) -> None:
        self._warnings: list[str] = []
        self._limit = limit
        self._layers = self._layers_of(content_encoding, content_type)
        self._sizes = [0] * (len(self._layers) + 1)
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Decode the next bytes of the message body."""
        self._pass_on(data, 0)

    def finish(self) -> bytes:
        """The whole decoded body, once the message has ended."""
        for depth, layer in enumerate(self._layers):
            for piece in layer.finish():
                self._pass_on(piece, depth + 1)
            self._warnings.extend(layer.warnings)
        return self.so_far()

    def so_far(self) -> bytes:
        """What is decoded by now, for a body of which the beginning is enough."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the labels; complete after `finish`."""
        return tuple(self._warnings)

    @property
    def saw_end(self) -> bool:
        """Whether a coding's own end mark proves that nothing is missing; known after `finish`."""
        return any(layer.saw_end for layer in self._layers)

    def _pass_on(self, data: bytes, depth: int) -> None:
        self._sizes[depth] += len(data)
        if depth and self._sizes[depth] > self._limit:
            raise TooLarge(f"the body grows beyond {self._limit} bytes when it is decoded (max_decoded)")
        if depth == len(self._layers):
            self._pieces.append(data)
            return
        for piece in self._layers[depth].feed(data):
            self._pass_on(piece, depth + 1)

    def _layers_of(self, content_encoding: Iterable[str], content_type: str | None) -> list[Layer]:
        labels = [label.strip().lower() for line in content_encoding for label in line.split(",")]
        layers = [layer for label in reversed(labels) if (layer := self._layer(label)) is not None]
        if len(layers) > _MOST_LAYERS:
            raise Undecodable(f"the body is said to be encoded {len(layers)} times; at most two layers are removed")
        if _is_text(content_type):
            layers += [Gzip(labelled=False) for _ in range(_MOST_LAYERS - len(layers))]
        return layers

    def _layer(self, label: str) -> Layer | None:
        match label:
            case "gzip" | "x-gzip":  # RFC 9110 §8.4.1.3: the same
                return Gzip(labelled=True)
            case "deflate":
                return Deflate()
            case "br":
                return Brotli()
            case "zstd":
                return Zstd()
        if label in _REFUSED:
            raise Undecodable(f"the body has the content coding {label!r}, which was not asked for and is not known")
        if label not in _NONE:
            self._warnings.append(f"unknown content coding {label[:40]!r} taken as none")
        return None


def _is_text(content_type: str | None) -> bool:
    media_type = (content_type or "text/html").partition(";")[0].strip().lower()
    return media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+xml", "+json"))
