"""What each function of an expression takes and gives: its type rule.

A rule gets the call and its typed arguments; it returns the type of the result and the type each
argument is turned into first (None: as it is), or raises ExpressionError.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from ambergate.expr.arithmetic import (
    Result,
    Rule,
    abs_rule,
    arithmetic_rule,
    expect,
    negate_rule,
    power_rule,
    real_rule,
    refuse,
    rounding_rule,
)
from ambergate.expr.nodes import Call, Literal
from ambergate.expr.types import (
    Typed,
    common_type,
    describe,
    finer,
    holds,
    is_binary,
    is_list,
    is_number,
    is_plain_number,
    is_string,
    literal_type,
)

__all__ = ["COMPARISONS", "RULES"]

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
is_ = pa.types


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
        refuse(call, f"cannot compare {describe(left)} with {describe(right)}", remedy)
    if is_plain_number(left.type) and is_plain_number(right.type):
        return None, None  # compared as they are: rounding one to the other's type could lie
    of = common_type((left, right))
    if is_.is_null(left.type) or is_.is_null(right.type):
        of = pa.bool_() if is_.is_null(of) else of  # nothing but nulls is compared as anything
        return of, of
    if is_.is_date(left.type) != is_.is_date(right.type):
        unit = left.type.unit if is_.is_timestamp(left.type) else right.type.unit
        of = pa.timestamp(unit)
    if of is None and is_.is_timestamp(left.type):
        of = pa.timestamp(finer(left.type.unit, right.type.unit), "UTC")  # of two zones
    return of, of


def _cast_remedy(left: Typed, right: Typed) -> str:
    if left.type.equals(right.type):
        return "values of this type have no order; compare their parts"
    one, other = (right, left) if left.loose else (left, right)
    if other.loose and isinstance(one.expr, Call | Literal) is False:
        return f'cast one of them, as in {one.expr!r}.cast("{other.type}")'
    return "cast one of them"


def _comparison(call: Call, arguments: tuple[Typed, ...]) -> Result:
    return pa.bool_(), _compare(call, *arguments)


def _is_in(call: Call, arguments: tuple[Typed, ...]) -> Result:
    for value in call.options[0]:
        if value is not None:
            literal = Literal(value)
            of = literal_type(literal)
            if not _comparable(arguments[0].type, of):
                refuse(
                    call,
                    f"is_in compares {describe(arguments[0])} with {value!r} ({of})",
                    "give values of the column's type",
                )
    return pa.bool_(), None


def _logic(call: Call, arguments: tuple[Typed, ...]) -> Result:
    for operand in arguments:
        if not (is_.is_boolean(operand.type) or is_.is_null(operand.type)):
            symbol = {"and": "&", "or": "|", "not": "~"}[call.function]
            refuse(
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
        refuse(call, f"there is no type for all of {listed}", "cast them to one type")
    return of


def _fill_null(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = _one_type(call, arguments)
    return of, (of, of)


def _extreme(call: Call, arguments: tuple[Typed, ...]) -> Result:
    of = _one_type(call, arguments)
    if not _comparable(of, of):
        refuse(call, f"values of type {of} have no order", "choose another column")
    return of, (of,) * len(arguments)


def _when(call: Call, arguments: tuple[Typed, ...]) -> Result:
    values = (*arguments[1:-1:2], arguments[-1])
    for condition in arguments[:-1:2]:
        if not (is_.is_boolean(condition.type) or is_.is_null(condition.type)):
            refuse(call, f"when needs a condition, got {describe(condition)}", "compare it")
    of = _one_type(call, values)
    pairs = (pa.bool_(), of) * (len(arguments) // 2)
    return of, (*pairs, of)


def _cast(call: Call, arguments: tuple[Typed, ...]) -> Result:
    source, of = arguments[0], call.options[0]
    if source.loose and isinstance(source.value, (int, float)) and not holds(source.value, of):
        refuse(call, f"{source.value!r} is no value of type {of}")
    try:
        pa.array([], source.type).cast(of)
    except pa.ArrowException:
        refuse(call, f"{describe(source)} cannot become {of}", "there is no such conversion")
    return of, None


# strings, times, lists


def _string(of: pa.DataType | None = None) -> Rule:
    def rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
        for operand in arguments:
            expect(call, operand, is_string, "a string")
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
        refuse(call, f"the pattern {call.options[0]!r} cannot be used: {error}", "RE2 syntax")


def _time(fits: Callable[[pa.DataType], bool], what: str) -> Rule:
    def rule(call: Call, arguments: tuple[Typed, ...]) -> Result:
        expect(call, arguments[0], fits, what)
        return (arguments[0].type if call.function == "dt.truncate" else pa.int64()), None

    return rule


def _list_length(call: Call, arguments: tuple[Typed, ...]) -> Result:
    expect(call, arguments[0], is_list, "a list")
    return pa.int64(), None


def _list_get(call: Call, arguments: tuple[Typed, ...]) -> Result:
    expect(call, arguments[0], is_list, "a list")
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
        ("add", "subtract", "multiply", "divide", "floor_divide", "modulo"), arithmetic_rule
    ),
    "power": power_rule,
    "negate": negate_rule,
    "abs": abs_rule,
    **dict.fromkeys(("round", "floor", "ceil"), rounding_rule),
    **dict.fromkeys(("log", "exp", "sqrt"), real_rule),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(("and", "or", "not"), _logic),
    **dict.fromkeys(("is_null", "is_not_null"), _is_null),
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
