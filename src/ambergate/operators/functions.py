"""What operators that call a user's function share: its name, arguments, results, complaints."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ambergate.errors import PlanError, ValueTypeError
from ambergate.kernels.rows import is_plain
from ambergate.operators.base import LIBRARY_ROWS

__all__ = [
    "added_columns",
    "checked_columns",
    "name_of",
    "raise_mismatch",
    "raise_no_rows",
    "stretch",
]


def name_of(function: Callable[..., Any]) -> str:
    """The function as errors name it: name, file and line.

    >>> name_of(len)
    'len'
    """
    inner = inspect.unwrap(getattr(function, "func", function))
    name = getattr(inner, "__qualname__", type(inner).__name__)
    code = getattr(inner, "__code__", None)
    if code is None:
        return name
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def checked_columns(name: str, columns: tuple[str, ...] | None, schema: pa.Schema) -> None:
    """Raise PlanError where a column that a function is to be given does not exist."""
    for column in columns or ():
        if schema.get_field_index(column) < 0:
            raise PlanError(
                name,
                f"the function is to be given column {column!r}, which does not exist",
                f"there are {', '.join(schema.names)}",
            )


def added_columns(schema: pa.Schema, returns: dict[str, pa.DataType]) -> pa.Schema:
    """The schema with the returned columns added, or replaced in place."""
    for column, type_ in returns.items():
        place = schema.get_field_index(column)
        field = pa.field(column, type_)
        schema = schema.append(field) if place < 0 else schema.set(place, field)
    return schema


def raise_mismatch(
    function: Callable[..., Any], returns: dict[str, pa.DataType], column: str | None, value: Any
) -> None:
    """Raise the ValueTypeError for one value, or (without ``column``) for a whole result."""
    who = name_of(function)
    if inspect.iscoroutine(value):
        value.close()
        raise ValueTypeError(who, _expected(returns), "a coroutine", "write it without async")
    if inspect.isgenerator(value):
        value.close()
        remedy = "use flat_map() for functions that yield rows"
        raise ValueTypeError(who, _expected(returns), "a generator", remedy)
    if column is None:
        raise ValueTypeError(who, _expected(returns), _found(value))
    raise ValueTypeError(who, f"{returns[column]} for column {column!r}", _found(value))


def raise_no_rows(function: Callable[..., Any], value: Any) -> None:
    """Raise the ValueTypeError for a ``flat_map`` result that is no iterable of rows."""
    remedy = "return a list, or yield the rows"
    raise ValueTypeError(name_of(function), "an iterable of rows", _found(value), remedy)


def stretch(batch: pa.RecordBatch, columns: tuple[str, ...] | None, start: int, stop: int) -> int:
    """Where to end a row loop that begins at ``start``: soon, if values need a library call."""
    names = batch.schema.names if columns is None else columns
    if all(is_plain(batch.schema.field(name).type) for name in names):
        return stop
    return min(stop, start + LIBRARY_ROWS)


def _expected(returns: dict[str, pa.DataType]) -> str:
    if len(returns) == 1:
        return str(next(iter(returns.values())))
    columns = ", ".join(f"{column}: {type_}" for column, type_ in returns.items())
    return f"a tuple or dict of {columns}"


def _found(value: Any) -> str:
    kind = type(value).__name__
    try:
        text = repr(value)
    except BaseException:
        return kind
    if isinstance(value, np.generic | int | float | str | bytes | bool | tuple | dict | list):
        return f"{kind} {text if len(text) <= 80 else text[:77] + '...'}"
    return kind
