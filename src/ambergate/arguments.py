"""How arguments that users write in several ways are understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ambergate.errors import PlanError
from ambergate.expr.nodes import Column, Expr, as_expr
from ambergate.type_names import parse_type

Types = Mapping[str, str | pa.DataType]


def names_of_columns(columns: list[str] | str | None) -> tuple[str, ...] | None:
    """Column names as a tuple; one name may stand alone."""
    if columns is None:
        return None
    return (columns,) if isinstance(columns, str) else tuple(columns)


def types_of(operator: str, returns: Types | None) -> dict[str, pa.DataType]:
    """The declared types of what a function returns; PlanError where there are none."""
    if not returns:
        raise PlanError(
            operator,
            "returns= is missing: the types of what a function returns cannot be known",
            'write returns={"column": "int64"}',
        )
    return parsed_types(operator, returns)


def parsed_types(operator: str, types: Types) -> dict[str, pa.DataType]:
    """Types by name, or Arrow's own; PlanError that names the column where one is unknown."""
    parsed: dict[str, pa.DataType] = {}
    for column, each in types.items():
        try:
            parsed[column] = parse_type(each)
        except (TypeError, ValueError) as error:
            raise PlanError(operator, f"column {column!r}: {error}") from None
    return parsed


def named_columns(
    operator: str, columns: tuple[str | Expr, ...], computed: dict[str, Any]
) -> tuple[tuple[str, Expr], ...]:
    """Names, expressions and name=expression, in order, as (name, expression)."""
    named: dict[str, Expr] = {}
    for each in columns:
        expression = Column(each) if isinstance(each, str) else each
        if not isinstance(expression, Expr):
            raise PlanError(operator, f"{each!r} is neither a column name nor an expression")
        if expression.name in named:
            raise PlanError(operator, f"column {expression.name!r} is given twice")
        named[expression.name] = expression
    for label, value in computed.items():
        if label in named:
            raise PlanError(operator, f"column {label!r} is given twice")
        named[label] = as_expr(value)
    return tuple(named.items())
