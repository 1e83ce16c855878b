"""What sorting means: plain Python over lists of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["gather", "merge_places", "rows_before", "sort_indices", "sort_key"]


def comparable(value: Any) -> Any:
    """A value that Python orders as the engine does: NaN above all numbers, text by bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value


def sort_indices(
    columns: Sequence[pa.Array],
    descending: Sequence[bool],
    nulls_last: Sequence[bool],
    start: int,
    stop: int,
) -> list[int]:
    """The rows ``start:stop`` in order: one stable sort a column, the least significant first."""
    rows = list(range(start, stop))
    for column, down, last in reversed(list(zip(columns, descending, nulls_last, strict=True))):
        values = column.to_pylist()
        nulls = [row for row in rows if values[row] is None]
        others = [row for row in rows if values[row] is not None]
        others.sort(key=lambda row, values=values: comparable(values[row]), reverse=down)
        rows = others + nulls if last else nulls + others
    return rows


def merge_places(
    runs: Sequence[Sequence[pa.Array]], descending: Sequence[bool], nulls_last: Sequence[bool]
) -> list[tuple[int, int]]:
    """The (run, row) pairs of sorted runs in order; equal rows in the order of the runs."""
    pairs = [(run, row) for run, columns in enumerate(runs) for row in range(len(columns[0]))]
    whole = [pa.concat_arrays(parts) for parts in zip(*runs, strict=True)]
    return [pairs[row] for row in sort_indices(whole, descending, nulls_last, 0, len(pairs))]


def rows_before(
    columns: Sequence[pa.Array],
    descending: Sequence[bool],
    nulls_last: Sequence[bool],
    bar: int,
) -> list[int]:
    """The rows that sort before row ``bar`` and are not equal to it, in the order of the rows."""
    order = sort_indices(columns, descending, nulls_last, 0, len(columns[0]))
    values = [[comparable(value) for value in column.to_pylist()] for column in columns]
    equal = {row for row in order if all(column[row] == column[bar] for column in values)}
    before = [row for row in order[: order.index(bar)] if row not in equal]
    return sorted(before)


def sort_key(column: pa.Array, row: int, descending: bool, nulls_last: bool) -> bytes:
    """The whole key of one value of an integer or string column."""
    value = column[row].as_py()
    if value is None:
        return b"\x03" if nulls_last else b"\x01"
    if isinstance(value, int):
        key = ((value + (1 << 63)) % (1 << 64)).to_bytes(8, "big")
    else:
        key = value.encode().replace(b"\0", b"\0\xff") + b"\0\1"
    return b"\x02" + (bytes(255 - byte for byte in key) if descending else key)


def gather(chunks: Sequence[pa.Array], places: Sequence[int]) -> list[Any]:
    """The values at ``places`` (``chunk << 32 | row``); None where a place is negative."""
    return [None if p < 0 else chunks[p >> 32][p & 0xFFFFFFFF].as_py() for p in places]
