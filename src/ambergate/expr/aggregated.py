"""The methods that make an aggregate of an expression, for ``agg`` and ``group_by(...).agg``."""

from __future__ import annotations

from ambergate.expr.aggregates import Aggregate

__all__ = ["Aggregated"]


class Aggregated:
    """What of the values of a group is wanted.

    >>> from ambergate.expr import col
    >>> str((col("price") * 2).sum())
    'sum(price * 2)'
    """

    __slots__ = ()

    def count(self) -> Aggregate:
        """How many values are not null."""
        return Aggregate("count", self)

    def sum(self) -> Aggregate:
        """The sum of the values."""
        return Aggregate("sum", self)

    def mean(self) -> Aggregate:
        """The arithmetic mean of the values."""
        return Aggregate("mean", self)

    def min(self) -> Aggregate:
        """The least value."""
        return Aggregate("min", self)

    def max(self) -> Aggregate:
        """The greatest value."""
        return Aggregate("max", self)

    def first(self) -> Aggregate:
        """The value of the first row."""
        return Aggregate("first", self)

    def last(self) -> Aggregate:
        """The value of the last row."""
        return Aggregate("last", self)

    def var(self) -> Aggregate:
        """The sample variance (divided by n - 1)."""
        return Aggregate("var", self)

    def std(self) -> Aggregate:
        """The sample standard deviation."""
        return Aggregate("std", self)

    def collect_list(self) -> Aggregate:
        """All values as a list."""
        return Aggregate("collect_list", self)

    def count_distinct(self) -> Aggregate:
        """How many different values there are."""
        return Aggregate("count_distinct", self)
