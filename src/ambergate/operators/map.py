"""Map: one call of a user's function per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.channels.gate import DONE, FULL, Gate
from ambergate.kernels.rows import builder_for, caller_for, map_rows, taken
from ambergate.operators.base import OUTPUT_ROWS, Executor, Operator, Progress, Seat
from ambergate.operators.functions import added_columns, checked_columns, raise_mismatch, stretch
from ambergate.operators.stateless import StatelessExecutor

__all__ = ["Map"]


@dataclass(frozen=True, slots=True)
class Map(Operator):
    """Add or replace the columns that ``function`` returns; all others stay.

    >>> plus = Map(lambda v: v + 1, ("v",), {"w": pa.int64()})
    >>> plus.output_schema("map", pa.schema({"v": pa.int64()})).names
    ['v', 'w']
    """

    function: Callable[..., Any]
    columns: tuple[str, ...] | None  # arguments, in order; None: one row view
    returns: dict[str, pa.DataType] = field(hash=False)
    jit: bool = False

    kind: ClassVar[str] = "map"

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """See Operator; raises PlanError where an argument does not exist."""
        checked_columns(name, self.columns, inputs[0])
        if self.jit:
            from ambergate.kernels.compiled import check_compilable

            check_compilable(name, self.columns, self.returns, inputs[0])
        return added_columns(inputs[0], self.returns)

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """See Operator; a row view may read any column."""
        if self.columns is None:
            return frozenset(inputs[0].names)
        return (wanted - frozenset(self.returns)) | frozenset(self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """See Operator."""
        if self.jit:
            from ambergate.operators.compiled_map import CompiledMapExecutor

            return CompiledMapExecutor(self, self.output_schema(seat.operator, *inputs))
        return MapExecutor(self, self.output_schema(seat.operator, *inputs))


class MapExecutor(StatelessExecutor):
    """Stateless; a row whose call raises leaves nothing behind."""

    def __init__(self, operator: Map, output: pa.Schema):
        self.operator, self.output = operator, output
        self.names = tuple(operator.returns)
        self.builders = [builder_for(type_) for type_ in operator.returns.values()]
        self.complain = partial(raise_mismatch, operator.function, operator.returns)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See Executor."""
        operator = self.operator
        end = stretch(batch, operator.columns, start, min(stop, start + OUTPUT_ROWS))
        caller = caller_for(operator.function, batch, operator.columns, start, end)
        status, cursor, error = map_rows(
            caller, self.builders, self.names, self.complain, start, end, gate
        )
        if status == DONE and end < stop:
            status = FULL
        if cursor == start:
            return Progress(status, cursor, (), error)
        return Progress(status, cursor, (self._joined(batch, start, cursor),), error)

    def _joined(self, batch: pa.RecordBatch, start: int, stop: int) -> pa.RecordBatch:
        made = {
            name: taken(builder, type_)
            for builder, (name, type_) in zip(
                self.builders, self.operator.returns.items(), strict=True
            )
        }
        whole = batch if start == 0 and stop == batch.num_rows else batch.slice(start, stop - start)
        arrays = [made[name] if name in made else whole.column(name) for name in self.output.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self.output)
