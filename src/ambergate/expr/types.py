"""The types of expressions over a schema."""

from __future__ import annotations

import datetime as dt
import decimal
import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ambergate.errors import ExpressionError
from ambergate.expr.nodes import Alias, Call, Column, Expr, Literal
from ambergate.type_names import parse_type

__all__ = ["Typed", "annotate", "common_type", "data_type", "describe", "widest"]

UNITS = ("s", "ms", "us", "ns")


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression with the type of its values.

    ``wants[i]`` is the type that argument ``i`` is turned into before the call, or None where it is
    used as it is.
    """

    expr: Expr
    type: pa.DataType
    arguments: tuple[Typed, ...] = ()
    wants: tuple[pa.DataType | None, ...] = ()

    @property
    def loose(self) -> bool:
        """Whether it is a constant that takes the type of what it is used with."""
        return isinstance(self.expr, Literal) and self.expr.of is None

    @property
    def value(self) -> Any:
        """The value of a constant; None for all else."""
        return self.expr.value if isinstance(self.expr, Literal) else None


def annotate(expr: Expr, schema: pa.Schema) -> Typed:
    """``expr`` and all below it with their types; raises ExpressionError where they do not fit."""
    while isinstance(expr, Alias):
        expr = expr.of
    if isinstance(expr, Column):
        return Typed(expr, _column_type(expr, schema))
    return _annotate(expr, schema)


def _annotate(expr: Expr, schema: pa.Schema) -> Typed:
    from ambergate.expr.rules import RULES

    if isinstance(expr, Alias):
        return _annotate(expr.of, schema)
    if isinstance(expr, Column):
        # inside a call a dictionary is its values
        of = _column_type(expr, schema)
        return Typed(expr, of.value_type if pa.types.is_dictionary(of) else of)
    if isinstance(expr, Literal):
        return Typed(expr, literal_type(expr))
    assert isinstance(expr, Call)
    if expr.function == "is_between":
        value, low, high = expr.arguments
        above, below = Call("greater_equal", (value, low)), Call("less_equal", (value, high))
        return _annotate(Call("and", (above, below)), schema)
    arguments = tuple(_annotate(argument, schema) for argument in expr.arguments)
    of, wants = RULES[expr.function](expr, arguments)
    return Typed(expr, of, arguments, wants or (None,) * len(arguments))


def _column_type(expr: Column, schema: pa.Schema) -> pa.DataType:
    found = schema.get_all_field_indices(expr.column)
    if len(found) == 1:
        return schema.field(found[0]).type
    if found:
        raise ExpressionError(
            str(expr),
            f"{len(found)} columns are named {expr.column!r}",
            "give them different names with select(...)",
        )
    near = difflib.get_close_matches(expr.column, schema.names, n=3, cutoff=0.5)
    lower = [name for name in schema.names if name.lower() == expr.column.lower()]
    near = [*lower, *(name for name in near if name not in lower)]
    listed = ", ".join(map(repr, near or schema.names[:20])) or "none"
    raise ExpressionError(
        str(expr),
        f"there is no column {expr.column!r}",
        f"did you mean {listed}?" if near else f"the columns are {listed}",
    )


def literal_type(expr: Literal) -> pa.DataType:
    """The type of a constant that stands alone."""
    if expr.of is not None:
        try:
            pa.scalar(expr.value, expr.of)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise ExpressionError(
                str(expr), f"{expr.value!r} is no value of type {expr.of}: {error}"
            ) from None
        return expr.of
    value = expr.value
    if isinstance(value, int) and not isinstance(value, bool):
        if -(2**63) <= value < 2**63:
            return pa.int64()
        if 0 <= value < 2**64:
            return pa.uint64()
        raise ExpressionError(
            str(expr), f"{value} fits no integer type", "write it as a float or a Decimal"
        )
    try:
        return pa.scalar(list(value) if isinstance(value, tuple) else value).type
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ExpressionError(str(expr), f"{value!r} has no Arrow type: {error}") from None


def describe(operand: Typed) -> str:
    """An operand in a message: what it is and its type."""
    if isinstance(operand.expr, Column):
        return f"column {operand.expr.column!r} ({operand.type})"
    return f"{operand.expr} ({operand.type})"


def common_type(operands: Iterable[Typed]) -> pa.DataType | None:
    """The one type that holds the values of all ``operands``; None where there is none."""
    operands = tuple(operands)
    of: pa.DataType | None = pa.null()
    for operand in operands:
        if not operand.loose:
            of = widest(of, operand.type)
            if of is None:
                return None
    for operand in operands:
        if operand.loose:
            of = _adopt(operand, of)
            if of is None:
                return None
    return of


def widest(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both types; None where there is none."""
    is_ = pa.types
    if left.equals(right) or is_.is_null(right):
        return left
    if is_.is_null(left):
        return right
    if is_.is_integer(left) and is_.is_integer(right):
        return _widest_integer(left, right)
    if is_number(left) and is_number(right):
        if is_.is_decimal(left) or is_.is_decimal(right):
            return _widest_decimal(left, right)
        return pa.float64()
    for same, result in ((is_string, pa.large_string()), (is_binary, pa.large_binary())):
        if same(left) and same(right):
            return result
    if is_.is_timestamp(left) and is_.is_timestamp(right):
        return pa.timestamp(finer(left.unit, right.unit), left.tz) if left.tz == right.tz else None
    if is_.is_duration(left) and is_.is_duration(right):
        return pa.duration(finer(left.unit, right.unit))
    if is_.is_date(left) and is_.is_date(right):
        return pa.date64()
    if is_.is_time(left) and is_.is_time(right):
        return pa.time64("us" if "ns" not in (left.unit, right.unit) else "ns")
    return None


def _widest_integer(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    signed = pa.types.is_signed_integer
    if signed(left) == signed(right):
        return left if left.bit_width >= right.bit_width else right
    unsigned, other = (right, left) if signed(left) else (left, right)
    bits = max(other.bit_width, unsigned.bit_width * 2)
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(bits)


def _widest_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if pa.types.is_floating(left) or pa.types.is_floating(right):
        return pa.float64()
    digits = [integer_decimal(of) if pa.types.is_integer(of) else of for of in (left, right)]
    scale = max(of.scale for of in digits)
    precision = scale + max(of.precision - of.scale for of in digits)
    if precision <= 38 and not any(pa.types.is_decimal256(of) for of in digits):
        return pa.decimal128(precision, scale)
    return pa.decimal256(precision, scale) if precision <= 76 else None


def integer_decimal(of: pa.DataType) -> pa.DataType:
    """The decimal type that holds every value of an integer type."""
    return pa.decimal128({8: 3, 16: 5, 32: 10, 64: 20}[of.bit_width], 0)


def _adopt(literal: Typed, of: pa.DataType) -> pa.DataType | None:
    """``of``, or a wider type, so that the constant fits into it."""
    value, is_ = literal.value, pa.types
    number = isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)
    if number and is_.is_floating(of):
        return of
    fits = (
        (number and isinstance(value, int) and (is_.is_integer(of) or is_.is_decimal(of)))
        or (isinstance(value, decimal.Decimal) and is_.is_decimal(of))
        or (isinstance(value, str) and is_string(of))
        or (isinstance(value, bytes) and is_binary(of))
        or (isinstance(value, dt.datetime) and is_.is_timestamp(of) and same_zone(literal.type, of))
        or (isinstance(value, dt.timedelta) and is_.is_duration(of))
        or (isinstance(value, dt.time) and is_.is_time(of))
        or (isinstance(value, tuple) and is_list(of))
    )
    if fits and holds(value, of):
        return of
    if number and isinstance(value, int) and is_.is_integer(of):
        narrow = next(kind for kind in SIGNED if holds(value, kind) or kind.bit_width == 64)
        return widest(narrow, of)
    return widest(literal.type, of)


SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


def holds(value: Any, of: pa.DataType) -> bool:
    """Whether the constant is exactly a value of the type."""
    try:
        scalar = pa.scalar(list(value) if isinstance(value, tuple) else value, of)
        if isinstance(value, (dt.datetime, dt.timedelta, dt.time, decimal.Decimal)):
            return scalar.as_py() == value
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True


def data_type(of: pa.DataType | str) -> pa.DataType:
    """The Arrow type of a name such as ``"int64"`` or ``"timestamp[us]"``."""
    try:
        return parse_type(of)
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"type {of!r}", str(error)) from None


def finer(left: str, right: str) -> str:
    """The finer of two units of time."""
    return max(left, right, key=UNITS.index)


def same_zone(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether two timestamp types both have a zone, or both none."""
    return (left.tz is None) == (right.tz is None)


def is_number(of: pa.DataType) -> bool:
    """Integers, floats and decimals; booleans are no numbers, and float16 must be cast."""
    return is_plain_number(of) or pa.types.is_decimal(of)


def is_plain_number(of: pa.DataType) -> bool:
    """Integers and floats."""
    return pa.types.is_integer(of) or pa.types.is_float32(of) or pa.types.is_float64(of)


def is_string(of: pa.DataType) -> bool:
    """Strings of every layout."""
    return pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)


def is_binary(of: pa.DataType) -> bool:
    """Byte strings of every layout."""
    return (
        pa.types.is_binary(of)
        or pa.types.is_large_binary(of)
        or pa.types.is_binary_view(of)
        or pa.types.is_fixed_size_binary(of)
    )


def is_list(of: pa.DataType) -> bool:
    """Lists of every layout."""
    return pa.types.is_list(of) or pa.types.is_large_list(of) or pa.types.is_fixed_size_list(of)
