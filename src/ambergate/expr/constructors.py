"""What users write expressions with: columns, constants, conditions and aggregates."""

from __future__ import annotations

import datetime as dt
import decimal
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ambergate.expr.aggregates import Aggregate
from ambergate.expr.nodes import Call, Column, Expr, Literal, as_expr

__all__ = [
    "When",
    "col",
    "collect_list",
    "count",
    "count_distinct",
    "first",
    "last",
    "lit",
    "max",
    "max_of",
    "mean",
    "min",
    "min_of",
    "std",
    "sum",
    "var",
    "when",
]

PLAIN = (
    bool,
    int,
    float,
    str,
    bytes,
    decimal.Decimal,
    dt.date,
    dt.time,
    dt.timedelta,
    type(None),
)


def col(name: str) -> Expr:
    """The column ``name``.

    >>> col("price") * 2
    col("price") * 2
    """
    if not isinstance(name, str):
        raise TypeError(f"col needs the name of one column, got {name!r}")
    return Column(name)


def lit(value: Any, type: pa.DataType | str | None = None) -> Expr:
    """The constant ``value``, as Arrow ``type`` where one is given.

    >>> lit(5) + col("a")
    5 + col("a")
    >>> lit(5, "int8")
    lit(5, "int8")
    """
    if isinstance(value, pa.Scalar):
        value, type = value.as_py(), value.type if type is None else type
    elif hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a NumPy scalar
    if isinstance(value, (list, tuple)):
        value = tuple(value)
    elif not isinstance(value, PLAIN):
        raise TypeError(
            f"lit needs a number, string, bytes, date, time, list or None, got {value!r}"
        )
    if type is None:
        return Literal(value)
    from ambergate.expr.types import data_type

    return Literal(value, data_type(type))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class When(Call):
    """Conditions with values so far; null where none holds. ``when`` and ``otherwise`` go on."""

    def when(self, condition: Any) -> Then:
        """Another condition, for the rows where none before it holds."""
        return Then(self.arguments[:-1], as_expr(condition))

    def otherwise(self, value: Any) -> Expr:
        """The value where no condition holds."""
        return Call("when", (*self.arguments[:-1], as_expr(value)))


@dataclass(frozen=True, slots=True)
class Then:
    """A condition that waits for its value."""

    before: tuple[Expr, ...]
    condition: Expr

    def then(self, value: Any) -> When:
        """The value where the condition holds."""
        return When("when", (*self.before, self.condition, as_expr(value), Literal(None)))

    def __bool__(self) -> bool:
        raise TypeError("when(condition) needs .then(value)")


def when(condition: Any) -> Then:
    """A choice by row: ``when(c).then(x).when(d).then(y).otherwise(z)``; strings are constants.

    >>> when(col("v") > 9).then("high").otherwise("low")
    when(col("v") > 9).then("high").otherwise("low")
    """
    return Then((), as_expr(condition))


def min_of(*values: Any) -> Expr:
    """The least of several values of the row; nulls are passed over."""
    return _of("min_of", values)


def max_of(*values: Any) -> Expr:
    """The greatest of several values of the row; nulls are passed over.

    >>> max_of(col("a"), col("b"), 0)
    max_of(col("a"), col("b"), 0)
    """
    return _of("max_of", values)


def _of(function: str, values: tuple[Any, ...]) -> Expr:
    if not values:
        raise TypeError(f"{function} needs at least one expression")
    return Call(function, tuple(as_expr(value) for value in values))


def count(of: Expr | str | None = None) -> Aggregate:
    """How many rows; with a column or expression, how many of its values are not null.

    >>> str(count()), str(sum("v")), str(mean(col("v") * 2))
    ('count()', 'sum(v)', 'mean(v * 2)')
    """
    return Aggregate("count", None if of is None else _argument("count", of))


def sum(of: Expr | str) -> Aggregate:
    """The sum of the values."""
    return Aggregate("sum", _argument("sum", of))


def mean(of: Expr | str) -> Aggregate:
    """The arithmetic mean of the values."""
    return Aggregate("mean", _argument("mean", of))


def min(of: Expr | str) -> Aggregate:
    """The least value."""
    return Aggregate("min", _argument("min", of))


def max(of: Expr | str) -> Aggregate:
    """The greatest value."""
    return Aggregate("max", _argument("max", of))


def first(of: Expr | str) -> Aggregate:
    """The value of the first row."""
    return Aggregate("first", _argument("first", of))


def last(of: Expr | str) -> Aggregate:
    """The value of the last row."""
    return Aggregate("last", _argument("last", of))


def var(of: Expr | str) -> Aggregate:
    """The sample variance (divided by n - 1)."""
    return Aggregate("var", _argument("var", of))


def std(of: Expr | str) -> Aggregate:
    """The sample standard deviation."""
    return Aggregate("std", _argument("std", of))


def collect_list(of: Expr | str) -> Aggregate:
    """All values as a list."""
    return Aggregate("collect_list", _argument("collect_list", of))


def count_distinct(of: Expr | str) -> Aggregate:
    """How many different values there are."""
    return Aggregate("count_distinct", _argument("count_distinct", of))


def _argument(function: str, of: Any) -> Expr | str:
    if not isinstance(of, (str, Expr)):
        raise TypeError(f"{function} needs a column name or an expression, got {of!r}")
    return of
