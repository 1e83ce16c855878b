"""Row loops over Python functions: what stands between Arrow batches and the native loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ambergate_native.rows import (
    Builder,
    Caller,
    Result,
    Row,
    Values,
    each_row,
    filter_rows,
    flat_map_rows,
    map_rows,
)

__all__ = [
    "Builder",
    "Caller",
    "Row",
    "builder_for",
    "caller_for",
    "each_row",
    "filter_rows",
    "flat_map_rows",
    "is_plain",
    "map_rows",
    "taken",
]


def is_plain(type_: pa.DataType) -> bool:
    """Whether values of this type are made natively, without a library call."""
    return (
        pa.types.is_boolean(type_)
        or pa.types.is_integer(type_)
        or pa.types.is_float32(type_)
        or pa.types.is_float64(type_)
        or pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_null(type_)
    )


def caller_for(
    function: Callable[..., Any],
    batch: pa.RecordBatch,
    columns: tuple[str, ...] | None,
    start: int,
    stop: int,
) -> Caller:
    """What calls ``function`` for rows ``start:stop`` of ``batch``.

    Parameters
    ----------
    columns : the columns whose values are the arguments; None: one row view of all columns
    """
    names = tuple(batch.schema.names) if columns is None else columns
    values = []
    for name in names:
        array = batch.column(name)
        if is_plain(array.type):
            values.append(Values(array))
        else:
            values.append(Values(None, array.slice(start, stop - start).to_pylist(), start))
    places = {name: index for index, name in enumerate(names)} if columns is None else None
    return Caller(function, values, places)


def builder_for(type_: pa.DataType) -> Builder:
    """A builder that checks every value against ``type_``."""
    if pa.types.is_boolean(type_):
        return Builder(Result.TRUTH)
    if pa.types.is_integer(type_) and not pa.types.is_uint64(type_):
        bits = type_.bit_width
        if pa.types.is_signed_integer(type_):
            return Builder(Result.INTEGER, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        return Builder(Result.INTEGER, 0, (1 << bits) - 1)
    if pa.types.is_float32(type_) or pa.types.is_float64(type_):
        return Builder(Result.REAL)
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return Builder(Result.TEXT)
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return Builder(Result.BYTES)
    return Builder(Result.OBJECT, check=lambda value: pa.scalar(value, type_))


def taken(builder: Builder, type_: pa.DataType) -> pa.Array:
    """The builder's values as an array of ``type_``; the builder is empty then."""
    nulls = builder.nulls
    kind = builder.kind
    values, valid = builder.take()
    if kind not in (Result.INTEGER, Result.REAL, Result.TRUTH):
        return pa.array(values, type_)
    count = len(values)
    validity = None
    if nulls:
        validity = pa.py_buffer(np.packbits(valid, bitorder="little"))
    if kind == Result.TRUTH:
        packed = np.packbits(values.astype(np.uint8), bitorder="little")
    else:
        packed = np.ascontiguousarray(values, dtype=type_.to_pandas_dtype())
    return pa.Array.from_buffers(type_, count, [validity, pa.py_buffer(packed)], nulls)
