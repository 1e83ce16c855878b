"""MapBatches: one call of a user's function per batch of exactly so many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, RAISED, STOPPED, Gate
from ambergate.errors import PlanError, ValueTypeError
from ambergate.operators.base import OUTPUT_ROWS, Operator, Progress, Seat
from ambergate.operators.functions import name_of

__all__ = ["MapBatches"]


@dataclass(frozen=True, slots=True)
class MapBatches(Operator):
    """Call ``function`` with batches of exactly ``rows`` rows; only the last may be shorter.

    Such a batch is the unit the operator stops between, as a row is for others. What the function
    returns (a RecordBatch, a Table, or a dict of columns) is the output, with the columns of
    ``returns``.
    """

    function: Callable[[pa.RecordBatch], Any]
    returns: dict[str, pa.DataType] = field(hash=False)
    rows: int = 4096

    kind: ClassVar[str] = "map_batches"
    retains: ClassVar[frozenset[int]] = frozenset({0})

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; raises PlanError where ``rows`` is none."""
        if self.rows < 1:
            raise PlanError(name, f"rows must be at least 1, got {self.rows}")
        return pa.schema(list(self.returns.items()))

    def summary(self) -> str:
        """What ``explain`` says of it."""
        return f"its rows are batches of {self.rows} rows: it stops between those"

    def open(self, seat: Seat, *inputs: pa.Schema) -> MapBatchesExecutor:
        """See Operator."""
        return MapBatchesExecutor(self, inputs[0], self.output_schema(seat.operator, *inputs))


class MapBatchesExecutor:
    """Holds the rows of the batch that is not full yet."""

    def __init__(self, operator: MapBatches, schema: pa.Schema, output: pa.Schema):
        self.operator, self.schema, self.output = operator, schema, output
        self.pieces: list[pa.RecordBatch] = []
        self.held = 0

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor; the row that fills a batch is committed with the call of the function."""
        missing = self.operator.rows - self.held
        end = gate.rows(start, min(stop, start + missing))
        if end - start < missing:
            if end > start:
                self.pieces.append(batch.slice(start, end - start))
                self.held += end - start
            return Progress(DONE if end == stop else STOPPED, end)
        try:
            made = self._call([*self.pieces, batch.slice(start, missing)])
        except BaseException as error:
            # All rows but the last stand in the held batch; the call is retried with that row.
            if missing > 1:
                self.pieces.append(batch.slice(start, missing - 1))
                self.held += missing - 1
            return Progress(RAISED, end - 1, (), error)
        self.pieces, self.held = [], 0
        return Progress(DONE if end == stop else FULL, end, made)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """See Executor; the last, shorter batch."""
        if self.held:
            made = self._call(self.pieces)
            self.pieces, self.held = [], 0
            yield from made

    def _call(self, pieces: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        whole = pa.concat_batches(pieces) if len(pieces) > 1 else pieces[0]
        return self._fitted(self.operator.function(whole))

    def _fitted(self, result: Any) -> list[pa.RecordBatch]:
        """The result as batches of the declared schema; ValueTypeError where it does not fit."""
        if isinstance(result, dict):
            result = pa.table(result)
        elif isinstance(result, pa.RecordBatch):
            result = pa.Table.from_batches([result])
        who = name_of(self.operator.function)
        columns = ", ".join(f"{field.name}: {field.type}" for field in self.output)
        if not isinstance(result, pa.Table):
            expected = f"a RecordBatch, a Table or a dict with {columns}"
            raise ValueTypeError(who, expected, type(result).__name__)
        if set(result.schema.names) != set(self.output.names):
            raise ValueTypeError(who, columns, f"columns {', '.join(result.schema.names)}")
        try:
            fitted = result.select(self.output.names).cast(self.output)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise ValueTypeError(who, columns, str(error)) from error
        return fitted.combine_chunks().to_batches(max_chunksize=OUTPUT_ROWS)

    def snapshot(self) -> Any:
        """See Executor; the rows held."""
        return pa.Table.from_batches(self.pieces, schema=self.schema)

    def restore(self, state: Any) -> None:
        """See Executor."""
        self.pieces, self.held = state.to_batches(), state.num_rows

    def describe(self) -> dict[str, pa.Table]:
        """See Executor."""
        return {"held": self.snapshot()}
