"""Sums, means, variances of groups."""

from typing import final

from ambergate_native.aggregation import Records

@final
class FloatSums(Records):
    """Sums of float32 or float64 values, as float64, or their means."""

    def __init__(self, of: str = "float64") -> None: ...

@final
class WideSums(Records):
    """Exact sums of integers, booleans or decimals, or their means."""

    def __init__(self, of: str = "int64", scale: int = 0) -> None: ...

@final
class Moments(Records):
    """Sample variances (divided by n - 1), or their roots; null for fewer than two values."""

    def __init__(self, of: str = "var", scale: int = 0) -> None: ...
