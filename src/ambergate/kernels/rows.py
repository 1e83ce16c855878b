"""Python functions over the rows of batches: the native loops, prepared for one function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ambergate.errors import ValueTypeError
from ambergate.kernels.conversions import converter, found, refuse_unstarted, row_shaper
from ambergate_native.gate import Gate
from ambergate_native.results import Builder, Results
from ambergate_native.row_values import Reader, Row, attributes_of
from ambergate_native.rows import filter_rows, flat_map_rows, map_rows

__all__ = [
    "Reader",
    "Row",
    "RowFilter",
    "RowFunction",
    "RowOutcome",
    "filter_rows",
    "flat_map_rows",
    "map_rows",
]

FETCHED_ROWS = 1_024  # rows of a nested or temporal column made into objects at once

_imported = pa.Array._import_from_c
_T = pa.types


def _is_plain(kind: pa.DataType) -> bool:
    """Whether the value in the buffer is the value itself."""
    return (
        _T.is_integer(kind) or _T.is_float32(kind) or _T.is_float64(kind) or _T.is_boolean(kind)
        or _T.is_string(kind) or _T.is_large_string(kind) or _T.is_binary(kind)
        or _T.is_large_binary(kind) or _T.is_null(kind)
    )  # fmt: skip


_NO_COUNTS = np.empty(0, np.int64)


class RowOutcome(NamedTuple):
    """How far a call came; ``columns`` are the results of the rows before ``cursor``."""

    status: int
    cursor: int
    columns: list[pa.Array]
    error: BaseException | None
    counts: np.ndarray = _NO_COUNTS  # rows of output of each row of input, for flat_map


class _Given:
    """What a function is given of each row of batches of one schema."""

    def __init__(self, function: Any, name: str, schema: pa.Schema, columns: Sequence[str] | None):
        self.function, self.name = function, name
        self.whole = columns is None
        self.names = tuple(schema.names if columns is None else columns)
        self.positions = tuple(schema.get_field_index(column) for column in self.names)
        self.places = {column: at for at, column in enumerate(self.names)}
        self.attributes = attributes_of(self.places)
        self.plain = bytes(_is_plain(schema.field(at).type) for at in self.positions)

    def reader(self, batch: pa.RecordBatch) -> Reader:
        def fetch(position: int, row: int) -> list[Any]:
            column = batch.column(position)
            try:
                return column.slice(row, FETCHED_ROWS).to_pylist()
            except (ValueError, OverflowError):  # a time that Python cannot say: at which row?
                return column.slice(row, 1).to_pylist()

        return Reader(
            batch, self.names, self.positions, self.plain, fetch, self.places, self.attributes
        )


class RowFunction(_Given):
    """A function that gives rows of declared columns, prepared for batches of one schema.

    Parameters
    ----------
    function : callable
    name : what errors call it
    schema : pa.Schema of the batches
    columns : names of the columns given by position, or None for one ``Row``
    returns : the declared columns
    """

    def __init__(
        self,
        function: Any,
        name: str,
        schema: pa.Schema,
        columns: Sequence[str] | None,
        returns: Mapping[str, pa.DataType],
    ):
        super().__init__(function, name, schema, columns)
        self.types = list(returns.values())
        alone = len(returns) == 1
        builders = [
            Builder(str(kind), converter(name, column, kind, alone))
            for column, kind in returns.items()
        ]
        self.results = Results(tuple(returns), builders, row_shaper(name, tuple(returns)))

    def _columns(self) -> list[pa.Array]:
        return self.results.finish(_imported, self.types, pa.array)

    def map(self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate) -> RowOutcome:
        """One row of results for each row ``start:stop``."""
        status, cursor, error = map_rows(
            self.function, self.reader(batch), self.whole, start, stop, gate, self.results
        )
        return RowOutcome(status, cursor, self._columns(), _own(error))

    def flat_map(
        self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate, most: int
    ) -> RowOutcome:
        """Any number of rows of results for each row; FULL after ``most`` rows of output."""
        counts = np.empty(stop - start, np.int64)
        status, cursor, error = flat_map_rows(
            self.function, self.reader(batch), self.whole, start, stop, gate,
            self._iterable, self.results, most, counts,
        )  # fmt: skip
        return RowOutcome(status, cursor, self._columns(), _own(error), counts[: cursor - start])

    def _iterable(self, result: Any) -> Iterable[Any]:
        """Generators and other iterables of rows; text and dicts are one value, not rows."""
        expected = "an iterable of rows"
        refuse_unstarted(self.name, expected, result)
        if isinstance(result, str | bytes | bytearray | Mapping) or result is None:
            remedy = "return [] for no rows" if result is None else "return a list of one row"
            raise ValueTypeError(self.name, expected, found(result), remedy)
        if not hasattr(result, "__iter__"):
            remedy = "return a list of one row, or use map"
            raise ValueTypeError(self.name, expected, found(result), remedy)
        return result


class RowFilter(_Given):
    """A function of which only the truth of its result counts, or nothing at all (``sink``)."""

    def __init__(
        self,
        function: Any,
        name: str,
        schema: pa.Schema,
        columns: Sequence[str] | None,
        sink: bool = False,
    ):
        super().__init__(function, name, schema, columns)
        self.sink = sink

    def __call__(
        self, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> tuple[int, int, np.ndarray, BaseException | None]:
        """Status, cursor, the rows kept (int64), and the error of the row at the cursor."""
        indices = np.empty(stop - start, np.int64)
        status, cursor, count, error = filter_rows(
            self.function, self.reader(batch), self.whole, start, stop, gate, self._truth, indices
        )
        return status, cursor, indices[:count], _own(error)

    def _truth(self, result: Any) -> bool:
        remedy = "it is written as a generator: replace yield by return"
        refuse_unstarted(self.name, "nothing" if self.sink else "a truth value", result, remedy)
        return False if self.sink else bool(result)


def _own(error: BaseException | None) -> BaseException | None:
    """The error; one about a value has no frames, for they would be ours."""
    if isinstance(error, ValueTypeError):
        error.__traceback__ = None
    return error
