"""The functions of expressions by pyarrow.compute, on slices of a batch.

Each entry of ``FUNCTIONS`` gets the typed call and its arguments, arrays or scalars already of the
types the call wants, and returns an array or a scalar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ambergate.expr.rules import COMPARISONS
from ambergate.expr.types import Typed
from ambergate.kernels import arrow_strings
from ambergate.kernels.constants import exact_values

__all__ = ["FUNCTIONS", "Values", "convert", "spread"]

Values: TypeAlias = pa.Array | pa.Scalar
Function: TypeAlias = Callable[..., Values]


def convert(values: Values, to: pa.DataType) -> Values:
    """``values`` as type ``to``.

    Floats are truncated to integers, integers rounded to floats, everything else must be exact.

    Raises
    ------
    pyarrow.ArrowException
        A value does not fit.
    """
    of = values.type
    if of.equals(to):
        return values
    if pa.types.is_integer(of) and pa.types.is_floating(to):
        return pc.cast(values, to, safe=False)
    if pa.types.is_floating(of) and pa.types.is_integer(to):
        return pc.cast(pc.trunc(values), to)
    return pc.cast(values, to)


def spread(values: Values, rows: int) -> pa.Array:
    """A scalar as an array of ``rows`` equal values; arrays as they are."""
    return pa.repeat(values, rows) if isinstance(values, pa.Scalar) else values


def _is_in(call: Typed, values: Values) -> Values:
    of = values.type
    if pa.types.is_null(of):
        return pc.cast(values, pa.bool_())
    value_set = pa.array(exact_values(call.expr.options[0], of), of)
    return pc.if_else(pc.is_valid(values), pc.is_in(values, value_set=value_set), None)


def _when(call: Typed, *arguments: Values) -> Values:
    rows = max((len(a) for a in arguments if isinstance(a, pa.Array)), default=1)
    *pairs, other = arguments
    conditions = [spread(condition, rows) for condition in pairs[::2]]
    names = [str(index) for index in range(len(conditions))]
    chosen = pc.case_when(pc.make_struct(*conditions, field_names=names), *pairs[1::2], other)
    return chosen if any(isinstance(a, pa.Array) for a in arguments) else chosen[0]


def _divide(call: Typed, left: Values, right: Values) -> Values:
    return pc.divide(left, right)


def _round(call: Typed, values: Values) -> Values:
    (digits,) = call.expr.options
    if pa.types.is_integer(values.type) and digits >= 0:
        return values
    return convert(pc.round(values, digits, "half_to_even"), call.type)


def _floor(call: Typed, values: Values) -> Values:
    return values if pa.types.is_integer(values.type) else pc.floor(values)


def _ceil(call: Typed, values: Values) -> Values:
    return values if pa.types.is_integer(values.type) else pc.ceil(values)


def _power(call: Typed, base: Values, exponent: Values) -> Values:
    return (pc.power_checked if pa.types.is_integer(call.type) else pc.power)(base, exponent)


def _cast(call: Typed, values: Values) -> Values:
    return convert(values, call.type)


def _part(function: Any, **options: Any) -> Function:
    def part(call: Typed, values: Values) -> Values:
        return pc.cast(function(values, **options), pa.int64())

    return part


def _truncate(call: Typed, values: Values) -> Values:
    return pc.floor_temporal(values, 1, call.expr.options[0], week_starts_monday=True)


def _list_get(call: Typed, values: Values) -> Values:
    (index,) = call.expr.options
    if pa.types.is_null(values.type):
        return values
    if isinstance(values, pa.Scalar):
        found = values.as_py() or []
        inside = -len(found) <= index < len(found)
        return pa.scalar(found[index] if inside else None, call.type)
    if pa.types.is_fixed_size_list(values.type):
        values = pc.cast(values, pa.list_(values.type.value_type))
    offsets = values.offsets.to_numpy()
    starts, ends = offsets[:-1], offsets[1:]
    wanted = (starts if index >= 0 else ends) + index
    outside = (wanted < starts) | (wanted >= ends)
    if values.null_count:
        outside |= ~values.is_valid().to_numpy(zero_copy_only=False)
    return values.values.take(pa.array(wanted.astype(np.int64), mask=outside))


def _plain(name: str, **options: Any) -> Function:
    function = getattr(pc, name)

    def plain(call: Typed, *arguments: Values) -> Values:
        return function(*arguments, **options)

    return plain


FUNCTIONS: dict[str, Function] = {
    "add": _plain("add_checked"),
    "subtract": _plain("subtract_checked"),
    "multiply": _plain("multiply_checked"),
    "divide": _divide,
    "power": _power,
    "negate": _plain("negate_checked"),
    "abs": _plain("abs_checked"),
    "round": _round,
    "floor": _floor,
    "ceil": _ceil,
    "log": _plain("ln"),
    "exp": _plain("exp"),
    "sqrt": _plain("sqrt"),
    **{name: _plain(name) for name in COMPARISONS},
    "and": _plain("and_kleene"),
    "or": _plain("or_kleene"),
    "not": _plain("invert"),
    "is_null": _plain("is_null"),
    "is_not_null": _plain("is_valid"),
    "is_in": _is_in,
    "fill_null": _plain("coalesce"),
    "min_of": _plain("min_element_wise", skip_nulls=True),
    "max_of": _plain("max_element_wise", skip_nulls=True),
    "when": _when,
    "cast": _cast,
    "dt.year": _part(pc.year),
    "dt.month": _part(pc.month),
    "dt.day": _part(pc.day),
    "dt.hour": _part(pc.hour),
    "dt.minute": _part(pc.minute),
    "dt.second": _part(pc.second),
    "dt.weekday": _part(pc.day_of_week, count_from_zero=True, week_start=1),
    "dt.truncate": _truncate,
    "list.length": _part(pc.list_value_length),
    "list.get": _list_get,
    **arrow_strings.FUNCTIONS,
}
