"""What the vector machine computes, row by row in plain Python: the definition, not the means.

Numbers are Python's; times and dates are integers of their unit; null is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ambergate.expr.nodes import Column, Literal
from ambergate.expr.types import Typed
from ambergate.kernels.constants import scalar

__all__ = ["Misfit", "value_of"]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
}


class Misfit(OverflowError):
    """A value does not fit its type; ``args[0]`` is the call."""


def value_of(typed: Typed, row: dict[str, Any]) -> Any:
    """The value of ``typed`` in a row, whose values are given by column name.

    Raises
    ------
    Misfit
        A value that the result depends on does not fit its type.
    """
    expr = typed.expr
    if isinstance(expr, Column):
        return row[expr.column]
    if isinstance(expr, Literal):
        return _constant(typed, typed.type)
    if expr.function == "when":
        *pairs, other = zip(typed.arguments, typed.wants, strict=True)
        for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
            if _argument(*condition, row):
                return _argument(*value, row)
        return _argument(*other, row)
    first = _argument(typed.arguments[0], typed.wants[0], row)
    if expr.function == "fill_null" and first is not None:
        return first
    others = [
        _argument(argument, wanted, row)
        for argument, wanted in zip(typed.arguments[1:], typed.wants[1:], strict=True)
    ]
    return _call(typed, [first, *others])


def _argument(argument: Typed, wanted: pa.DataType | None, row: dict[str, Any]) -> Any:
    to = wanted or argument.type
    if isinstance(argument.expr, Literal) and argument.loose:
        return _constant(argument, to)
    return convert(argument, value_of(argument, row), to)


def _constant(typed: Typed, to: pa.DataType) -> Any:
    value = typed.value
    if value is None or isinstance(value, (bool, int, float)):
        return convert(typed, value, to)
    stored = pa.int32() if to.bit_width == 32 else pa.int64()
    return scalar(value, to).cast(stored).as_py()


def convert(typed: Typed, value: Any, to: pa.DataType) -> Any:
    """A number as a value of another type: floats lose their fraction, integers are rounded."""
    is_ = pa.types
    if value is None or is_.is_null(to):
        return None
    if is_.is_boolean(to):
        return bool(value)
    if is_.is_float32(to):
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    if is_.is_float64(to):
        return float(value)
    if is_.is_integer(to):
        if isinstance(value, float):
            if not math.isfinite(value):
                raise Misfit(typed)
            value = int(value)
        return fitted(typed, int(value), to)
    return value


def fitted(typed: Typed, value: int, to: pa.DataType) -> int:
    """``value``, if it is one of the type."""
    bits = to.bit_width
    low, high = (
        (0, 2**bits) if pa.types.is_unsigned_integer(to) else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    )
    if not low <= value < high:
        raise Misfit(typed)
    return value


def _call(typed: Typed, values: list[Any]) -> Any:
    function = typed.expr.function
    if function in ("and", "or"):
        decides = function == "or"
        if decides in values:
            return decides
        return None if None in values else not decides
    if function == "is_null":
        return values[0] is None
    if function == "is_not_null":
        return values[0] is not None
    if function == "fill_null":
        return values[1]
    if function in ("min_of", "max_of"):
        known = [value for value in values if value is not None]
        numbers = [value for value in known if value == value] or known
        return None if not known else (min if function == "min_of" else max)(numbers)
    if None in values:
        return None
    if function in COMPARE:
        return COMPARE[function](*values)
    if function == "is_in":
        return any(value is not None and values[0] == value for value in typed.expr.options[0])
    if function == "not":
        return not values[0]
    if function == "cast":
        return convert(typed, values[0], typed.type)
    result = _number(typed, function, values)
    if result is None or isinstance(result, float):
        return convert(typed, result, typed.type)
    whole = typed.type if pa.types.is_integer(typed.type) else pa.int64()
    return fitted(typed, result, whole)


def _number(typed: Typed, function: str, values: list[Any]) -> Any:
    x: Any = values[0]
    y: Any = values[-1]
    if function == "add":
        return x + y
    if function == "subtract":
        return x - y
    if function == "multiply":
        return x * y
    with np.errstate(all="ignore"):
        if function == "divide":
            return float(np.float64(x) / np.float64(y))
        if function == "floor_divide":
            if y == 0:
                return None if isinstance(y, int) else float(np.float64(x) / np.float64(y))
            return float("nan") if isinstance(x, float) and math.isinf(x) else x // y
        if function == "modulo":
            if y == 0:
                return None if isinstance(y, int) else float("nan")
            return float("nan") if isinstance(x, float) and math.isinf(x) else x % y
        if function == "power":
            return x**y if isinstance(x, int) else float(np.float64(x) ** np.float64(y))
        if function == "sqrt":
            return float(np.sqrt(x))
        if function == "exp":
            return float(np.exp(x))
        if function == "log":
            return float(np.log(x))
    if function == "negate":
        return -x
    if function == "abs":
        return abs(x)
    if isinstance(x, float) and not math.isfinite(x):
        return x
    if function == "round":
        return math.copysign(float(round(x)), x) if isinstance(x, float) else x
    whole = {"floor": math.floor, "ceil": math.ceil}[function](x)
    return math.copysign(float(whole), x) if isinstance(x, float) and whole == 0 else x * 0 + whole
