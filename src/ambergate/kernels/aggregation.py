"""Accumulators of aggregates: native records, and rows kept for values of any type."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ambergate.errors import OverflowOfSum
from ambergate.kernels.grouping import has_text
from ambergate.kernels.kept_rows import DistinctCounts, FirstRows, LastRows, Lists
from ambergate_native.aggregation import Counts, Records, newcomers
from ambergate_native.extremes import Decimals, Values
from ambergate_native.sums import FloatSums, Moments, WideSums
from ambergate_native.tallies import Tally
from ambergate_native.texts import Texts

__all__ = ["Accumulator", "Plain", "Tally", "accumulator", "newcomers", "steps"]

Ids = npt.NDArray[np.int64] | None
CHECKED_GROUPS = 65_536


class Accumulator(Protocol):
    """The values of one aggregate, by group.

    ``ids`` holds the group of each row from ``start`` on, as int64, all below the groups reserved;
    None where all rows are of group 0.
    """

    def reserve(self, groups: int) -> None:
        """Have a value for each of ``groups`` groups; new ones are those of no row."""
        ...

    def clear(self) -> None:
        """Forget all groups."""
        ...

    def update(self, ids: Ids, array: pa.Array | None, start: int, stop: int) -> None:
        """Take rows ``start:stop`` of ``array``."""
        ...

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """The results of groups ``first:last``; those too large are an error, or null."""
        ...

    def check(self) -> None:
        """Raise OverflowOfSum where a result does not fit its type."""
        ...

    def export(self) -> Any:
        """All values, as picklable bytes and arrays that later rows do not change."""
        ...

    def load(self, state: Any) -> None:
        """Take what ``export`` gave."""
        ...


def steps(function: str, type_: pa.DataType | None) -> bool:
    """Whether the aggregate can tell its value after each row (has a ``step``)."""
    return type_ is None or isinstance(accumulator(function, type_, ""), Plain | ChosenTexts)


def accumulator(
    function: str, type_: pa.DataType | None, column: str, output: pa.DataType | None = None
) -> Accumulator:
    """The accumulator of ``function`` over values of ``type_`` (None: over rows).

    Parameters
    ----------
    function : name of an aggregate that takes values of this type
    type_ : type of the values, not a dictionary
    column : name of the values, for errors
    output : type of a sum or count, where it is not the one that users see
    """
    if function == "count":
        of = output or pa.int64()
        return Plain(Counts(of.bit_width // 8), of, column)
    assert type_ is not None
    if function == "count_distinct":
        return DistinctCounts(type_)
    if function == "collect_list":
        return Lists(type_)
    if pa.types.is_null(type_):
        return Nothing(type_)
    if function in ("sum", "mean", "var", "std"):
        return _arithmetic(function, type_, column, output)
    if pa.types.is_decimal128(type_):
        return Plain(Decimals(function), type_, column)
    if has_text(type_) or pa.types.is_fixed_size_binary(type_):
        return ChosenTexts(function, type_)
    if type_.num_fields == 0 and _is_word(type_):
        return Plain(Values(function, pa.nulls(0, type_)), type_, column)
    return FirstRows(type_) if function == "first" else LastRows(type_)


def _is_word(type_: pa.DataType) -> bool:
    return (
        pa.types.is_boolean(type_)
        or pa.types.is_integer(type_)
        or pa.types.is_float32(type_)
        or pa.types.is_float64(type_)
        or (pa.types.is_temporal(type_) and not pa.types.is_interval(type_))
    )


def _arithmetic(
    function: str, type_: pa.DataType, column: str, output: pa.DataType | None
) -> Accumulator:
    scale = type_.scale if pa.types.is_decimal128(type_) else 0
    if function in ("var", "std"):
        return Plain(Moments(function, scale), pa.float64(), column)
    if pa.types.is_floating(type_):
        of = "mean" if function == "mean" else "float64"
        return Plain(FloatSums(of), pa.float64(), column)
    if function == "mean":
        return Plain(WideSums("mean", scale), pa.float64(), column)
    if output is None:
        output = _sum_type(type_)
    if pa.types.is_decimal128(output):
        return Plain(WideSums("decimal128"), output, column)
    return Plain(WideSums("uint64" if output == pa.uint64() else "int64"), output, column)


def _sum_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal128(type_):
        return pa.decimal128(38, type_.scale)
    if pa.types.is_duration(type_):
        return type_
    return pa.uint64() if pa.types.is_unsigned_integer(type_) else pa.int64()


class Plain:
    """Results of fixed width, in native records."""

    __slots__ = ("_bits", "column", "is_exact", "records", "type")

    def __init__(self, records: Records, type_: pa.DataType, column: str):
        self.records, self.type, self.column = records, type_, column
        self._bits = pa.types.is_boolean(type_)
        self.is_exact = isinstance(records, WideSums)  # may be too large; rows can be taken back

    def reserve(self, groups: int) -> None:
        """See Accumulator."""
        self.records.reserve(groups)

    def truncate(self, groups: int) -> None:
        """Forget the groups from ``groups`` on."""
        self.records.truncate(groups)

    def clear(self) -> None:
        """See Accumulator."""
        self.records.truncate(0)

    def update(self, ids: Ids, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""
        self.records.update(ids, array, start, stop)

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        values, validity, too_large = self.records.values(first, last)
        if too_large >= 0 and strict:
            raise self.overflow()
        if self._bits:
            values = np.packbits(np.frombuffer(values, np.uint8), bitorder="little")
        buffers = [None if validity is None else pa.py_buffer(validity), pa.py_buffer(values)]
        return pa.Array.from_buffers(self.type, last - first, buffers)

    def overflow(self) -> OverflowOfSum:
        """The error of a sum that does not fit."""
        return OverflowOfSum(self.column, str(self.type))

    def check(self) -> None:
        """See Accumulator."""
        if self.is_exact:
            groups = self.records.groups
            for first in range(0, groups, CHECKED_GROUPS):
                if self.records.values(first, min(first + CHECKED_GROUPS, groups))[2] >= 0:
                    raise self.overflow()

    def step(self, ids: Ids, array: pa.Array | None, start: int, stop: int) -> tuple[pa.Array, int]:
        """Take rows one by one: the value after each, and the row that does not fit (or stop)."""
        rows = stop - start
        values, valid = np.empty(rows * self.records.width, np.uint8), np.empty(rows, np.uint8)
        cursor, nulls = self.records.step(ids, array, start, stop, values, valid)
        rows = cursor - start
        if self._bits:
            values = np.packbits(values[:rows], bitorder="little")
        validity = np.packbits(valid[:rows], bitorder="little") if nulls else None
        buffers = [None if validity is None else pa.py_buffer(validity), pa.py_buffer(values)]
        return pa.Array.from_buffers(self.type, rows, buffers, nulls), cursor

    def undo(self, ids: Ids, array: pa.Array, start: int, stop: int) -> None:
        """Take rows of an exact sum back."""
        self.records.undo(ids, array, start, stop)

    def export(self) -> bytes:
        """See Accumulator."""
        return self.records.export()

    def load(self, state: bytes) -> None:
        """See Accumulator."""
        self.records.load(state)


class ChosenTexts:
    """The least, greatest, first or last text."""

    __slots__ = ("records", "type")

    def __init__(self, function: str, type_: pa.DataType):
        self.records, self.type = Texts(function), type_

    def reserve(self, groups: int) -> None:
        """See Accumulator."""
        self.records.reserve(groups)

    def truncate(self, groups: int) -> None:
        """Forget the groups from ``groups`` on."""
        self.records.truncate(groups)

    def clear(self) -> None:
        """See Accumulator."""
        self.records.truncate(0)

    def update(self, ids: Ids, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""
        self.records.update(ids, array, start, stop)

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        return self._array(last - first, *self.records.texts(first, last, self._width()))

    def check(self) -> None:
        """See Accumulator."""

    def step(self, ids: Ids, array: pa.Array | None, start: int, stop: int) -> tuple[pa.Array, int]:
        """Take rows one by one: the text after each, and ``stop``."""
        parts = self.records.step_texts(ids, array, start, stop, self._width())
        return self._array(stop - start, *parts), stop

    def export(self) -> bytes:
        """See Accumulator."""
        return self.records.export()

    def load(self, state: bytes) -> None:
        """See Accumulator."""
        self.records.load(state)

    def _width(self) -> int:
        return 8 if pa.types.is_large_string(self.type) or self.type == pa.large_binary() else 4

    def _array(self, rows: int, offsets: bytes, texts: bytes, validity: bytes | None) -> pa.Array:
        bits = None if validity is None else pa.py_buffer(validity)
        fixed = pa.types.is_fixed_size_binary(self.type)
        buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(texts)]
        made = pa.Array.from_buffers(pa.binary() if fixed else self.type, rows, buffers)
        return made.cast(self.type) if fixed else made


class Nothing:
    """Results over a column of nulls: nulls."""

    __slots__ = ("type",)

    def __init__(self, type_: pa.DataType):
        self.type = type_

    def reserve(self, groups: int) -> None:
        """See Accumulator."""

    def clear(self) -> None:
        """See Accumulator."""

    def update(self, ids: Ids, array: pa.Array | None, start: int, stop: int) -> None:
        """See Accumulator."""

    def values(self, first: int, last: int, strict: bool = True) -> pa.Array:
        """See Accumulator."""
        return pa.nulls(last - first, self.type)

    def check(self) -> None:
        """See Accumulator."""

    def export(self) -> None:
        """See Accumulator."""

    def load(self, state: None) -> None:
        """See Accumulator."""
