"""Accumulators: one record for each group, updated by the rows of the groups' numbers."""

from typing import Any, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import disjoint_base

_Numbers = npt.NDArray[np.int64]

@final
class Store:
    """The memory of records; made by the accumulators themselves."""

@disjoint_base
class Records:
    """A record for each group; the subclasses say of what."""

    def __init__(self, *arguments: Any) -> None: ...
    @property
    def groups(self) -> int:
        """Groups there are records of."""
    @property
    def width(self) -> int:
        """Bytes of a result."""
    def reserve(self, groups: int) -> None:
        """Have a record for each of ``groups`` groups; new ones are empty."""
    def truncate(self, groups: int) -> None:
        """Forget the groups from ``groups`` on."""
    def export(self) -> bytes:
        """All records, as bytes."""
    def load(self, records: bytes) -> None:
        """Take what ``export`` gave."""
    def update(
        self,
        ids: _Numbers | None,
        array: pa.Array[Any] | None,
        start: int,
        stop: int,
        counts: pa.Array[Any] | None = None,
    ) -> None:
        """Take rows ``start:stop``, of groups ``ids[row - start]`` (None: all of group 0)."""
    def undo(
        self, ids: _Numbers | None, array: pa.Array[Any] | None, start: int, stop: int
    ) -> None:
        """Take back rows ``start:stop``, which must have been taken before; whole sums only."""
    def step(
        self,
        ids: _Numbers | None,
        array: pa.Array[Any] | None,
        start: int,
        stop: int,
        values: Any,
        valid: npt.NDArray[np.uint8],
    ) -> tuple[int, int]:
        """Take rows one by one, write the result of its group after each: cursor, nulls."""
    def values(self, first: int, last: int) -> tuple[bytes, bytes | None, int]:
        """Results of groups ``first:last``: values, validity bits, first that is too large."""

@final
class Counts(Records):
    """How many rows, or values that are not null; int64, or int16 where ``width`` is 2."""

    def __init__(self, width: int = 8) -> None: ...

def newcomers(ids: _Numbers, start: int, stop: int, known: int) -> bytearray:
    """The rows of ``ids[start:stop]`` that are the first of their group, as int64 indices."""
