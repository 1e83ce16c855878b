"""Rows to groups: dense numbers for keys, in the order in which keys first come."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import disjoint_base

from ambergate_native.gate import Gate

_Numbers = npt.NDArray[np.int64]

@disjoint_base
class GroupTable:
    """Groups of rows with equal keys; made with a sample array of the type of each column."""

    def __new__(cls, samples: list[pa.Array[Any]]) -> Self: ...
    @property
    def count(self) -> int:
        """Groups, numbered from 0 in the order in which they came."""
    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
    def assign(
        self, columns: list[pa.Array[Any]], start: int, stop: int, gate: Gate, ids: _Numbers
    ) -> tuple[int, int]:
        """Write the group of each row to ``ids[row - start]``, making new ones: status, cursor."""
    def find(
        self,
        columns: list[pa.Array[Any]],
        start: int,
        stop: int,
        gate: Gate,
        ids: _Numbers,
        nulls_match: bool = False,
    ) -> tuple[int, int]:
        """As ``assign``, but a key that has no group gets -1."""
    def truncate(self, count: int) -> None:
        """Forget the groups from ``count`` on, as if they had not come."""
    def clear(self) -> None:
        """Forget all groups; memory is kept for others."""
    def validity(self, index: int, first: int, last: int) -> bytes | None:
        """Validity bits of groups ``first:last`` of a key column, or None where all are valid."""
    def values(self, index: int, first: int, last: int) -> bytes:
        """Values of groups ``first:last`` of a key column of fixed width."""
    def texts(self, index: int, first: int, last: int) -> tuple[bytes, bytes]:
        """Offsets and bytes of groups ``first:last`` of a key column of texts."""
