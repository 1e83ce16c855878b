"""A function called for each row, for what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.kernels.rows import RowFilter
from ambergate.operators.base import Executor, Gate, Operator, Progress, Seat
from ambergate.operators.functions import as_columns, check_columns, function_name, is_callable
from ambergate.operators.stateless import Stateless

__all__ = ["ForEach", "ForEachExecutor"]


@dataclass(frozen=True, slots=True)
class ForEach(Operator):
    """Call ``fn`` for each row and emit nothing; what it returns is ignored.

    ``fn`` gets the values of ``columns`` by position, or one lazy ``Row`` without them. Rows come
    at once and, after a recovery, again: at least once.
    """

    kind: ClassVar[str] = "for_each"

    fn: Callable[..., Any]
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", as_columns(self.columns))

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """No columns: it is a sink."""
        is_callable(name, self.fn)
        check_columns(name, self.columns, inputs[0])
        return pa.schema([])

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The schema downstream."""
        return frozenset(inputs[port].names if self.columns is None else self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """The columns given to the function, and those passed on."""
        return ForEachExecutor(self, seat, inputs[0])


class ForEachExecutor(Stateless):
    """Stateless."""

    def __init__(self, operator: ForEach, seat: Seat, schema: pa.Schema):
        operator.output_schema(seat.operator, schema)
        self.function = RowFilter(
            operator.fn, function_name(operator.fn), schema, operator.columns, sink=True
        )

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """The runtime half of one task."""
        status, cursor, _, error = self.function(batch, start, stop, gate)
        return Progress(status, cursor, (), error)
