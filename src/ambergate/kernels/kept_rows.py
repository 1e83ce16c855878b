"""Accumulators that keep rows: lists, distinct values, first and last values of any type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate.kernels.gathering import ChunkedRows
from ambergate.kernels.grouping import Grouper
from ambergate_native.aggregation import Counts, newcomers
from ambergate_native.gate import Gate

__all__ = ["DistinctCounts", "FirstRows", "LastRows", "Lists"]

Ids = npt.NDArray[np.int64]
SPARE_ROWS = 4096  # kept rows that are no longer needed, and may stay


def ids_of(ids: Ids | None, rows: int) -> Ids:
    """The groups of ``rows`` rows; zeros where there is only one group."""
    return np.zeros(rows, np.int64) if ids is None else ids[:rows]


def copied(array: pa.Array, start: int, stop: int) -> pa.Array:
    """Rows of an array in memory of their own."""
    return pa.concat_arrays([array.slice(start, stop - start), array.slice(0, 0)])


class Lists:
    """All values of each group, nulls too, in the order in which they came."""

    def __init__(self, type_: pa.DataType):
        self.type = type_
        self.clear()

    def reserve(self, groups: int) -> None:
        """See Accumulator."""
        self._groups = max(self._groups, groups)

    def clear(self) -> None:
        """See Accumulator."""
        self._groups = 0
        self._values: list[pa.Array] = []
        self._ids: list[Ids] = []
        self._order: tuple[Ids, Ids] | None = None  # rows by group, and where each group begins

    def update(self, ids: Ids | None, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""
        assert array is not None
        if start == stop:
            return
        self._values.append(copied(array, start, stop))
        self._ids.append(ids_of(ids, stop - start).copy())
        self._order = None

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        self._merge()
        if self._order is None:
            ids = self._ids[0] if self._ids else np.empty(0, np.int64)
            ends = np.cumsum(np.bincount(ids, minlength=self._groups))
            self._order = np.argsort(ids, kind="stable"), np.concatenate([[0], ends])
        rows, begins = self._order
        begins = begins[first : last + 1]
        values = self._values[0] if self._values else pa.nulls(0, self.type)
        values = values.take(pa.array(rows[begins[0] : begins[-1]]))
        offsets = pa.array((begins - begins[0]).astype(np.int32))
        return pa.ListArray.from_arrays(offsets, values, type=pa.list_(self.type))

    def _merge(self) -> None:
        if len(self._values) > 1:
            self._values = [pa.concat_arrays(self._values)]
            self._ids = [np.concatenate(self._ids)]

    def check(self) -> None:
        """See Accumulator."""

    def export(self) -> Any:
        """See Accumulator."""
        return self._groups, list(self._values), list(self._ids)

    def load(self, state: Any) -> None:
        """See Accumulator."""
        self.clear()
        self._groups, values, ids = state
        self._values, self._ids = list(values), list(ids)


class DistinctCounts:
    """How many different values that are not null; NaN is one, -0.0 and 0.0 are one."""

    def __init__(self, type_: pa.DataType):
        self.type = pa.int64()
        self._pairs, self._counts = Grouper([pa.int64(), type_]), Counts()
        self._gate = Gate()
        self._gate.reset()

    def reserve(self, groups: int) -> None:
        """See Accumulator."""
        self._counts.reserve(groups)

    def clear(self) -> None:
        """See Accumulator."""
        self._pairs.clear()
        self._counts.truncate(0)

    def update(self, ids: Ids | None, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""
        assert array is not None
        rows = stop - start
        groups, pairs = ids_of(ids, rows), np.empty(rows, np.int64)
        columns = [pa.array(groups), array.slice(start, rows)]
        known = self._pairs.count
        self._pairs.assign(columns, 0, rows, self._gate, pairs)
        new = np.frombuffer(newcomers(pairs, 0, rows, known), np.int64)
        if len(new):
            self._counts.update(groups[new], columns[1].take(pa.array(new)), 0, len(new))

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        counts = self._counts.values(first, last)[0]
        return pa.Array.from_buffers(pa.int64(), last - first, [None, pa.py_buffer(counts)])

    def check(self) -> None:
        """See Accumulator."""

    def export(self) -> Any:
        """See Accumulator."""
        return self._pairs.export(), self._counts.export()

    def load(self, state: Any) -> None:
        """See Accumulator."""
        pairs, counts = state
        self._pairs.load(pairs)
        self._counts.load(counts)


class FirstRows:
    """The first value of each group, null or not, of any type.

    Groups are numbered as they come, so the values kept are in the order of the groups.
    """

    def __init__(self, type_: pa.DataType):
        self.type = type_
        self.clear()

    def reserve(self, groups: int) -> None:
        """See Accumulator."""
        self._groups = max(self._groups, groups)

    def clear(self) -> None:
        """See Accumulator."""
        self._groups = self._known = 0
        self._values: list[pa.Array] = []

    def update(self, ids: Ids | None, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""
        assert array is not None
        groups = ids_of(ids, stop - start)
        rows = np.frombuffer(newcomers(groups, 0, stop - start, self._known), np.int64)
        if len(rows):
            self._known += len(rows)
            self._values.append(array.take(pa.array(rows + start)))

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        if len(self._values) > 1:
            self._values = [pa.concat_arrays(self._values)]
        part = [values.slice(first, last - first) for values in self._values]
        missing = last - max(self._known, first)
        if missing > 0:
            part.append(pa.nulls(missing, self.type))
        return part[0] if len(part) == 1 else pa.concat_arrays(part or [pa.nulls(0, self.type)])

    def check(self) -> None:
        """See Accumulator."""

    def export(self) -> Any:
        """See Accumulator."""
        return self._groups, self._known, list(self._values)

    def load(self, state: Any) -> None:
        """See Accumulator."""
        self._groups, self._known, values = state
        self._values = list(values)


class LastRows:
    """The last value of each group, null or not, of any type; old ones are dropped in time."""

    def __init__(self, type_: pa.DataType):
        self.type = type_
        self.clear()

    def reserve(self, groups: int) -> None:
        """See Accumulator."""
        if groups > len(self._places):
            more = np.full(max(groups, 2 * len(self._places)) - len(self._places), -1, np.int64)
            self._places = np.concatenate([self._places, more])
        self._groups = max(self._groups, groups)

    def clear(self) -> None:
        """See Accumulator."""
        self._groups = 0
        self._places = np.empty(0, np.int64)  # of each group: chunk << 32 | row, or -1
        self._rows = ChunkedRows(pa.schema({"value": self.type}))

    def update(self, ids: Ids | None, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""
        assert array is not None
        if start == stop:
            return
        groups, back = np.unique(ids_of(ids, stop - start)[::-1], return_index=True)
        self._keep(array.take(pa.array(stop - 1 - back)), groups)
        if self._rows.rows > 2 * self._groups + SPARE_ROWS:
            self.load(self.export())

    def _keep(self, values: pa.Array, groups: Ids) -> None:
        chunk = self._rows.append(pa.record_batch([values], schema=self._rows.schema))
        self._places[groups] = chunk << 32 | np.arange(len(groups))

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        return self._rows.gather(self._places, first, last, optional=True)[0]

    def check(self) -> None:
        """See Accumulator."""

    def export(self) -> Any:
        """See Accumulator."""
        return self.values(0, self._groups), self._places[: self._groups] < 0

    def load(self, state: Any) -> None:
        """See Accumulator."""
        values, absent = state
        self.clear()
        self.reserve(len(values))
        self._keep(values, np.arange(len(values)))
        self._places[: len(values)][absent] = -1
