"""FlatMap: any number of rows from one call of a user's function per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, Gate
from ambergate.kernels.rows import builder_for, caller_for, flat_map_rows, taken
from ambergate.kernels.selection import take_batch
from ambergate.operators.base import OUTPUT_ROWS, Operator, Progress, Seat
from ambergate.operators.functions import (
    added_columns,
    checked_columns,
    raise_mismatch,
    raise_no_rows,
    stretch,
)
from ambergate.operators.stateless import StatelessExecutor

__all__ = ["FlatMap"]


@dataclass(frozen=True, slots=True)
class FlatMap(Operator):
    """One row per row that ``function`` returns or yields.

    The returned columns are added or replaced; the others are repeated for each row.
    """

    function: Callable[..., Any]
    columns: tuple[str, ...] | None  # arguments, in order; None: one row view
    returns: dict[str, pa.DataType] = field(hash=False)

    kind: ClassVar[str] = "flat_map"
    shares: ClassVar[bool] = False

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; raises PlanError where an argument does not exist."""
        checked_columns(name, self.columns, inputs[0])
        return added_columns(inputs[0], self.returns)

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator; a row view may read any column."""
        if self.columns is None:
            return frozenset(inputs[0].names)
        return (wanted - frozenset(self.returns)) | frozenset(self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> FlatMapExecutor:
        """See Operator."""
        return FlatMapExecutor(self, inputs[0], self.output_schema(seat.operator, *inputs))


class FlatMapExecutor(StatelessExecutor):
    """Stateless; a row whose call raises, or yields a row that does not fit, leaves nothing."""

    def __init__(self, operator: FlatMap, schema: pa.Schema, output: pa.Schema):
        self.operator, self.output = operator, output
        self.repeated = pa.schema([f for f in schema if f.name not in operator.returns])
        self.names = tuple(operator.returns)
        self.builders = [builder_for(type_) for type_ in operator.returns.values()]
        self.complain = partial(raise_mismatch, operator.function, operator.returns)
        self.refuse = partial(raise_no_rows, operator.function)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        operator = self.operator
        end = stretch(batch, operator.columns, start, stop)
        caller = caller_for(operator.function, batch, operator.columns, start, end)
        parents: list[int] = []
        status, cursor, error = flat_map_rows(
            caller,
            self.builders,
            self.names,
            self.complain,
            self.refuse,
            start,
            end,
            gate,
            parents,
            OUTPUT_ROWS,
        )
        if status == DONE and end < stop:
            status = FULL
        if not parents:
            return Progress(status, cursor, (), error)
        made = {
            name: taken(builder, type_)
            for builder, (name, type_) in zip(self.builders, operator.returns.items(), strict=True)
        }
        if len(self.repeated):
            kept = take_batch(batch.select(self.repeated.names), np.array(parents, np.int64))
            made |= dict(zip(self.repeated.names, kept.columns, strict=True))
        arrays = [made[name] for name in self.output.names]
        whole = pa.RecordBatch.from_arrays(arrays, schema=self.output)
        pieces = [
            whole.slice(first, OUTPUT_ROWS) for first in range(0, whole.num_rows, OUTPUT_ROWS)
        ]
        return Progress(status, cursor, pieces, error)
