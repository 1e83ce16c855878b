from typing import Any, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate_native.gate import Gate
from ambergate_native.ordering import Keys

def sort_run(
    columns: list[pa.Array[Any]],
    descending: list[bool],
    nulls_last: list[bool],
    start: int,
    stop: int,
    most: int = ...,
) -> tuple[Keys, bytearray]:
    """Put rows ``start:stop`` in order, stably: their sorted keys, and int64 row numbers."""

def rows_before(
    columns: list[pa.Array[Any]],
    descending: list[bool],
    nulls_last: list[bool],
    keys: Keys,
    worst: int,
    start: int,
    stop: int,
) -> bytearray:
    """The int64 numbers of the rows ``start:stop`` that sort before row ``worst`` of ``keys``."""

@final
class Merge:
    """Sorted runs becoming one, row by row."""

    def __new__(cls, runs: list[Keys]) -> Merge: ...
    @property
    def rows(self) -> int:
        """Rows not yet pulled."""
    def pull(
        self, places: npt.NDArray[np.int64], start: int, stop: int, gate: Gate | None = None
    ) -> tuple[int, int]:
        """Write the next places (``run << 32 | row``) to ``places[start:stop]``: status, cursor."""
