"""The type rules of numbers, and of times where they are added and subtracted.

A rule gets the call and its typed arguments; it returns the type of the result and the type each
argument is turned into first (None: as it is), or raises ExpressionError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pyarrow as pa

from ambergate.errors import ExpressionError
from ambergate.expr.nodes import Call
from ambergate.expr.types import (
    Typed,
    describe,
    finer,
    integer_decimal,
    is_number,
    is_plain_number,
    is_string,
    same_zone,
)

__all__ = ["Result", "Rule", "expect", "refuse"]

Result = tuple[pa.DataType, tuple[pa.DataType | None, ...] | None]
Rule = Callable[[Call, tuple[Typed, ...]], Result]

SYMBOLS = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "divide": "divide",
    "floor_divide": "divide",
    "modulo": "take the remainder of",
    "power": "raise to a power",
}
is_ = pa.types


def refuse(call: Call, problem: str, remedy: str = "") -> NoReturn:
    """Raise the ExpressionError of a call."""
    raise ExpressionError(str(call), problem, remedy)


def expect(call: Call, operand: Typed, fits: Callable[[pa.DataType], bool], what: str) -> None:
    """Refuse an operand whose type does not fit; nulls always do."""
    if not fits(operand.type) and not is_.is_null(operand.type):
        method = f".{call.function}()" if "." in call.function else call.function
        refuse(call, f"{method} needs {what}, got {describe(operand)}", "cast it first")


def _integers(left: Typed, right: Typed) -> pa.DataType:
    for one, other in ((left, right), (right, left)):
        if is_.is_uint64(one.type) and not one.loose:
            unsigned = is_.is_unsigned_integer(other.type)
            if unsigned or (other.loose and other.value >= 0):
                return pa.uint64()
    return pa.int64()


def numbers(left: Typed, right: Typed) -> pa.DataType:
    """The type of + - * // % over integers and floats."""
    if is_.is_null(left.type) or is_.is_null(right.type):
        other = right.type if is_.is_null(left.type) else left.type
        return other if not is_.is_integer(other) or is_.is_uint64(other) else pa.int64()
    if is_.is_integer(left.type) and is_.is_integer(right.type):
        return _integers(left, right)
    for one, other in ((left, right), (right, left)):
        if is_.is_float32(one.type) and (other.loose or is_.is_float32(other.type)):
            return pa.float32()
    return pa.float64()


def arithmetic_rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
    left, right = arguments
    function = call.function
    plain = [is_plain_number(of.type) or is_.is_null(of.type) for of in arguments]
    if all(plain):
        of = pa.float64() if function == "divide" else numbers(left, right)
        return of, (of, of)
    if function not in ("floor_divide", "modulo"):
        found = _decimals(call, left, right) or _times(call, left, right)
        if found is not None:
            return found
    verb = SYMBOLS[function]
    remedy = "cast them to numbers first"
    if function == "add" and (is_string(left.type) or is_string(right.type)):
        remedy = "join strings with .str.concat(...), or cast them to numbers first"
    refuse(call, f"cannot {verb} {describe(left)} and {describe(right)}", remedy)


def _decimals(call: Call, left: Typed, right: Typed) -> Result | None:
    types = (left.type, right.type)
    if not all(map(is_number, types)) or not any(map(is_.is_decimal, types)):
        return None
    if any(map(is_.is_floating, types)):
        return pa.float64(), (pa.float64(), pa.float64())
    wants = []
    for operand in (left, right):
        of = operand.type
        if is_.is_integer(of):
            digits = len(str(abs(operand.value))) if operand.loose else 0
            of = pa.decimal128(digits, 0) if digits else integer_decimal(of)
        wants.append(of)
    import pyarrow.compute as pc

    try:
        empty = [pa.array([], of) for of in wants]
        return getattr(pc, call.function)(*empty).type, tuple(wants)
    except pa.ArrowException as error:
        refuse(call, f"{describe(left)} and {describe(right)}: {error}", "cast to fewer digits")


def _times(call: Call, left: Typed, right: Typed) -> Result | None:
    """Timestamps, dates and durations."""
    a, b = left.type, right.type
    function = call.function
    if is_.is_duration(a) and is_.is_duration(b) and function in ("add", "subtract"):
        of = pa.duration(finer(a.unit, b.unit))
        return of, (of, of)
    if function == "multiply":
        if is_.is_duration(a) and is_.is_integer(b):
            return a, (a, pa.int64())
        if is_.is_duration(b) and is_.is_integer(a):
            return b, (pa.int64(), b)
    if function == "add" and is_.is_duration(a):
        found = _times(call, right, left)
        if found is None or found[1] is None:
            return None
        return found[0], (found[1][1], found[1][0])
    if is_.is_duration(b) and function in ("add", "subtract"):
        unit = b.unit
        if is_.is_timestamp(a):
            unit = finer(a.unit, unit)
            return pa.timestamp(unit, a.tz), (pa.timestamp(unit, a.tz), pa.duration(unit))
        if is_.is_date(a):
            return pa.timestamp(unit), (pa.timestamp(unit), b)
    if function == "subtract":
        if is_.is_timestamp(a) and is_.is_timestamp(b) and same_zone(a, b):
            unit = finer(a.unit, b.unit)
            return pa.duration(unit), (pa.timestamp(unit, a.tz), pa.timestamp(unit, b.tz))
        moments = (is_.is_date(a) or is_.is_timestamp(a)) and (
            is_.is_date(b) or is_.is_timestamp(b)
        )
        if moments and getattr(a, "tz", None) is None and getattr(b, "tz", None) is None:
            unit = finer(getattr(a, "unit", "s"), getattr(b, "unit", "s"))
            unit = unit if unit in ("s", "ms", "us", "ns") else "s"
            return pa.duration(unit), (pa.timestamp(unit), pa.timestamp(unit))
    return None


def power_rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
    base, exponent = arguments
    for operand in arguments:
        expect(call, operand, is_number, "numbers")
    whole = isinstance(exponent.value, int) and not isinstance(exponent.value, bool)
    if is_.is_integer(base.type) and whole and exponent.value >= 0:
        of = pa.uint64() if is_.is_uint64(base.type) else pa.int64()
        return of, (of, pa.int64())
    return pa.float64(), (pa.float64(), pa.float64())


def negate_rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = arguments[0].type
    if is_.is_integer(of):
        return pa.int64(), (pa.int64(),)
    expect(call, arguments[0], lambda of: is_number(of) or is_.is_duration(of), "a number")
    return of, None


def abs_rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = arguments[0].type
    if is_.is_signed_integer(of):
        return pa.int64(), (pa.int64(),)
    expect(call, arguments[0], lambda of: is_number(of) or is_.is_duration(of), "a number")
    return of, None


def rounding_rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
    expect(call, arguments[0], is_number, "a number")
    return arguments[0].type, None


def real_rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
    expect(call, arguments[0], is_number, "a number")
    return pa.float64(), (pa.float64(),)
