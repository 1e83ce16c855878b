"""Aggregates of lists of values, in plain Python: what the native accumulators must give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ambergate.kernels.reference.grouping import canonical


def aggregate(function: str, values: Sequence[Any]) -> Any:
    """The result of ``function`` over the values of one group, in their order.

    Parameters
    ----------
    function : name of the aggregate; variances are those of the values as floats
    values : of one type; None is null; for ``count`` of rows, anything but None

    >>> aggregate("sum", [1, None, 2]), aggregate("mean", [None]), aggregate("first", [None, 1])
    (3, None, None)
    """
    present = [value for value in values if value is not None]
    if function == "count":
        return len(present)
    if function == "count_distinct":
        return len({canonical(value) for value in present})
    if function == "collect_list":
        return list(values)
    if function in ("first", "last"):
        return values[0 if function == "first" else -1] if values else None
    if function in ("var", "std"):
        return _variance(present, function == "std")
    if not present:
        return None
    if function in ("min", "max"):
        return _extreme(function, present)
    total = 0.0 if isinstance(present[0], float) else 0
    for value in present:
        total += value
    if function == "mean":
        return float(total) / len(present)
    return total


def _extreme(function: str, present: Sequence[Any]) -> Any:
    numbers = [value for value in present if value == value]
    choose = min if function == "min" else max
    if isinstance(present[0], float):
        key = lambda value: (value, math.copysign(1.0, value))  # noqa: E731
        return choose(numbers, key=key) if numbers else math.nan
    return choose(present)


def _variance(present: Sequence[Any], root: bool) -> float | None:
    if len(present) < 2:
        return None
    if not all(math.isfinite(value) for value in present):
        return math.nan
    exact = [Fraction(float(value)) for value in present]
    mean = sum(exact) / len(exact)
    variance = float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))
    return math.sqrt(variance) if root else variance
