"""The simple conditions that must all hold for a predicate to be true."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ambergate.expr.nodes import Alias, Call, Column, Expr, Literal
from ambergate.expr.types import Typed, annotate

__all__ = ["cannot_raise", "conjuncts_of"]

OPERATIONS = {
    "equal": "==",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
TURNED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
CHECKS = {"is_null": "is_null", "is_not_null": "is_not_null"}
TOTAL = {  # have a value for whatever they are given
    *OPERATIONS,
    *("not_equal", "and", "or", "not", "is_null", "is_not_null", "is_in", "is_between"),
    *("str.contains", "str.starts_with", "str.ends_with", "str.length", "list.length"),
    *("dt.year", "dt.month", "dt.day", "dt.weekday", "dt.hour", "dt.minute", "dt.second"),
}
TOTAL_OF_FLOATS = {
    *("add", "subtract", "multiply", "divide", "floor_divide", "modulo", "power", "negate"),
    *("abs", "sqrt", "log", "exp", "floor", "ceil", "round", "min_of", "max_of", "fill_null"),
}


def conjuncts_of(predicate: Expr) -> tuple[tuple[str, str, Any], ...]:
    """(column, operation, value) for each comparison of a column with a constant.

    What is not of this form is left out: the predicate implies every conjunct, not the reverse.

    >>> from ambergate.expr import col
    >>> conjuncts_of((col("a") > 1) & (2 >= col("b")) & (col("a") + col("b") == 3))
    (('a', '>', 1), ('b', '<=', 2))
    """
    predicate = _bare(predicate)
    if not isinstance(predicate, Call):
        return ()
    if predicate.function == "and":
        found: list[tuple[str, str, Any]] = []
        for argument in predicate.arguments:
            found += conjuncts_of(argument)
        return tuple(found)
    if predicate.function == "is_between":
        value, low, high = predicate.arguments
        return conjuncts_of((value >= low) & (value <= high))
    if predicate.function in CHECKS and isinstance(_bare(predicate.arguments[0]), Column):
        return ((_column(predicate.arguments[0]), CHECKS[predicate.function], None),)
    operation = OPERATIONS.get(predicate.function)
    if operation is None or len(predicate.arguments) != 2:
        return ()
    left, right = (_bare(argument) for argument in predicate.arguments)
    if isinstance(left, Column) and isinstance(right, Literal):
        return ((left.column, operation, right.value),)
    if isinstance(left, Literal) and isinstance(right, Column):
        return ((right.column, TURNED[operation], left.value),)
    return ()


def cannot_raise(expr: Expr, schema: pa.Schema) -> bool:
    """Whether ``expr`` has a value for every row; False in doubt.

    >>> from ambergate.expr import col
    >>> schema = pa.schema({"i": pa.int64(), "f": pa.float64()})
    >>> cannot_raise((col("i") > 1) & (col("f") * 2 > 1), schema), cannot_raise(-col("i"), schema)
    (True, False)
    """
    return _is_total(annotate(expr, schema))


def _is_total(typed: Typed) -> bool:
    call = typed.expr
    if not isinstance(call, Call):
        return True
    floating = pa.types.is_floating(typed.type) and call.function in TOTAL_OF_FLOATS
    if call.function not in TOTAL and not floating:
        return False
    for argument, wanted in zip(typed.arguments, typed.wants, strict=True):
        exact = wanted is None or wanted == argument.type or pa.types.is_floating(wanted)
        if not (_is_total(argument) and (exact or isinstance(argument.expr, Literal))):
            return False
    return True


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Alias):
        expr = expr.of
    return expr


def _column(expr: Expr) -> str:
    column = _bare(expr)
    assert isinstance(column, Column)
    return column.column
