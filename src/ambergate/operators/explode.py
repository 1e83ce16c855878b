"""Explode: one row for every element of a list column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, STOPPED, Gate
from ambergate.errors import PlanError
from ambergate.expr.nodes import Column
from ambergate.expr.types import is_list
from ambergate.operators.base import LIBRARY_ROWS, OUTPUT_ROWS, Operator, Progress, Seat
from ambergate.operators.computed import type_in
from ambergate.operators.stateless import Stateless

__all__ = ["Explode"]


@dataclass(frozen=True, slots=True)
class Explode(Operator):
    """One row per element of the list in ``column``; all other columns are repeated.

    An empty list and a null make one row with a null.

    >>> schema = pa.schema({"words": pa.list_(pa.string())})
    >>> Explode("words").output_schema("explode", schema).field("words").type
    DataType(string)
    """

    column: str

    kind: ClassVar[str] = "explode"
    retains: ClassVar[frozenset[int]] = frozenset((0,))  # elements are forwarded where they may be

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; raises PlanError where the column is no list."""
        (schema,) = inputs
        of = type_in(name, Column(self.column), schema)
        if not is_list(of):
            raise PlanError(
                name,
                f"column {self.column!r} must be a list, got {of}",
                'make one, as in col(...).str.split(" ")' if pa.types.is_string(of) else "",
            )
        place = schema.get_field_index(self.column)
        return schema.set(place, pa.field(self.column, of.value_type))

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator."""
        return wanted | {self.column}

    def open(self, seat: Seat, *inputs: pa.Schema) -> ExplodeExecutor:
        """See Operator."""
        (schema,) = inputs
        output = self.output_schema(seat.operator, schema)
        return ExplodeExecutor(schema.get_field_index(self.column), output)


class ExplodeExecutor(Stateless):
    """Stateless; all elements of a row leave together, in batches of OUTPUT_ROWS at most."""

    def __init__(self, place: int, output: pa.Schema):
        self.place, self.output = place, output

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        lists = batch.column(self.place)
        outputs: list[pa.RecordBatch] = []
        row, room = start, OUTPUT_ROWS
        while row < stop:
            if room <= OUTPUT_ROWS // 2:  # what is left is not worth a batch
                return Progress(FULL, row, outputs)
            end = gate.rows(row, min(row + LIBRARY_ROWS, stop))
            if end == row:
                return Progress(STOPPED, row, outputs)
            row, made = self._explode(batch, lists, row, end, room)
            outputs += made
            room -= sum(part.num_rows for part in made)
        return Progress(DONE, row, outputs)

    def _explode(
        self, batch: pa.RecordBatch, lists: pa.Array, start: int, stop: int, room: int
    ) -> tuple[int, list[pa.RecordBatch]]:
        """Rows from ``start`` on while they make ``room`` rows, one row at least."""
        part = lists.slice(start, stop - start)
        if pa.types.is_fixed_size_list(part.type):
            part = part.cast(pa.list_(part.type.value_type))
        offsets = part.offsets.to_numpy()
        sizes = np.diff(offsets)
        if part.null_count:
            sizes[~part.is_valid().to_numpy(zero_copy_only=False)] = 0
        rows_of = np.maximum(sizes, 1)
        ends = np.cumsum(rows_of)
        if ends[-1] > room:
            count = max(int(np.searchsorted(ends, room, side="right")), 1)
            offsets, sizes, rows_of = offsets[: count + 1], sizes[:count], rows_of[:count]
            stop = start + count
        if sizes.all() and offsets[-1] - offsets[0] == sizes.sum():
            elements = part.values.slice(offsets[0], offsets[-1] - offsets[0])
        else:
            firsts = np.cumsum(rows_of) - rows_of
            wanted = np.repeat(offsets[:-1] - firsts, rows_of) + np.arange(rows_of.sum())
            elements = part.values.take(pa.array(wanted, mask=np.repeat(sizes == 0, rows_of)))
        columns = [elements]
        if len(self.output) > 1:
            parents = pa.array(np.repeat(np.arange(start, stop), rows_of))
            columns = [
                elements if place == self.place else column.take(parents)
                for place, column in enumerate(batch.columns)
            ]
        made = pa.RecordBatch.from_arrays(columns, schema=self.output)
        return stop, [made.slice(at, OUTPUT_ROWS) for at in range(0, made.num_rows, OUTPUT_ROWS)]
