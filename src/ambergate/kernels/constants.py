"""Constants of expressions as Arrow values."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa

__all__ = ["exact_values", "scalar"]


def scalar(value: Any, of: pa.DataType) -> pa.Scalar:
    """A constant as an Arrow scalar."""
    if isinstance(value, tuple):
        return pa.scalar(list(value), of)
    if pa.types.is_floating(of) and value is not None:
        return pa.scalar(float(value), of)
    if pa.types.is_timestamp(of) and isinstance(value, dt.date):
        return pa.scalar(value).cast(of)
    return pa.scalar(value, of)


def exact_values(options: tuple[Any, ...], of: pa.DataType) -> list[Any]:
    """Those constants that a column of type ``of`` can equal, as values of that type."""
    found = []
    for value in options:
        if value is None or value != value:  # neither null nor NaN equals anything
            continue
        try:
            scalar = pa.scalar(value, of)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            if not isinstance(value, float) or not value.is_integer():
                continue
            try:
                scalar = pa.scalar(int(value), of)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                continue
        if scalar.as_py() == value:
            found.append(scalar.as_py())
            if value == 0 and pa.types.is_floating(of):
                found.append(-found[-1])  # 0.0 equals -0.0, their hashes do not
    return found
