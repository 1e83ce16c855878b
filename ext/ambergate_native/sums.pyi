"""Sums, means, variances of groups."""

from typing import Any, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate_native.aggregation import Records

_Numbers = npt.NDArray[np.int64]

@final
class FloatSums(Records):
    """Sums of float32 or float64 values, as float64, or their means."""

    def __new__(cls, of: str = "float64") -> FloatSums: ...
    def merge(
        self,
        ids: _Numbers | None,
        sums: pa.Array[Any],
        counts: pa.Array[Any],
        start: int,
        stop: int,
    ) -> None:
        """Add sums of several values each, and as many counts (int64 without nulls)."""

@final
class WideSums(Records):
    """Exact sums of integers, booleans or decimals, or their means."""

    def __new__(cls, of: str = "int64", scale: int = 0) -> WideSums: ...
    def merge(
        self,
        ids: _Numbers | None,
        sums: pa.Array[Any],
        counts: pa.Array[Any],
        start: int,
        stop: int,
    ) -> None:
        """Add sums of several values each, and as many counts (int64 without nulls)."""

@final
class Moments(Records):
    """Sample variances (divided by n - 1), or their roots; null for fewer than two values."""

    def __new__(cls, of: str = "var", scale: int = 0) -> Moments: ...
