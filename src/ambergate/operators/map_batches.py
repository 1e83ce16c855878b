"""One call of a function for each so many rows, as an Arrow batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.errors import ValueTypeError
from ambergate.kernels.conversions import found, refuse_unstarted
from ambergate.kernels.selection import take_batch
from ambergate.operators.base import (
    DONE,
    FULL,
    OUTPUT_ROWS,
    RAISED,
    STOPPED,
    Executor,
    Gate,
    Operator,
    Progress,
    Seat,
)
from ambergate.operators.functions import declared, function_name, is_callable

__all__ = ["MapBatches", "MapBatchesExecutor"]


@dataclass(frozen=True, slots=True)
class MapBatches(Operator):
    """Call ``fn`` with batches of exactly ``rows`` rows; the last one may be shorter.

    ``fn`` gets a ``pa.RecordBatch`` and returns a batch, a table, anything with an Arrow stream, or
    a dict of arrays, with just the columns of ``returns``; of any number of rows. Rows are gathered
    across the input's batches, so that the cut does not depend on them. A function that raises is
    reported at the row that made its batch full.
    """

    kind: ClassVar[str] = "map_batches"
    retains: ClassVar[frozenset[int]] = frozenset({0})  # the function may keep what it is given

    fn: Callable[[pa.RecordBatch], Any]
    returns: Mapping[str, pa.DataType]
    rows: int = 4_096

    def __post_init__(self) -> None:
        object.__setattr__(self, "returns", declared(self.returns))
        if not isinstance(self.rows, int) or self.rows < 1:
            raise ValueError(f"rows= must be a number of rows, 1 at least, got {self.rows!r}")

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The schema downstream."""
        is_callable(name, self.fn)
        return pa.schema(list(self.returns.items()))

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """The runtime half of one task."""
        return MapBatchesExecutor(self, seat, inputs[0])


class MapBatchesExecutor:
    """Holds the rows that do not make a whole batch yet."""

    def __init__(self, operator: MapBatches, seat: Seat, schema: pa.Schema):
        self.fn, self.rows, self.input_schema = operator.fn, operator.rows, schema
        self.schema = operator.output_schema(seat.operator, schema)
        self.name = function_name(operator.fn)
        self.pieces: list[pa.RecordBatch] = []
        self.held = 0

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See ``Executor.process``."""
        row, outputs, made = start, [], 0
        while row < stop:
            end = gate.rows(row, min(row + self.rows - self.held, stop))
            if end == row:
                return Progress(STOPPED, row, outputs)
            piece = batch.slice(row, end - row)
            if self.held + end - row == self.rows:
                try:
                    results = self.call([*self.pieces, piece])
                except BaseException as error:
                    self.hold(piece.slice(0, end - row - 1))
                    return Progress(RAISED, end - 1, outputs, own_frames(error))
                self.pieces, self.held = [], 0
                outputs += results
                made += sum(result.num_rows for result in results)
            else:
                self.hold(piece)
            row = end
            if made >= OUTPUT_ROWS and row < stop:
                return Progress(FULL, row, outputs)
        return Progress(DONE, row, outputs)

    def hold(self, piece: pa.RecordBatch) -> None:
        """Keep rows until a batch is whole."""
        if piece.num_rows:
            self.pieces.append(piece)
            self.held += piece.num_rows

    def call(self, pieces: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """The function's result for one batch, cut to OUTPUT_ROWS."""
        whole = pieces[0] if len(pieces) == 1 else pa.concat_batches(pieces)
        table = self.checked(self.fn(whole))
        return [part for part in table.to_batches(max_chunksize=OUTPUT_ROWS) if part.num_rows]

    def checked(self, result: Any) -> pa.Table:
        """The result as a table of just the declared columns and types."""
        names = self.schema.names
        expected = f"a batch, table or dict with the columns {names!r}"
        refuse_unstarted(self.name, expected, result, "return one batch, of any number of rows")
        if isinstance(result, Mapping):
            given = dict(result)
        elif hasattr(result, "__arrow_c_stream__") or hasattr(result, "__arrow_c_array__"):
            table = pa.table(result)
            given = dict(zip(table.column_names, table.columns, strict=True))
        else:
            raise ValueTypeError(self.name, expected, found(result))
        if given.keys() != set(names):
            raise ValueTypeError(self.name, expected, f"the columns {list(given)!r}")
        columns = [self.column(name, given[name]) for name in names]
        lengths = {name: len(column) for name, column in zip(names, columns, strict=True)}
        if len(set(lengths.values())) > 1:
            raise ValueTypeError(self.name, "columns of one length", f"lengths {lengths!r}")
        return pa.table(columns, schema=self.schema)

    def column(self, name: str, values: Any) -> pa.Array | pa.ChunkedArray:
        """One column of the result, of just its declared type."""
        kind = self.schema.field(name).type
        expected = f"{kind} for column {name!r}"
        if not isinstance(values, pa.Array | pa.ChunkedArray):
            try:
                listed = not isinstance(values, np.ndarray)
                values = pa.array(values)
                if listed and lossless(values.type, kind):
                    values = values.cast(kind)  # a list says no width; lossless, or it raises
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise ValueTypeError(self.name, expected, found(values), str(error)) from None
        if pa.types.is_null(values.type):
            return values.cast(kind)
        if values.type != kind:
            remedy = f"cast it, or declare returns={{{name!r}: {str(values.type)!r}}}"
            raise ValueTypeError(self.name, expected, f"an array of {values.type}", remedy)
        return values

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """Call the function once more for the rows left."""
        if self.held:
            results = self.call(self.pieces)
            self.pieces, self.held = [], 0
            yield from results

    def snapshot(self) -> pa.RecordBatch | None:
        """The rows held."""
        if not self.held:
            return None
        whole = pa.concat_batches(self.pieces)
        return take_batch(whole, np.arange(whole.num_rows))  # a slice would carry its whole batch

    def restore(self, state: pa.RecordBatch | None) -> None:
        """Hold the rows again."""
        self.pieces = [] if state is None else [state]
        self.held = sum(piece.num_rows for piece in self.pieces)

    def describe(self) -> dict[str, pa.Table]:
        """The rows held."""
        return {"held": pa.Table.from_batches(self.pieces, self.input_schema)}


def lossless(given: pa.DataType, kind: pa.DataType) -> bool:
    """Whether a list of Python values that looks like ``given`` may be meant as ``kind``."""
    types = pa.types
    if types.is_integer(given) and types.is_floating(kind):
        return True
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_timestamp)
    alike = any(test(given) and test(kind) for test in tests)
    return alike or str(given) == str(kind).removeprefix("large_")


def own_frames(error: BaseException) -> BaseException:
    """The error with the user's frames alone."""
    if isinstance(error, ValueTypeError):
        return error.with_traceback(None)
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return error.with_traceback(trace)
