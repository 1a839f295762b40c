"""The current records: one row per live page, one typed column per declared field, one file per page type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from incremental_crawl.storage.parquet import copy
from incremental_crawl.storage.state import State


class ColumnKind(StrEnum):
    """The type of a declared field, as the column shows it."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    PRICE = "price"
    DATE = "date"
    URL = "url"
    BOOL = "bool"


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """A declared field: its name, its type, and whether it holds a list."""

    name: str
    kind: ColumnKind
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class RecordTable:
    """A page type and its columns; without columns the page's lines become the one column `text`."""

    page_type: str
    columns: tuple[RecordColumn, ...] = ()


_CASTS = {
    ColumnKind.TEXT: "VARCHAR",
    ColumnKind.URL: "VARCHAR",
    ColumnKind.NUMBER: "DOUBLE",
    ColumnKind.INTEGER: "BIGINT",
    ColumnKind.BOOL: "BOOLEAN",
    ColumnKind.DATE: "TIMESTAMPTZ",
}


def write_records(state: State, tables: Sequence[RecordTable]) -> None:
    """Swap in the current records of every page type, also of one whose rules are gone but whose records are not.

    The file of a page type that nothing is left of stays, without rows: a reader that has listed it must find it.
    """
    declared = {table.page_type for table in tables}
    left = {row[0] for row in state.rows("SELECT DISTINCT page_type FROM held_records")}
    left |= {path.parent.name.removeprefix("type=") for path in state.layout.records.glob("type=*/records.parquet")}
    for table in [*tables, *(RecordTable(name) for name in sorted(left - declared))]:
        copy(state, _select(table), state.layout.records_file(table.page_type))


def _select(table: RecordTable) -> str:
    name = table.page_type.replace("'", "''")
    columns = [part for column in table.columns for part in _column(column)] or [_TEXT]
    return (
        "SELECT h.url, h.item_key, h.observed_at, k.last_checked, h.content_sha256, k.stale, "
        + ", ".join(columns)
        + " FROM held_records h JOIN known_urls k USING (url) "
        + f"WHERE h.page_type = '{name}' AND k.held AND k.gone_since IS NULL AND k.redirect_to IS NULL ORDER BY h.url"
    )


_TEXT = (
    "CASE WHEN json_type(h.record) = 'ARRAY' "
    "THEN array_to_string(from_json(h.record, '[\"VARCHAR\"]'), chr(10)) ELSE h.record END AS text"
)


def _column(column: RecordColumn) -> list[str]:
    path = "$." + '"' + column.name.replace('"', '\\"') + '"'
    path = path.replace("'", "''")
    name = '"' + column.name.replace('"', '""') + '"'
    if column.is_list:
        values = f"json_extract(h.record, '{path}')"
        return [f"CASE WHEN json_type({values}) = 'ARRAY' THEN from_json({values}, '[\"VARCHAR\"]') END AS {name}"]
    if column.kind is ColumnKind.PRICE:
        currency = '"' + column.name.replace('"', '""') + '_currency"'
        return [
            f"TRY_CAST(json_extract_string(h.record, '{path}.amount') AS DECIMAL(18,4)) AS {name}",
            f"json_extract_string(h.record, '{path}.currency') AS {currency}",
        ]
    return [f"TRY_CAST(json_extract_string(h.record, '{path}') AS {_CASTS[column.kind]}) AS {name}"]
