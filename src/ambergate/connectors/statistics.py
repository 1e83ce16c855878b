"""Which Parquet row groups hold no row that a filter would keep."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ambergate.connectors.base import Conjunct, plain_type

__all__ = ["rejects"]

COMPARISONS = ("==", "<", "<=", ">", ">=")


def rejects(
    group: pq.RowGroupMetaData,
    stored: pa.Schema,
    schema: pa.Schema,
    predicate: Sequence[Conjunct],
) -> bool:
    """Whether some conjunct is false or null for every row of ``group``.

    In doubt False: without statistics, with values of another type than the column's, with
    floats whose order NaN could upset.

    Parameters
    ----------
    stored : the types in the file
    schema : the types the rows will have
    """
    return any(_rejects_all(group, stored, column, op, value) for column, op, value in predicate)


def _rejects_all(
    group: pq.RowGroupMetaData, stored: pa.Schema, column: str, op: str, value: Any
) -> bool:
    if stored.get_field_index(column) < 0:
        # A column that the file lacks is null in every row.
        return op in COMPARISONS and value is not None
    chunk = _chunk(group, column)
    if chunk is None or not chunk.is_stats_set:
        return False
    found = chunk.statistics
    if found is None:
        return False
    nulls = found.null_count if found.has_null_count else None
    if op == "is_null":
        return nulls == 0
    if op == "is_not_null":
        return nulls == group.num_rows
    if op not in COMPARISONS or value is None:
        return False
    if nulls == group.num_rows and group.num_rows:
        return True
    if not found.has_min_max:
        return False
    try:
        least, greatest = found.min, found.max
    except (pa.ArrowException, ValueError, OverflowError):
        return False  # a value that Python cannot hold
    of = plain_type(stored.field(column).type)
    if not (_comparable(of, value) and _comparable(of, least) and _comparable(of, greatest)):
        return False
    try:
        return _outside(least, greatest, op, value)
    except TypeError:  # a time with a zone against one without
        return False


def _outside(least: Any, greatest: Any, op: str, value: Any) -> bool:
    if op == "==":
        return value < least or value > greatest
    if op == "<":
        return least >= value
    if op == "<=":
        return least > value
    if op == ">":
        return greatest <= value
    return greatest < value


def _comparable(of: pa.DataType, value: Any) -> bool:
    """Whether Python orders values of this type as the engine does."""
    if isinstance(value, bool) or pa.types.is_boolean(of):
        return isinstance(value, bool) and pa.types.is_boolean(of)
    if pa.types.is_integer(of):
        return isinstance(value, int)
    if pa.types.is_float64(of):
        return isinstance(value, float | int) and value == value and abs(value) <= 2**53
    if pa.types.is_string(of) or pa.types.is_large_string(of):
        return isinstance(value, str)
    if pa.types.is_binary(of) or pa.types.is_large_binary(of):
        return isinstance(value, bytes)
    if pa.types.is_timestamp(of):
        # Python's times have no nanoseconds.
        return isinstance(value, datetime.datetime) and of.unit != "ns"
    if pa.types.is_date32(of):
        return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    if pa.types.is_decimal(of):
        return isinstance(value, decimal.Decimal | int)
    return False


def _chunk(group: pq.RowGroupMetaData, column: str) -> pq.ColumnChunkMetaData | None:
    for number in range(group.num_columns):
        chunk = group.column(number)
        if chunk.path_in_schema == column:
            return chunk
    return None
