"""Rows grouped and aggregated in one pass."""

from typing import Any, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate_native.aggregation import Records
from ambergate_native.gate import Gate
from ambergate_native.grouping import GroupTable

@final
class Tally:
    """Accumulators over the groups of one table (None: all rows are of group 0)."""

    def __new__(cls, table: GroupTable | None, records: list[Records]) -> Tally: ...
    def update(
        self,
        keys: list[pa.Array[Any]],
        values: list[tuple[pa.Array[Any] | None, pa.Array[Any] | None]],
        start: int,
        stop: int,
        gate: Gate,
        ids: npt.NDArray[np.int64],
    ) -> tuple[int, int]:
        """Take rows ``start:stop`` into their groups, with values and counts: status, cursor."""
