"""What each function of an expression takes and gives: its type rule.

A rule gets the call and its typed arguments; it returns the type of the result and the type each
argument is turned into first (None: as it is), or raises ExpressionError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pyarrow as pa

from ambergate.errors import ExpressionError
from ambergate.expr.nodes import Call, Literal
from ambergate.expr.types import (
    Typed,
    common_type,
    describe,
    finer,
    holds,
    integer_decimal,
    is_binary,
    is_list,
    is_number,
    is_plain_number,
    is_string,
    literal_type,
    same_zone,
)

__all__ = ["COMPARISONS", "RULES"]

Result = tuple[pa.DataType, tuple[pa.DataType | None, ...] | None]
Rule = Callable[[Call, tuple[Typed, ...]], Result]

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
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


def _refuse(call: Call, problem: str, remedy: str = "") -> NoReturn:
    raise ExpressionError(str(call), problem, remedy)


def _expect(call: Call, operand: Typed, fits: Callable[[pa.DataType], bool], what: str) -> None:
    if not fits(operand.type) and not is_.is_null(operand.type):
        method = f".{call.function}()" if "." in call.function else call.function
        _refuse(call, f"{method} needs {what}, got {describe(operand)}", "cast it first")


# arithmetic


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


def _arithmetic(call: Call, arguments: tuple[Typed, ...]) -> Result:
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
    _refuse(call, f"cannot {verb} {describe(left)} and {describe(right)}", remedy)


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
        _refuse(call, f"{describe(left)} and {describe(right)}: {error}", "cast to fewer digits")


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
        return None if found is None else (found[0], (found[1][1], found[1][0]))
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


def _power(call: Call, arguments: tuple[Typed, ...]) -> Result:
    base, exponent = arguments
    for operand in arguments:
        _expect(call, operand, is_number, "numbers")
    whole = isinstance(exponent.value, int) and not isinstance(exponent.value, bool)
    if is_.is_integer(base.type) and whole and exponent.value >= 0:
        of = pa.uint64() if is_.is_uint64(base.type) else pa.int64()
        return of, (of, pa.int64())
    return pa.float64(), (pa.float64(), pa.float64())


def _negate(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = arguments[0].type
    if is_.is_integer(of):
        return pa.int64(), (pa.int64(),)
    _expect(call, arguments[0], lambda of: is_number(of) or is_.is_duration(of), "a number")
    return of, None


def _abs(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = arguments[0].type
    if is_.is_signed_integer(of):
        return pa.int64(), (pa.int64(),)
    _expect(call, arguments[0], lambda of: is_number(of) or is_.is_duration(of), "a number")
    return of, None


def _rounding(call: Call, arguments: tuple[Typed, ...]) -> Result:
    _expect(call, arguments[0], is_number, "a number")
    return arguments[0].type, None


def _real(call: Call, arguments: tuple[Typed, ...]) -> Result:
    _expect(call, arguments[0], is_number, "a number")
    return pa.float64(), (pa.float64(),)


# comparison and logic


def _comparable(left: pa.DataType, right: pa.DataType) -> bool:
    if is_.is_null(left) or is_.is_null(right):
        return True
    for same in (is_number, is_string, is_binary, is_.is_boolean, is_.is_time, is_.is_duration):
        if same(left) and same(right):
            return True
    moments = [is_.is_date(of) or is_.is_timestamp(of) for of in (left, right)]
    if all(moments):
        return (getattr(left, "tz", None) is None) == (getattr(right, "tz", None) is None)
    return False


def _compare(call: Call, left: Typed, right: Typed) -> tuple[pa.DataType | None, ...]:
    if not _comparable(left.type, right.type):
        zones = is_.is_timestamp(left.type) and is_.is_timestamp(right.type)
        remedy = "give both a time zone, or none" if zones else _cast_remedy(left, right)
        _refuse(call, f"cannot compare {describe(left)} with {describe(right)}", remedy)
    if is_plain_number(left.type) and is_plain_number(right.type):
        return None, None  # compared as they are: rounding one to the other's type could lie
    of = common_type((left, right))
    if of is not None and (is_.is_null(left.type) or is_.is_null(right.type)):
        return of, of
    if is_.is_date(left.type) != is_.is_date(right.type):
        unit = left.type.unit if is_.is_timestamp(left.type) else right.type.unit
        of = pa.timestamp(unit)
    return of, of


def _cast_remedy(left: Typed, right: Typed) -> str:
    one, other = (right, left) if left.loose else (left, right)
    if other.loose and isinstance(one.expr, Call | Literal) is False:
        return f'cast one of them, as in {one.expr!r}.cast("{other.type}")'
    return "cast one of them"


def _comparison(call: Call, arguments: tuple[Typed, ...]) -> Result:
    return pa.bool_(), _compare(call, *arguments)


def _between(call: Call, arguments: tuple[Typed, ...]) -> Result:
    value, low, high = arguments
    _compare(call, value, low)
    _compare(call, value, high)
    return pa.bool_(), None


def _is_in(call: Call, arguments: tuple[Typed, ...]) -> Result:
    for value in call.options[0]:
        if value is not None:
            literal = Literal(value)
            of = literal_type(literal)
            if not _comparable(arguments[0].type, of):
                _refuse(
                    call,
                    f"is_in compares {describe(arguments[0])} with {value!r} ({of})",
                    "give values of the column's type",
                )
    return pa.bool_(), None


def _logic(call: Call, arguments: tuple[Typed, ...]) -> Result:
    for operand in arguments:
        if not (is_.is_boolean(operand.type) or is_.is_null(operand.type)):
            symbol = {"and": "&", "or": "|", "not": "~"}[call.function]
            _refuse(
                call,
                f"{symbol} needs conditions, got {describe(operand)}",
                "put comparisons into parentheses, as in (a > 1) & (b < 2)",
            )
    return pa.bool_(), (pa.bool_(),) * len(arguments)


def _is_null(call: Call, arguments: tuple[Typed, ...]) -> Result:
    return pa.bool_(), None


# choices


def _one_type(call: Call, operands: tuple[Typed, ...]) -> pa.DataType:
    of = common_type(operands)
    if of is None:
        listed = ", ".join(describe(operand) for operand in operands)
        _refuse(call, f"there is no type for all of {listed}", "cast them to one type")
    return of


def _fill_null(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = _one_type(call, arguments)
    return of, (of, of)


def _extreme(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = _one_type(call, arguments)
    if not _comparable(of, of):
        _refuse(call, f"values of type {of} have no order", "choose another column")
    return of, (of,) * len(arguments)


def _when(call: Call, arguments: tuple[Typed, ...]) -> Result:
    values = (*arguments[1:-1:2], arguments[-1])
    for condition in arguments[:-1:2]:
        if not (is_.is_boolean(condition.type) or is_.is_null(condition.type)):
            _refuse(call, f"when needs a condition, got {describe(condition)}", "compare it")
    of = _one_type(call, values)
    pairs = (pa.bool_(), of) * (len(arguments) // 2)
    return of, (*pairs, of)


def _cast(call: Call, arguments: tuple[Typed, ...]) -> Result:
    source, of = arguments[0], call.options[0]
    if source.loose and isinstance(source.value, (int, float)) and not holds(source.value, of):
        _refuse(call, f"{source.value!r} is no value of type {of}")
    try:
        pa.array([], source.type).cast(of)
    except pa.ArrowException:
        _refuse(call, f"{describe(source)} cannot become {of}", "there is no such conversion")
    return of, None


# strings, times, lists


def _string(of: pa.DataType | None = None) -> Rule:
    def rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
        for operand in arguments:
            _expect(call, operand, is_string, "a string")
        kind = common_type(arguments)
        if is_.is_null(kind) or is_.is_string_view(kind):
            kind = pa.string()
        if call.function == "str.split":
            return pa.list_(kind), (kind,)
        if call.function in ("str.contains", "str.replace", "str.extract"):
            _check_pattern(call)
        return of or kind, (kind,) * len(arguments)

    return rule


def _check_pattern(call: Call) -> None:
    import pyarrow.compute as pc

    if call.function != "str.extract" and call.options[-1]:
        return
    try:
        pc.match_substring_regex(pa.array([""]), call.options[0])
    except pa.ArrowException as error:
        _refuse(call, f"the pattern {call.options[0]!r} cannot be used: {error}", "RE2 syntax")


def _time(fits: Callable[[pa.DataType], bool], what: str) -> Rule:
    def rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
        _expect(call, arguments[0], fits, what)
        return (arguments[0].type if call.function == "dt.truncate" else pa.int64()), None

    return rule


def _list_length(call: Call, arguments: tuple[Typed, ...]) -> Result:
    _expect(call, arguments[0], is_list, "a list")
    return pa.int64(), None


def _list_get(call: Call, arguments: tuple[Typed, ...]) -> Result:
    _expect(call, arguments[0], is_list, "a list")
    of = arguments[0].type
    return (of if is_.is_null(of) else of.value_type), None


def _has_day(of: pa.DataType) -> bool:
    return is_.is_date(of) or is_.is_timestamp(of)


def _has_hour(of: pa.DataType) -> bool:
    return is_.is_timestamp(of) or is_.is_time(of)


_day = _time(_has_day, "a date or timestamp")
_hour = _time(_has_hour, "a timestamp or time")

RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("add", "subtract", "multiply", "divide", "floor_divide", "modulo"), _arithmetic
    ),
    "power": _power,
    "negate": _negate,
    "abs": _abs,
    **dict.fromkeys(("round", "floor", "ceil"), _rounding),
    **dict.fromkeys(("log", "exp", "sqrt"), _real),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(("and", "or", "not"), _logic),
    **dict.fromkeys(("is_null", "is_not_null"), _is_null),
    "is_between": _between,
    "is_in": _is_in,
    "fill_null": _fill_null,
    **dict.fromkeys(("min_of", "max_of"), _extreme),
    "when": _when,
    "cast": _cast,
    **dict.fromkeys(("str.contains", "str.starts_with", "str.ends_with"), _string(pa.bool_())),
    **dict.fromkeys(
        (
            "str.lower",
            "str.upper",
            "str.strip",
            "str.replace",
            "str.slice",
            "str.extract",
            "str.concat",
            "str.split",
        ),
        _string(),
    ),
    "str.length": _string(pa.int64()),
    **dict.fromkeys(("dt.year", "dt.month", "dt.day", "dt.weekday", "dt.truncate"), _day),
    **dict.fromkeys(("dt.hour", "dt.minute", "dt.second"), _hour),
    "list.length": _list_length,
    "list.get": _list_get,
}
