"""Aggregates as data: which function over which values, and the types they take and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ambergate.errors import ExpressionError

__all__ = ["AGGREGATES", "Aggregate"]

SUM_DIGITS = 38  # of a sum of decimals

# What each function takes, in words.
AGGREGATES = {
    "count": "any values",
    "sum": "numbers, booleans, decimals or durations",
    "mean": "numbers, booleans or decimals",
    "min": "values that have an order",
    "max": "values that have an order",
    "first": "any values",
    "last": "any values",
    "var": "numbers, booleans or decimals",
    "std": "numbers, booleans or decimals",
    "collect_list": "any values",
    "count_distinct": "values that can be keys",
}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a group.

    Nulls are passed over, but ``count()`` counts rows, ``collect_list`` keeps nulls, and ``first``
    and ``last`` take their row as it is. A group without values has a null sum, mean, min, max,
    var and std, and the count 0.

    Parameters
    ----------
    function : name of the function, one of ``AGGREGATES``
    argument : an expression, a column name, or None to count rows

    Raises
    ------
    ExpressionError
        There is no such function, or it needs an argument.

    Examples
    --------
    >>> str(Aggregate("sum", "v")), str(Aggregate("count"))
    ('sum(v)', 'count()')
    """

    function: str
    argument: Any = None

    def __post_init__(self) -> None:
        if self.function not in AGGREGATES:
            raise ExpressionError(
                self.function,
                "there is no such aggregate",
                f"the aggregates are {', '.join(AGGREGATES)}",
            )
        if self.argument is None and self.function != "count":
            raise ExpressionError(str(self), "needs a column", f"write {self.function}('column')")

    def __str__(self) -> str:
        return f"{self.function}({'' if self.argument is None else self.argument})"

    def input_type(self, schema: pa.Schema) -> pa.DataType | None:
        """The type of the argument over ``schema``, of a dictionary's values; None without one.

        Raises
        ------
        ExpressionError
            There is no such column; near names are told.
        """
        from ambergate.expr.nodes import Column

        if self.argument is None:
            return None
        of = Column(self.argument) if isinstance(self.argument, str) else self.argument
        found = of.type(schema)
        return found.value_type if pa.types.is_dictionary(found) else found

    def output_type(self, schema: pa.Schema) -> pa.DataType:
        """The type of the result over ``schema``.

        Sums of integers and booleans are int64, or uint64 where unsigned, those of floats float64,
        those of decimals decimal128 of 38 digits; mean, var and std are float64.

        Raises
        ------
        ExpressionError
            There is no such column, or its type does not fit: names both, and what would fit.
        """
        found = self.input_type(schema)
        if self.function in ("count", "count_distinct"):
            of = pa.int64() if found is None or self._takes(found) else None
        else:
            assert found is not None
            of = self._output_type(found) if self._takes(found) else None
        if of is None:
            raise ExpressionError(
                str(self),
                f"{self.function} takes {AGGREGATES[self.function]}, found {found}",
                "declare the column's type" if pa.types.is_null(found) else "cast it first",
            )
        return of

    def _takes(self, of: pa.DataType) -> bool:
        if self.function in ("count", "first", "last", "collect_list"):
            return True
        numbers = (
            pa.types.is_boolean(of)
            or pa.types.is_integer(of)
            or pa.types.is_float32(of)
            or pa.types.is_float64(of)
            or pa.types.is_decimal128(of)
        )
        if self.function == "sum":
            return numbers or pa.types.is_duration(of)
        if self.function in ("mean", "var", "std"):
            return numbers
        return (
            numbers
            or pa.types.is_null(of)
            or (pa.types.is_temporal(of) and not pa.types.is_interval(of))
            or pa.types.is_string(of)
            or pa.types.is_large_string(of)
            or pa.types.is_binary(of)
            or pa.types.is_large_binary(of)
            or pa.types.is_fixed_size_binary(of)
        )

    def _output_type(self, of: pa.DataType) -> pa.DataType:
        if self.function in ("mean", "var", "std"):
            return pa.float64()
        if self.function == "collect_list":
            return pa.list_(of)
        if self.function != "sum" or pa.types.is_duration(of):
            return of
        if pa.types.is_decimal128(of):
            return pa.decimal128(SUM_DIGITS, of.scale)
        if pa.types.is_floating(of):
            return pa.float64()
        return pa.uint64() if pa.types.is_unsigned_integer(of) else pa.int64()
