"""Which parts of an expression the vector machine computes.

What the machine cannot compute (strings, decimals, parts of dates) is a *leaf* of the program, as a
column is: its values come from elsewhere.
"""

from __future__ import annotations

import pyarrow as pa

from ambergate.expr.nodes import Column, Literal
from ambergate.expr.rules import COMPARISONS
from ambergate.expr.types import Typed
from ambergate_native.columns import Kind

__all__ = ["BOUNDS", "class_of", "is_native", "is_plain", "kind_of", "may_fail", "register_class"]

MAX_IN_VALUES = 16  # of is_in; a longer list is looked up by hash elsewhere

is_ = pa.types

KINDS = {
    pa.bool_(): Kind.BOOL,
    pa.int8(): Kind.INT8,
    pa.int16(): Kind.INT16,
    pa.int32(): Kind.INT32,
    pa.int64(): Kind.INT64,
    pa.uint8(): Kind.UINT8,
    pa.uint16(): Kind.UINT16,
    pa.uint32(): Kind.UINT32,
    pa.uint64(): Kind.UINT64,
    pa.float32(): Kind.FLOAT32,
    pa.float64(): Kind.FLOAT64,
}
BOUNDS = {
    pa.int8(): (-(2**7), 2**7 - 1),
    pa.int16(): (-(2**15), 2**15 - 1),
    pa.int32(): (-(2**31), 2**31 - 1),
    pa.uint8(): (0, 2**8 - 1),
    pa.uint16(): (0, 2**16 - 1),
    pa.uint32(): (0, 2**32 - 1),
}
ARITHMETIC = ("add", "subtract", "multiply", "divide", "floor_divide", "modulo", "power")
ONE = ("negate", "abs", "floor", "ceil", "round", "sqrt", "exp", "log")


def kind_of(of: pa.DataType) -> Kind | None:
    """The kind of a column of the type, as the machine stores it; None where it cannot."""
    if of in KINDS:
        return KINDS[of]
    if is_.is_timestamp(of) or is_.is_duration(of) or is_.is_date64(of) or is_.is_time64(of):
        return Kind.INT64
    return Kind.INT32 if is_.is_date32(of) or is_.is_time32(of) else None


def class_of(of: pa.DataType) -> str | None:
    """The class of a register that holds values of the type: b, i, u or f."""
    kind = kind_of(of)
    if kind is None:
        return None
    return {Kind.BOOL: "b", Kind.UINT64: "u", Kind.FLOAT32: "f", Kind.FLOAT64: "f"}.get(kind, "i")


def register_class(of: pa.DataType) -> str:
    """As ``class_of``, of a type that the machine is known to hold."""
    found = class_of(of)
    assert found is not None, f"the vector machine has no {of}"
    return found


def is_plain(of: pa.DataType) -> bool:
    """Whether the type is a number or bool, so that conversions are the machine's."""
    return of in KINDS


def is_native(typed: Typed) -> bool:
    """Whether the machine computes this call (its arguments may be leaves).

    A value that is not chosen must not fail; so choices between leaves that may are no business of
    the machine, which has the values of a leaf for all rows.
    """
    if not _has_operation(typed):
        return False
    chooses = typed.expr.function in ("when", "fill_null")
    return not (chooses and any(map(_leaf_may_fail, typed.arguments)))


def _has_operation(typed: Typed) -> bool:
    expr = typed.expr
    if isinstance(expr, (Column, Literal)) or kind_of(typed.type) is None:
        return False
    function = expr.function
    if function in ("is_null", "is_not_null"):
        return class_of(typed.arguments[0].type) is not None
    wants = [
        wanted or argument.type
        for argument, wanted in zip(typed.arguments, typed.wants, strict=True)
    ]
    for argument, wanted in zip(typed.arguments, wants, strict=True):
        if kind_of(wanted) is None:
            return False
        known = argument.type.equals(wanted) or is_.is_null(argument.type) or argument.loose
        if not known and not (is_plain(argument.type) and is_plain(wanted)):
            return False
    plain = all(map(is_plain, wants)) and is_plain(typed.type)
    if function in ARITHMETIC or function in ONE:
        if function == "round" and typed.expr.options[0] != 0:
            return is_.is_integer(typed.type) and typed.expr.options[0] > 0
        return plain or function in ("add", "subtract") or (function in ("negate", "abs"))
    if function in COMPARISONS:
        return plain or all(of.equals(wants[0]) for of in wants)
    if function == "is_in":
        return 0 < len(typed.expr.options[0]) <= MAX_IN_VALUES
    if function == "cast":
        return plain
    return function in ("and", "or", "not", "fill_null", "min_of", "max_of", "when")


MAY_FAIL = frozenset(("cast", *ARITHMETIC, "negate", "abs", "round"))


def may_fail(typed: Typed) -> bool:
    """Whether some row of a call outside the machine may raise."""
    if isinstance(typed.expr, (Column, Literal)):
        return False
    turned = any(
        wanted is not None and not wanted.equals(argument.type) and not argument.loose
        for argument, wanted in zip(typed.arguments, typed.wants, strict=True)
    )
    return turned or typed.expr.function in MAY_FAIL or any(map(may_fail, typed.arguments))


def _leaf_may_fail(typed: Typed) -> bool:
    return any(map(_leaf_may_fail, typed.arguments)) if _has_operation(typed) else may_fail(typed)
