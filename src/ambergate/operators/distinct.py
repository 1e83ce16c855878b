"""Distinct: the first whole row of each key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.graph.exchange import Exchange, hashed
from ambergate.kernels.aggregation import newcomers
from ambergate.kernels.grouping import Grouper
from ambergate.kernels.selection import take_batch
from ambergate.operators.base import DONE, STOPPED, Gate, Operator, Progress, Seat
from ambergate.operators.groups import STRETCH_ROWS, Columns, key_fields

__all__ = ["Distinct", "DistinctExecutor"]


@dataclass(frozen=True, slots=True)
class Distinct(Operator):
    """The first whole row for each value of ``keys`` (of all columns without them), at once.

    Null is a value, NaN equals NaN, -0.0 equals 0.0. Rows keep the order they come in.

    >>> Distinct(("k",)).output_schema("distinct", pa.schema({"k": "string", "v": "int32"}))
    k: string
    v: int32
    """

    kind: ClassVar[str] = "distinct"
    order_sensitive: ClassVar[bool] = True
    shares: ClassVar[bool] = False  # what it emits never points into its input

    keys: tuple[str, ...] = ()

    def columns(self, schema: pa.Schema) -> tuple[str, ...]:
        """The columns whose values tell rows apart."""
        return self.keys or tuple(schema.names)

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """That of the input."""
        key_fields(name, inputs[0], self.columns(inputs[0]))
        return inputs[0]

    def exchange(self, port: int, *inputs: pa.Schema) -> Exchange:
        """Equal keys to the same task."""
        return hashed(*self.columns(inputs[0]))

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The keys, and what is wanted of the others."""
        return frozenset(self.columns(inputs[0])) | (wanted & frozenset(inputs[0].names))

    def open(self, seat: Seat, *inputs: pa.Schema) -> DistinctExecutor:
        """The runtime half for one task."""
        return DistinctExecutor(self, seat.operator, inputs[0])


class DistinctExecutor:
    """Keeps the keys seen."""

    def __init__(self, operator: Distinct, name: str, schema: pa.Schema):
        self._schema = schema
        self._fields = key_fields(name, schema, operator.columns(schema))
        self._columns = Columns(schema, operator.columns(schema))
        self._grouper = Grouper([field.type for field in self._fields])
        self._ids = np.empty(STRETCH_ROWS, np.int64)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """Emit the rows whose key was not seen."""
        keys, cursor, outputs = self._columns.of(batch), start, []
        while cursor < stop:
            first, known = cursor, self._grouper.count
            end = min(stop, first + STRETCH_ROWS)
            _, cursor = self._grouper.assign(keys, first, end, gate, self._ids)
            if self._grouper.count > known:
                rows = np.frombuffer(newcomers(self._ids, 0, cursor - first, known), np.int64)
                outputs.append(take_batch(batch, rows + first))
            if cursor < end:
                return Progress(STOPPED, cursor, outputs)
        return Progress(DONE, cursor, outputs)

    def end(self, port: int) -> Iterator[pa.RecordBatch]:
        """All was emitted at once."""
        return iter(())

    def snapshot(self) -> Any:
        """The keys seen."""
        return self._grouper.export()

    def restore(self, state: Any) -> None:
        """Take the state that ``snapshot`` gave."""
        self._grouper.load(state)

    def describe(self) -> dict[str, pa.Table]:
        """``groups``: the keys seen."""
        schema = pa.schema(self._fields)
        batches = [
            pa.RecordBatch.from_arrays(piece, schema=schema) for piece in self._grouper.export()
        ]
        return {"groups": pa.Table.from_batches(batches, schema=schema)}
