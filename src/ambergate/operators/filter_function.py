"""Rows kept by a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from ambergate.kernels.rows import RowFilter
from ambergate.kernels.selection import take_batch
from ambergate.operators.base import FULL, OUTPUT_ROWS, Executor, Gate, Operator, Progress, Seat
from ambergate.operators.functions import as_columns, check_columns, function_name, is_callable
from ambergate.operators.stateless import Stateless

__all__ = ["FilterFunction", "FilterFunctionExecutor"]


@dataclass(frozen=True, slots=True)
class FilterFunction(Operator):
    """Keep the rows for which ``fn`` returns a true value; None is not.

    ``fn`` gets the values of ``columns`` by position, or one lazy ``Row`` without them.

    Examples
    --------
    >>> FilterFunction(lambda v: v > 0, ("v",)).output_schema("positive", pa.schema({"v": "int8"}))
    v: int8
    """

    kind: ClassVar[str] = "filter"

    fn: Callable[..., Any]
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", as_columns(self.columns))

    def output_schema(self, name: str, *inputs: pa.Schema) -> pa.Schema:
        """The schema downstream."""
        is_callable(name, self.fn)
        check_columns(name, self.columns, inputs[0])
        return inputs[0]

    def needs(self, port: int, wanted: frozenset[str], *inputs: pa.Schema) -> frozenset[str]:
        """The columns given to the function, and those passed on."""
        if self.columns is None:
            return frozenset(inputs[port].names)
        return wanted & frozenset(inputs[port].names) | set(self.columns)

    def open(self, seat: Seat, *inputs: pa.Schema) -> Executor:
        """The runtime half of one task."""
        return FilterFunctionExecutor(self, seat, inputs[0])


class FilterFunctionExecutor(Stateless):
    """Stateless; its outputs are copies."""

    def __init__(self, operator: FilterFunction, seat: Seat, schema: pa.Schema):
        operator.output_schema(seat.operator, schema)
        self.function = RowFilter(operator.fn, function_name(operator.fn), schema, operator.columns)

    def process(
        self, port: int, batch: pa.RecordBatch, start: int, stop: int, gate: Gate
    ) -> Progress:
        """See ``Executor.process``."""
        end = min(stop, start + OUTPUT_ROWS)
        status, cursor, rows, error = self.function(batch, start, end, gate)
        if end < stop and cursor == end:
            status = FULL
        return Progress(status, cursor, (take_batch(batch, rows),) if len(rows) else (), error)
