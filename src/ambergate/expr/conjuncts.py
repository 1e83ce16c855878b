"""The simple conditions that must all hold for a predicate to be true."""

from __future__ import annotations

from typing import Any

from ambergate.expr.nodes import Alias, Call, Column, Expr, Literal

__all__ = ["conjuncts_of"]

OPERATIONS = {
    "equal": "==",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
TURNED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
CHECKS = {"is_null": "is_null", "is_not_null": "is_not_null"}


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


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Alias):
        expr = expr.of
    return expr


def _column(expr: Expr) -> str:
    column = _bare(expr)
    assert isinstance(column, Column)
    return column.column
