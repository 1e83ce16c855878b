"""Expressions: what users write about the values of a row, as data."""

from ambergate.expr.aggregates import Aggregate
from ambergate.expr.constructors import (
    col,
    collect_list,
    count,
    count_distinct,
    first,
    last,
    lit,
    max,
    max_of,
    mean,
    min,
    min_of,
    std,
    sum,
    var,
    when,
)
from ambergate.expr.nodes import Expr

__all__ = [
    "Aggregate",
    "Expr",
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
