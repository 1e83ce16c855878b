"""Users' functions as operators hold them: their names, their columns, their declared types."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.type_names import parse_type

__all__ = ["as_columns", "check_columns", "declared", "extended", "function_name"]


def function_name(function: Any) -> str:
    """What errors call a function: its name and where it is written.

    >>> function_name(len)
    'len'
    """
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    name = getattr(named, "__qualname__", type(inner).__name__).replace("<locals>.", "")
    code = getattr(inspect.unwrap(inner), "__code__", None)
    if code is None and not inspect.isclass(inner):
        code = getattr(type(inner).__dict__.get("__call__"), "__code__", None)
    if code is None:
        return name
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def as_columns(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Names given as one, several or none."""
    if columns is None:
        return None
    return (columns,) if isinstance(columns, str) else tuple(columns)


def declared(returns: Mapping[str, str | pa.DataType] | Any) -> dict[str, pa.DataType]:
    """The declared columns with their types parsed.

    Raises
    ------
    ValueError, TypeError
        No columns, or an unknown type; the text names the column.
    """
    if isinstance(returns, pa.Schema):
        returns = {field.name: field.type for field in returns}
    if not isinstance(returns, Mapping):
        raise TypeError(
            f"returns must be a dict of column names and types, as {{'total': 'float64'}}, "
            f"got {returns!r}"
        )
    types: dict[str, pa.DataType] = {}
    for column, kind in returns.items():
        try:
            types[column] = parse_type(kind)
        except (ValueError, TypeError) as error:
            raise type(error)(f"returns[{column!r}]: {error}") from None
    if not types:
        raise ValueError("returns names no column: give a name and a type for each, as "
                         "{'total': 'float64'}")  # fmt: skip
    return types


def check_columns(name: str, columns: Iterable[str] | None, schema: pa.Schema) -> None:
    """Raise PlanError for a column the input has not, or has twice."""
    for column in columns if columns is not None else schema.names:
        count = len(schema.get_all_field_indices(column))
        if count == 0:
            known = ", ".join(map(repr, schema.names)) or "none"
            raise PlanError(name, f"no column {column!r} in its input", f"its columns are {known}")
        if count > 1:
            raise PlanError(name, f"{count} columns are called {column!r}", "rename all but one")


def extended(schema: pa.Schema, types: Mapping[str, pa.DataType]) -> pa.Schema:
    """The schema with columns replaced where their names are, and added at the end.

    >>> extended(pa.schema({"a": "int64", "b": "int64"}), {"c": pa.bool_(), "a": pa.int8()}).names
    ['a', 'b', 'c']
    """
    fields = {field.name: field for field in schema}
    fields |= {column: pa.field(column, kind) for column, kind in types.items()}
    return pa.schema(list(fields.values()))


def is_callable(name: str, function: Callable[..., Any]) -> None:
    """Raise PlanError for what cannot be called."""
    if not callable(function):
        raise PlanError(name, f"{function!r} is not a function", "give a function of the row")
