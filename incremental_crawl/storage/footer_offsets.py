"""Moves the data that a Parquet footer points to: all file offsets of its FileMetaData, shifted by one distance.

The footer is a Thrift struct in the compact protocol (thrift-compact-protocol.md, parquet.thrift); everything but the
offsets is copied as it is, known or not.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TypeAlias

Shifted: TypeAlias = "Mapping[int, Shifted | None]"

# Field ids of parquet.thrift that lead from FileMetaData to an offset (None); lists are transparent.
_OFFSETS: Shifted = {
    4: {  # row_groups
        1: {  # columns
            2: None,  # file_offset
            3: {9: None, 10: None, 11: None, 14: None},  # data page, index page, dictionary page, bloom filter
            4: None,  # offset_index_offset
            6: None,  # column_index_offset
        },
        5: None,  # file_offset
    }
}
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


def shifted(footer: bytes, distance: int) -> bytes:
    """The same footer for data that lies `distance` bytes further on. Raises `ValueError` where it is no footer."""
    copy = _Copy(footer, distance)
    copy.struct(_OFFSETS)
    if copy.source.read(1):
        raise ValueError("bytes after the end of the Parquet footer")
    return copy.target.getvalue()


class _Copy:
    """Reads a compact Thrift struct and writes it again."""

    def __init__(self, footer: bytes, distance: int) -> None:
        self.source = io.BytesIO(footer)
        self.target = io.BytesIO()
        self._distance = distance

    def struct(self, offsets: Shifted) -> None:
        """Copy the fields of a struct up to its stop byte; `offsets` are those that lead to offsets."""
        field = 0
        while header := self._byte():
            field = field + (header >> 4) if header >> 4 else self._zigzag()
            self._value(header & 0x0F, offsets.get(field, {}))

    def _value(self, kind: int, offsets: Shifted | None) -> None:
        if kind in (_TRUE, _FALSE):
            return  # a boolean field is its header
        if kind in (_I16, _I32, _I64):
            self._integer(moves=offsets is None)
        elif kind == _STRUCT:
            self.struct(offsets or {})
        elif kind in (_LIST, _SET):
            self._list(offsets or {})
        elif kind == _MAP:
            self._map()
        else:
            self._bytes({_BYTE: 1, _DOUBLE: 8}.get(kind, -1), kind)

    def _integer(self, moves: bool) -> None:
        value = self._read_varint()
        offset = (value >> 1) ^ -(value & 1)
        if moves and offset > 0:  # zero says that there is none
            value = (offset + self._distance) << 1
        self._write_varint(value)

    def _list(self, offsets: Shifted) -> None:
        header = self._byte()
        kind, size = header & 0x0F, header >> 4
        for _ in range(self._varint() if size == 15 else size):
            self._element(kind, offsets)

    def _map(self) -> None:
        if size := self._varint():
            kinds = self._byte()
            for _ in range(size):
                self._element(kinds >> 4, {})
                self._element(kinds & 0x0F, {})

    def _element(self, kind: int, offsets: Shifted) -> None:
        if kind in (_TRUE, _FALSE):
            self._byte()
        else:
            self._value(kind, offsets)

    def _bytes(self, size: int, kind: int) -> None:
        if kind == _BINARY:
            size = self._varint()
        if size < 0:
            raise ValueError(f"unknown Thrift type {kind} in the Parquet footer")
        data = self.source.read(size)
        if len(data) < size:
            raise ValueError("the Parquet footer is cut off")
        self.target.write(data)

    def _byte(self) -> int:
        data = self.source.read(1)
        if not data:
            raise ValueError("the Parquet footer is cut off")
        self.target.write(data)
        return data[0]

    def _varint(self) -> int:
        value = self._read_varint()
        self._write_varint(value)
        return value

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _read_varint(self) -> int:
        value = place = 0
        while True:
            data = self.source.read(1)
            if not data:
                raise ValueError("the Parquet footer is cut off")
            value |= (data[0] & 0x7F) << place
            place += 7
            if data[0] < 0x80:
                return value

    def _write_varint(self, value: int) -> None:
        while value >= 0x80:
            self.target.write(bytes((value & 0x7F | 0x80,)))
            value >>= 7
        self.target.write(bytes((value,)))
